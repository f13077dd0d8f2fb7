#include "grammar/lexical.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace hopefear {

LexicalTable::LexicalTable(const ParallelText& text)
    : source_total_(static_cast<size_t>(text.source_vocab->size()) + 1),
      target_total_(static_cast<size_t>(text.target_vocab->size()) + 1) {
  std::vector<uint64_t> keys;
  keys.reserve(text.link_count() + text.link_count() / 4);
  std::vector<char> s_aligned, t_aligned;
  for (size_t n = 0; n < text.size(); ++n) {
    const auto source = text.source(n), target = text.target(n);
    s_aligned.assign(source.size(), 0);
    t_aligned.assign(target.size(), 0);
    for (const Link link : text.links(n)) {
      keys.push_back(key(source[link.s], target[link.t]));
      s_aligned[link.s] = t_aligned[link.t] = 1;
    }
    for (size_t s = 0; s < source.size(); ++s)
      if (!s_aligned[s]) keys.push_back(key(source[s], kNull));
    for (size_t t = 0; t < target.size(); ++t)
      if (!t_aligned[t]) keys.push_back(key(kNull, target[t]));
  }
  std::sort(keys.begin(), keys.end());
  size_t distinct = 0;
  for (size_t i = 0; i < keys.size(); ++i) distinct += i == 0 || keys[i] != keys[i - 1];
  cells_.resize(std::bit_ceil(distinct * 2 + 2));
  for (size_t i = 0, j; i < keys.size(); i = j) {
    for (j = i; j < keys.size() && keys[j] == keys[i];) ++j;
    size_t slot = hash(keys[i]) & (cells_.size() - 1);
    while (cells_[slot].key) slot = (slot + 1) & (cells_.size() - 1);
    cells_[slot] = {keys[i], static_cast<double>(j - i)};
    source_total_[keys[i] >> 32] += static_cast<double>(j - i);
    target_total_[keys[i] & 0xffffffffU] += static_cast<double>(j - i);
  }
}

const LexicalTable::Cell* LexicalTable::find(int32_t f, int32_t e) const {
  if (cells_.empty()) return nullptr;
  const uint64_t k = key(f, e);
  if (!k) return nullptr;
  for (size_t slot = hash(k) & (cells_.size() - 1); cells_[slot].key; slot = (slot + 1) & (cells_.size() - 1))
    if (cells_[slot].key == k) return &cells_[slot];
  return nullptr;
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
  for (const Cell& cell : cells_)
    if (cell.key)
      all.push_back({static_cast<int32_t>(cell.key >> 32) - 1, static_cast<int32_t>(cell.key & 0xffffffffU) - 1, cell.count});
  std::sort(all.begin(), all.end(), [](const Pair& a, const Pair& b) { return a.f != b.f ? a.f < b.f : a.e < b.e; });
  return all;
}

}  // namespace hopefear
