#include "hiero/span_table.h"

#include <algorithm>

#include "util/error.h"

namespace hopefear {
namespace {

constexpr size_t kMostSpans = size_t{1} << 26;  // of a lattice

/// The fewest words from a node of a lattice to later nodes, as far as rules reach.
class Distances {
 public:
  Distances(const HieroSource& source, int32_t reach)
      : source_(source), reach_(reach), farthest_(source.length() + 1, 0), row_(source.length() + 1) {
    for (size_t a = 0; a < source.words.size(); ++a) {
      int32_t& far = farthest_[source.from[a]];
      far = std::max(far, source.to(a));
    }
  }

  /// Fills the row of node i, and returns the last node in reach.
  int32_t from_node(int32_t i) {
    int32_t end = farthest_[i];
    row_[i] = 0;
    for (int32_t j = i + 1; j <= end; ++j) {
      int32_t& fewest = row_[j] = SpanTable::kFar;
      for (int32_t a = source_.into[j]; a < source_.into[j + 1]; ++a)
        if (const int32_t k = source_.from[a]; k >= i) fewest = std::min(fewest, row_[k] + 1);
      if (fewest < reach_) end = std::max(end, farthest_[j]);
      if (fewest > reach_) fewest = SpanTable::kFar;
    }
    while (end > i && row_[end] == SpanTable::kFar) --end;
    return end;
  }
  int32_t operator[](int32_t j) const { return row_[j]; }

 private:
  const HieroSource& source_;
  const int32_t reach_;
  std::vector<int32_t> farthest_;  // node that an arc leads to
  std::vector<int32_t> row_;
};

}  // namespace

void SpanTable::start(const HieroSource& source, int64_t max_span, int32_t max_symbols) {
  const int32_t length = source.length();
  if (!source.is_text() && length > 0) return start_lattice(source, max_span, max_symbols);
  hierarchical_ = static_cast<int32_t>(std::min<int64_t>(length, max_span));
  widest_ = std::min(length, std::max(hierarchical_, max_symbols));
  fewest_.resize(at(length, 0));
  for (int32_t i = 0; i < length; ++i)
    for (int32_t width = 0; width <= widest_; ++width) fewest_[at(i, width)] = width;
}

void SpanTable::start_lattice(const HieroSource& source, int64_t max_span, int32_t max_symbols) {
  const int32_t length = source.length();
  hierarchical_ = static_cast<int32_t>(std::min<int64_t>(max_span, kFar - 1));
  Distances distances(source, std::max(static_cast<int32_t>(std::min<int64_t>(kFar, max_span)), max_symbols));
  widest_ = 1;
  for (int32_t i = 0; i < length; ++i) widest_ = std::max(widest_, distances.from_node(i) - i);
  if (at(length, 0) > kMostSpans)
    throw InputError("sentence " + source.id + ": a lattice of " + std::to_string(length + 1) + " nodes with arcs over " +
                     std::to_string(widest_) + " of them is too large. Split it");
  fewest_.assign(at(length, 0), kFar);
  for (int32_t i = 0; i < length; ++i) {
    const int32_t end = distances.from_node(i);
    for (int32_t j = i; j <= end; ++j) fewest_[at(i, j - i)] = distances[j];
  }
}

}  // namespace hopefear
