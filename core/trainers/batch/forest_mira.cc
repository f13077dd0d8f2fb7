#include "trainers/batch/forest_mira.h"

#include "trainers/batch/batch_mira.h"

namespace hopefear {

std::vector<double> forest_mira(const Lists& forests, const double* initial, const Bounds& bounds, const KbmiraOptions& options,
                                Approximation approximation, const OnEpoch& on_epoch) {
  Difference difference(forests.features(), bounds);
  OracleDocument background(4, options.decay);
  return mira_passes(forests, initial, options, on_epoch, [&](size_t i, std::vector<double>& w, Averager& averager) -> int64_t {
    const Forest& forest = forests.list(i);
    HopeFear search(forest, forests.pool.sentences[i].references, w.data(), background, approximation);
    const Rated hope = search.find(-1), fear = search.find(+1);
    int64_t updates = 0;
    if (hope.gain > fear.gain) {
      for (int32_t e : hope.derivation.edges) difference.add(forest, e, 1);
      for (int32_t e : fear.derivation.edges) difference.add(forest, e, -1);
      updates = mira_step(w, difference.take(), hope.gain - fear.gain, hope.derivation.score - fear.derivation.score, options.C,
                          bounds, averager);
    }
    background.decay_and_add(hope.b.data());
    return updates;
  });
}

}  // namespace hopefear
