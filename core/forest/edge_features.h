// The features of an edge, each once, by id, with or without those that are 0.
#pragma once
#include <algorithm>
#include <utility>
#include <vector>

#include "forest/forest.h"

namespace hopefear {

inline void edge_features(const Forest& f, int32_t e, bool zeros, std::vector<std::pair<int32_t, double>>& out) {
  out.clear();
  for (int32_t j = 0; j < f.dense_width; ++j)
    if (const double value = f.dense_row(e)[j]; zeros || value != 0) out.emplace_back(j, value);
  if (f.sparse_begin.empty()) return;
  const auto sparse = static_cast<ptrdiff_t>(out.size());
  for (int32_t k = f.sparse_begin[e]; k < f.sparse_begin[e + 1]; ++k) out.emplace_back(f.sparse_ids[k], f.sparse_values[k]);
  std::stable_sort(out.begin() + sparse, out.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  auto to = out.begin() + sparse;
  for (auto from = to; from != out.end();) {  // values of a repeated id are added up
    auto one = *from;
    while (++from != out.end() && from->first == one.first) one.second += from->second;
    if (zeros || one.second != 0) *to++ = one;
  }
  out.erase(to, out.end());
}

}  // namespace hopefear
