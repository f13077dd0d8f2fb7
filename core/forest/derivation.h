// A derivation: a tree of edges, one edge for each place where a node is used.
#pragma once
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "forest/forest.h"

namespace hopefear {

/// The edges stand in pre-order: an edge, then all of its first tail, then all of its second, ... (tails in the order of
/// Forest::tails, which need not be the order of the slots in the words). The arities determine the tree.
struct Derivation {
  double score = 0.0;
  std::vector<int32_t> edges;
};

/// No derivation and no yield grows beyond this: an edge that uses one node twice, above another such edge, and so on, doubles
/// both at each step, and a forest of 100 nodes would fill any memory.
inline constexpr size_t kLongestDerivation = size_t{1} << 26;
[[noreturn]] void throw_too_long();

/// The messages of all searches if the goal has no derivation, and if scores overflow.
[[noreturn]] void throw_no_derivation();
[[noreturn]] void throw_out_of_range();

/// Unrolls from the goal: choose(node) gives the edge to follow there.
template <class Choose>
void unroll(const Forest& forest, Choose&& choose, std::vector<int32_t>& edges) {
  edges.clear();
  std::vector<int32_t> open{forest.goal()};
  while (!open.empty()) {
    const int32_t e = choose(open.back());
    open.pop_back();
    if (edges.size() >= kLongestDerivation || open.size() >= kLongestDerivation) throw_too_long();
    edges.push_back(e);
    const auto tails = forest.edge_tails(e);
    open.insert(open.end(), tails.rbegin(), tails.rend());
  }
}

/// The head of each edge.
std::vector<int32_t> heads(const Forest& forest, std::span<const int32_t> edges);

/// The place in `edges` of each edge's parent; -1 for the first.
std::vector<int32_t> parents(const Forest& forest, std::span<const int32_t> edges);

/// e(d): the words. `scratch` is reused between calls.
struct YieldScratch {
  std::vector<int32_t> child_begin, children, stack;
  std::vector<std::pair<int32_t, int32_t>> open;
};
void yield(const Forest& forest, std::span<const int32_t> edges, std::vector<int32_t>& words, YieldScratch& scratch);
std::vector<int32_t> yield(const Forest& forest, std::span<const int32_t> edges);

/// h(d), indexed by feature id.
std::vector<double> features_of(const Forest& forest, std::span<const int32_t> edges);

/// The sparse part of h(d): ids ascending, values summed, zeros left out.
void sparse_features(const Forest& forest, std::span<const int32_t> edges, std::vector<int32_t>& ids,
                     std::vector<double>& values);

}  // namespace hopefear
