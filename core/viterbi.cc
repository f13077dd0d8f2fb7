#include "viterbi.h"

#include <cmath>

namespace hopefear {

Derivation viterbi_derivation(const Forest& forest, const Viterbi& result) {
  const auto goal = static_cast<size_t>(forest.goal());
  if (result.back[goal] < 0) throw InputError("the forest has no derivation: its goal cannot be built from edges without tails");
  if (!std::isfinite(result.best[goal])) throw InputError("a score is beyond the range of numbers: scale the weights down");
  Derivation d;
  d.score = result.best[goal];
  unroll(forest, [&](int32_t v) { return result.back[static_cast<size_t>(v)]; }, d.edges);
  return d;
}

Derivation viterbi(const Forest& forest, const double* w) {
  Viterbi result;
  viterbi(forest, [&](int32_t e) { return forest.edge_score(e, w); }, result);
  return viterbi_derivation(forest, result);
}

}  // namespace hopefear
