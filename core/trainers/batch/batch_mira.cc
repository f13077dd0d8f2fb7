#include "trainers/batch/batch_mira.h"

#include <algorithm>

#include "trainers/shuffle.h"

namespace hopefear {

bool mira_step(std::vector<double>& w, const SparseVector& x, double delta_gain, double margin, double C, const Bounds& bounds,
               Averager& averager) {
  const double norm = x.squared_norm();
  if (!(margin < delta_gain) || !(norm > 0)) return false;
  step(w, x, std::min(C, (delta_gain - margin) / norm), bounds, &averager);
  return true;
}

std::vector<double> mira_passes(const Lists& lists, const double* initial, const BatchMiraOptions& options,
                                const OnEpoch& on_epoch, const LearnSentence& learn,
                                const std::function<void(const std::vector<double>&)>& begin) {
  std::vector<double> w(initial, initial + lists.features());
  auto best = BestWeights::from(lists.metric.gain(one_best(lists, w.data(), options.jobs).stats.data()), w, options.competes);
  Random random(options.seed);
  std::vector<size_t> order = in_order(lists.sentences());
  Averaging averaging(options.average, w.size());
  int64_t updates = 0;
  for (int pass = 1; pass <= options.passes; ++pass) {
    if (begin) begin(w);
    shuffle(order, random);
    for (size_t i : order) {
      if (lists.list(i).edges() == 0) continue;
      updates += learn(i, w, averaging.averager());
      averaging.averager().next();
    }
    const std::vector<double> average = averaging.end_pass(w);
    const OneBest now = one_best(lists, average.data(), options.jobs);
    best.offer(lists.metric.gain(now.stats.data()), average);
    if (!on_epoch({pass, lists.metric.score(now.stats.data()), average, updates})) break;
  }
  return best.w;
}

}  // namespace hopefear
