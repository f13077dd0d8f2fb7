// Groups the edges of a chart, which are in the order of the search, by their heads.
#pragma once
#include <cstdint>
#include <vector>

namespace hopefear {

struct ByHead {
  std::vector<uint32_t> begin;  // nodes + 1: the edges of node v are order[begin[v]] .. order[begin[v + 1]]
  std::vector<uint32_t> order;
};

/// `edges` have a `head`. Edges of one node keep their order.
template <class Edges>
ByHead by_head(size_t nodes, const Edges& edges) {
  ByHead out{std::vector<uint32_t>(nodes + 1, 0), std::vector<uint32_t>(edges.size())};
  for (const auto& edge : edges) ++out.begin[edge.head + 1];
  for (size_t v = 0; v < nodes; ++v) out.begin[v + 1] += out.begin[v];
  std::vector<uint32_t> next(out.begin.begin(), out.begin.end() - 1);
  for (uint32_t e = 0; e < edges.size(); ++e) out.order[next[edges[e].head]++] = e;
  return out;
}

}  // namespace hopefear
