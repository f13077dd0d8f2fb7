// Viterbi: the best derivation of every node. Of edges with equal scores the one with the lowest index wins.
#pragma once
#include <cstdint>
#include <vector>

#include "forest/derivation.h"
#include "forest/forest.h"
#include "forest/semiring.h"

namespace hopefear {

struct Viterbi {
  std::vector<double> best;   // of each node; -inf where there is no derivation
  std::vector<int32_t> back;  // the edge that gives it; -1 where there is none
};

/// score(e) is called once for each edge, in order.
template <class Score>
void viterbi(const Forest& forest, Score&& score, Viterbi& result) {
  result.best.resize(forest.nodes());
  result.back.resize(forest.nodes());
  double* best = result.best.data();
  for (int32_t v = 0; v < forest.nodes(); ++v) {
    double best_score = kLogZero;
    int32_t best_edge = -1;
    for (int32_t e = forest.edge_begin[v]; e < forest.edge_begin[v + 1]; ++e) {
      double s = score(e);
      for (int32_t t = forest.tail_begin[e]; t < forest.tail_begin[e + 1]; ++t) s += best[forest.tails[t]];
      if (s > best_score) {
        best_score = s;
        best_edge = e;
      }
    }
    best[v] = best_score;
    result.back[v] = best_edge;
  }
}

/// argmax_d w.h(d). Throws InputError when the goal has no derivation.
Derivation viterbi(const Forest& forest, const double* w);

/// The derivation that a finished Viterbi pass found.
Derivation viterbi_derivation(const Forest& forest, const Viterbi& result);

}  // namespace hopefear
