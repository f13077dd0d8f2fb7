// The spans of a source and how wide they are: a span is a pair of nodes (i, i + width), as wide as the fewest words between them.
#pragma once
#include <cstdint>
#include <limits>
#include <vector>

#include "hiero/hiero_source.h"

namespace hopefear {

class SpanTable {
 public:
  static constexpr int32_t kFar = std::numeric_limits<int32_t>::max() / 2;  // no path, or none that rules reach

  /// `max_span`: source words below a rule with nonterminals; `max_symbols`: of the source side of any rule.
  void start(const HieroSource& source, int64_t max_span, int32_t max_symbols);

  /// The most nodes that rules reach over, and the most words below a rule with nonterminals.
  int32_t widest() const { return widest_; }
  int32_t hierarchical() const { return hierarchical_; }
  size_t size() const { return fewest_.size(); }
  size_t at(int32_t i, int32_t width) const { return size_t(i) * (widest_ + 1) + width; }
  /// The fewest words of a span, or kFar.
  int32_t words(int32_t i, int32_t width) const { return fewest_[at(i, width)]; }

 private:
  void start_lattice(const HieroSource& source, int64_t max_span, int32_t max_symbols);

  int32_t widest_ = 0, hierarchical_ = 0;
  std::vector<int32_t> fewest_;
};

}  // namespace hopefear
