#include "forest_mira.h"

#include <algorithm>
#include <numeric>

#include "difference.h"
#include "random.h"

namespace hopefear {

std::vector<double> forest_mira(const Lists& forests, const double* initial, const Bounds& bounds, const KbmiraOptions& options,
                                Approximation approximation, const OnEpoch& on_epoch) {
  const int32_t features = forests.features();
  std::vector<double> w(initial, initial + features), best = w;
  double best_gain = forests.metric.gain(one_best(forests, w.data(), options.jobs).stats.data());
  Difference difference(features, bounds);
  Random random(options.seed);
  OracleDocument background(4, options.decay);
  std::vector<size_t> order(forests.sentences());
  std::iota(order.begin(), order.end(), size_t{0});
  int64_t updates = 0;
  for (int pass = 1; pass <= options.passes; ++pass) {
    for (size_t k = order.size(); k > 1; --k) std::swap(order[k - 1], order[random.below(k)]);
    Averager averager(features);
    for (size_t i : order) {
      const Forest& forest = forests.list(i);
      HopeFear search(forest, forests.pool.sentences[i].references, w.data(), background, approximation);
      const Rated hope = search.find(-1), fear = search.find(+1);
      const double delta_gain = hope.gain - fear.gain;
      if (delta_gain > 0) {
        for (int32_t e : hope.derivation.edges) difference.add(forest, e, 1);
        for (int32_t e : fear.derivation.edges) difference.add(forest, e, -1);
        const SparseVector x = difference.take();
        const double margin = hope.derivation.score - fear.derivation.score;
        double norm = 0;
        for (double value : x.values) norm += value * value;
        if (margin < delta_gain && norm > 0) {
          step(w, x, std::min(options.C, (delta_gain - margin) / norm), bounds, averager);
          ++updates;
        }
      }
      averager.next();
      background.decay_and_add(hope.b.data());
    }
    const std::vector<double> average = averager.average(w);
    const OneBest now = one_best(forests, average.data(), options.jobs);
    const double gain = forests.metric.gain(now.stats.data());
    if (gain > best_gain) {
      best_gain = gain;
      best = average;
    }
    if (!on_epoch({pass, forests.metric.score(now.stats.data()), average, updates})) break;
  }
  return best;
}

}  // namespace hopefear
