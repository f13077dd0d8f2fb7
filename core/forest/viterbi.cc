#include "forest/viterbi.h"

#include <cmath>

namespace hopefear {

Derivation viterbi_derivation(const Forest& forest, const Viterbi& result) {
  const size_t goal = forest.goal();
  if (result.back[goal] < 0) throw_no_derivation();
  if (!std::isfinite(result.best[goal])) throw_out_of_range();
  Derivation d;
  d.score = result.best[goal];
  unroll(forest, [&](int32_t v) { return result.back[v]; }, d.edges);
  return d;
}

Derivation viterbi(const Forest& forest, const double* w) {
  Viterbi result;
  viterbi(forest, [&](int32_t e) { return forest.edge_score(e, w); }, result);
  return viterbi_derivation(forest, result);
}

}  // namespace hopefear
