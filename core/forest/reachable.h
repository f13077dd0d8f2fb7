// The useful nodes: those that have a derivation and that a derivation of the goal can use.
#pragma once
#include <cstdint>
#include <vector>

#include "forest/forest.h"

namespace hopefear {

struct Reachable {
  std::vector<uint8_t> node, edge;  // 1: in some derivation of the goal
};

/// `keep(e)`: false for edges to leave out.
template <class Keep>
Reachable reachable(const Forest& forest, Keep&& keep) {
  const size_t nodes = forest.nodes();
  std::vector<uint8_t> alive(nodes, 0);
  Reachable out{std::vector<uint8_t>(nodes, 0), std::vector<uint8_t>(forest.edges(), 0)};
  for (int32_t v = 0; v < forest.nodes(); ++v)
    for (int32_t e = forest.edge_begin[v]; e < forest.edge_begin[v + 1]; ++e) {
      if (!keep(e)) continue;
      bool whole = true;
      for (int32_t tail : forest.edge_tails(e)) whole = whole && alive[tail];
      out.edge[e] = whole;  // so far: all its tails have derivations
      alive[v] |= whole;
    }
  out.node[nodes - 1] = alive[nodes - 1];
  for (int32_t v = forest.goal(); v >= 0; --v)
    for (int32_t e = forest.edge_begin[v]; e < forest.edge_begin[v + 1]; ++e) {
      uint8_t& used = out.edge[e];
      used = used && out.node[v];
      if (used)
        for (int32_t tail : forest.edge_tails(e)) out.node[tail] = 1;
    }
  return out;
}

}  // namespace hopefear
