// Pruning: which edges matter.
//
// An edge stays if it passes every test that is switched on, or if it is in the best derivation:
//   beam        the best derivation that uses it scores at least the best score less the beam (inside and outside Viterbi)
//   posterior   a random derivation uses it at least this often
//   max_edges   it is among this many best edges, by the score of the best derivation that uses it; ties stay or go together
// After that, edges and nodes that are in no derivation are dropped and the rest is numbered anew, in the same order.
#pragma once
#include <optional>
#include <vector>

#include "forest/forest.h"
#include "forest/pool.h"
#include "forest/reachable.h"

namespace hopefear {

struct PruneOptions {
  std::optional<double> beam, posterior;
  std::optional<int64_t> max_edges;
  double temperature = 1.0;  // of the posterior
};

struct Pruned {
  Forest forest;
  std::vector<int32_t> origin;  // the old edge of each new one
};

/// The part of a forest that is used. A goal without derivation stays as a node without edges.
Pruned restricted(const Forest& forest, const Reachable& used);

Pruned pruned(const Forest& forest, const double* w, const PruneOptions& options);
Pool pruned(const Pool& pool, const double* w, const PruneOptions& options, int jobs);

}  // namespace hopefear
