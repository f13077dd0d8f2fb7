#include "trainers/batch/forest_mira.h"

#include "trainers/difference.h"

namespace hopefear {

std::vector<double> forest_mira(const Lists& forests, const double* initial, const Bounds& bounds,
                                const BatchMiraOptions& options, Approximation approximation, const OnEpoch& on_epoch) {
  Difference difference(static_cast<size_t>(forests.features()), bounds);
  OracleDocument background(4, options.decay);
  const auto learn = [&](size_t i, std::vector<double>& w, Averager& averager) -> int64_t {
    const Forest& forest = forests.list(i);
    HopeFear search(forest, forests.pool.sentences[i].references, w.data(), background, approximation);
    const Rated hope = search.find(-1), fear = search.find(+1);
    int64_t updates = 0;
    if (hope.gain > fear.gain)
      updates = mira_step(w, difference.between(forest, hope.derivation, fear.derivation), hope.gain - fear.gain,
                          hope.derivation.score - fear.derivation.score, options.C, bounds, averager);
    background.decay_and_add(hope.b.data());
    return updates;
  };
  return mira_passes(forests, initial, options, on_epoch, learn);
}

}  // namespace hopefear
