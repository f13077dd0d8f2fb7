// Inside and outside over any semiring: one loop over the nodes in topological order, one back.
//
//   inside(v)  = sum over edges e of v of  value(e) * product over tails v' of inside(v')
//   outside(v) = sum over all places where v is a tail of  outside(head) * value(e) * product over the *other places*
//
// An edge may use one node twice: the other places of an edge are those at other positions, not those of other nodes.
#pragma once
#include <cstdint>
#include <vector>

#include "forest/forest.h"
#include "forest/semiring.h"

namespace hopefear {

/// Fills inside_edge (edges long) and inside_node (nodes long).
template <Semiring S, class Value>
void inside(const Forest& forest, Value&& value, std::vector<double>& inside_node, std::vector<double>& inside_edge) {
  inside_node.resize(forest.nodes());
  inside_edge.resize(forest.edges());
  for (int32_t v = 0; v < forest.nodes(); ++v) {
    const int32_t begin = forest.edge_begin[v], end = forest.edge_begin[v + 1];
    for (int32_t e = begin; e < end; ++e) {
      double x = value(e);
      for (int32_t tail : forest.edge_tails(e)) x = S::times(x, inside_node[tail]);
      inside_edge[e] = x;
    }
    inside_node[v] = S::sum({inside_edge.data() + begin, static_cast<size_t>(end - begin)});
  }
}

/// Fills outside_node (nodes long); S::zero() for a node that the goal never uses.
template <Semiring S, class Value>
void outside(const Forest& forest, Value&& value, const std::vector<double>& inside_node, std::vector<double>& outside_node) {
  outside_node.assign(forest.nodes(), S::zero());
  outside_node[forest.goal()] = S::one();
  std::vector<double> after;  // product of the insides of the later tails
  for (int32_t v = forest.goal(); v >= 0; --v) {
    if (outside_node[v] == S::zero()) continue;
    for (int32_t e = forest.edge_begin[v]; e < forest.edge_begin[v + 1]; ++e) {
      const auto tails = forest.edge_tails(e);
      if (tails.empty()) continue;
      after.assign(tails.size(), S::one());
      for (size_t t = tails.size() - 1; t > 0; --t) after[t - 1] = S::times(after[t], inside_node[tails[t]]);
      double before = S::times(outside_node[v], value(e));
      for (size_t t = 0; t < tails.size(); ++t) {
        double& out = outside_node[tails[t]];
        out = S::plus(out, S::times(before, after[t]));
        before = S::times(before, inside_node[tails[t]]);
      }
    }
  }
}

}  // namespace hopefear
