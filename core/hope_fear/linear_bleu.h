// Linear BLEU as a gain on every edge (Chiang 2012, A.3), and the forests on which that is exact.
//
// B(b) is about lambda.b with lambda = OracleDocument::linear(), so the gain of an edge is lambda times the m_k and n_k of the
// n-grams that the edge completes. The term of rho is the same for all derivations and is left out.
//
// Which n-grams an edge completes depends on the words at the ends of its tails. Where every node fixes them
// (candidate lists; forests of a decoder whose language model looks back K - 1 words), the gains are exact: their sum over
// a derivation is lambda.b with matches counted on its words, not clipped (18). Elsewhere an edge gets the n-grams that it
// completes over the best derivations of its tails by w.h, an approximation; or the nodes are first split by the relevant words
// at their ends, after which every node fixes them.
#pragma once
#include <span>
#include <vector>

#include "forest/forest.h"
#include "forest/pool.h"
#include "hope_fear/boundary.h"

namespace hopefear {

struct EdgeGains {
  std::vector<double> gains;  // of each edge; 0 where it is in no derivation
  bool exact = true;
};

/// `lambda`: [m_1 .. m_K, n_1 .. n_K, ...]; `scores`: of edges, they choose where nodes do not fix their ends.
EdgeGains linear_gains(const Forest& forest, const BoundaryAutomaton& automaton, std::span<const double> lambda,
                       std::span<const double> scores);

struct Split {
  Forest forest;
  std::vector<int32_t> origin;  // the old edge of each new one
};

/// The same derivations, with nodes that fix all that matters for counting n-grams of these references. Nodes and edges that are
/// in no derivation are dropped. Throws InputError when there would be more than max_edges edges.
Split split_by_ngrams(const Forest& forest, const BoundaryAutomaton& automaton, int64_t max_edges);

/// The gains of all sentences, concatenated in the order of edges.
EdgeGains linear_gains(const Pool& pool, const double* w, int max_order, std::span<const double> lambda, int jobs);
Pool split_by_ngrams(const Pool& pool, int max_order, int64_t max_edges, int jobs);

}  // namespace hopefear
