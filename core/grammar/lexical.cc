#include "grammar/lexical.h"

#include <algorithm>
#include <cmath>

namespace hopefear {

LexicalTable::LexicalTable(const ParallelText& text)
    : source_total_(text.source_types() + 1), target_total_(text.target_types() + 1) {
  std::vector<char> s_aligned, t_aligned;
  for (size_t n = 0; n < text.size(); ++n) {
    const auto source = text.source(n), target = text.target(n);
    s_aligned.assign(source.size(), 0);
    t_aligned.assign(target.size(), 0);
    for (const Link link : text.links(n)) {
      add(source[link.s], target[link.t]);
      s_aligned[link.s] = t_aligned[link.t] = 1;
    }
    for (size_t s = 0; s < source.size(); ++s)
      if (!s_aligned[s]) add(source[s], kNull);
    for (size_t t = 0; t < target.size(); ++t)
      if (!t_aligned[t]) add(kNull, target[t]);
  }
}

void LexicalTable::add(int32_t f, int32_t e) {
  const uint64_t k = key(f, e);
  const auto [cell, added] =
      cells_.insert(hash_key(k), [k](const Cell& c) { return c.key == k; }, [](const Cell& c) { return hash_key(c.key); });
  if (added) cell->key = k;
  ++cell->count;
  ++source_total_[f + 1];
  ++target_total_[e + 1];
}

std::pair<double, double> LexicalTable::weights(std::span<const int32_t> source, std::span<const int32_t> target,
                                                std::span<const Link> links) const {
  double log_ef = 0.0, log_fe = 0.0;
  for (size_t t = 0; t < target.size(); ++t) {
    if (target[t] < 0) continue;
    double sum = 0.0;
    int aligned = 0;
    for (const Link link : links)
      if (link.t == t) sum += ef(source[link.s], target[t]), ++aligned;
    log_ef += std::log(aligned ? sum / aligned : ef(kNull, target[t]));
  }
  for (size_t s = 0; s < source.size(); ++s) {
    if (source[s] < 0) continue;
    double sum = 0.0;
    int aligned = 0;
    for (const Link link : links)
      if (link.s == s) sum += fe(source[s], target[link.t]), ++aligned;
    log_fe += std::log(aligned ? sum / aligned : fe(source[s], kNull));
  }
  return {log_ef, log_fe};
}

std::vector<LexicalTable::Pair> LexicalTable::pairs() const {
  std::vector<Pair> all;
  for (const Cell& cell : cells_.slots())
    if (!cell.empty())
      all.push_back({static_cast<int32_t>(cell.key >> 32) - 1, static_cast<int32_t>(cell.key & 0xffffffffU) - 1, cell.count});
  std::sort(all.begin(), all.end(), [](const Pair& a, const Pair& b) { return a.f != b.f ? a.f < b.f : a.e < b.e; });
  return all;
}

}  // namespace hopefear
