// Consensus over a whole forest: fast consensus decoding (DeNero, Chiang and Knight 2009, "Fast consensus decoding over translation
// forests").
//
// The truth is a random derivation of the forest, P(d) proportional to exp(scale w.h(d)). Its expected n-gram counts are a sum over
// edges of their posterior times the n-grams that they complete, after nodes were split by the words at their ends
// (linear_bleu.h), which makes the counts exact. The candidates are the k best strings of the forest, and the gain of each is the
// BLEU of its counts against the expected ones (metrics/consensus.h).
#pragma once
#include <utility>
#include <vector>

#include "forest/pool.h"
#include "hope_fear/boundary.h"

namespace hopefear {

struct ExpectedNgrams {
  std::vector<double> count;  // of the n-gram of each state of the automaton
  double length = 0;          // words
};

/// The expected counts of the automaton's n-grams. Throws InputError if splitting makes more than max_edges edges.
ExpectedNgrams expected_ngrams(const Forest& forest, const double* w, double scale, const BoundaryAutomaton& automaton,
                               int64_t max_edges);

/// The k best strings of a forest, best first, and the gain of each.
struct ConsensusCandidates {
  std::vector<std::vector<int32_t>> texts;
  std::vector<double> gains;
};
ConsensusCandidates forest_consensus(const Forest& forest, const double* w, double scale, int64_t k, int64_t max_edges);

}  // namespace hopefear
