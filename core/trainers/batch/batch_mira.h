// Cherry and Foster (2012), algorithm 1, whichever space hope and fear are searched in.
#pragma once
#include <algorithm>
#include <numeric>

#include "trainers/batch/kbmira.h"
#include "trainers/difference.h"
#include "util/random.h"

namespace hopefear {

/// Line 8: w moves by min(C, (delta_gain - margin) / ||x||^2) along x = h(hope) - h(fear), where the margin is too small.
inline bool mira_step(std::vector<double>& w, const SparseVector& x, double delta_gain, double margin, double C,
                      const Bounds& bounds, Averager& averager) {
  const double norm = std::inner_product(x.values.begin(), x.values.end(), x.values.begin(), 0.0);
  if (!(margin < delta_gain) || !(norm > 0)) return false;
  step(w, x, std::min(C, (delta_gain - margin) / norm), bounds, averager);
  return true;
}

/// J passes over the sentences in random order. `learn(i, w, averager)` learns from sentence i and says how often it moved w.
template <class Learn>
std::vector<double> mira_passes(const Lists& lists, const double* initial, const KbmiraOptions& options, const OnEpoch& on_epoch,
                                Learn&& learn) {
  std::vector<double> w(initial, initial + lists.features()), best = w;
  double best_gain = lists.metric.gain(one_best(lists, w.data(), options.jobs).stats.data());
  Random random(options.seed);
  std::vector<size_t> order(lists.sentences());
  std::iota(order.begin(), order.end(), size_t{0});
  int64_t updates = 0;
  for (int pass = 1; pass <= options.passes; ++pass) {
    for (size_t k = order.size(); k > 1; --k) std::swap(order[k - 1], order[random.below(k)]);
    Averager averager(lists.features());
    for (size_t i : order) {
      if (lists.list(i).edges() == 0) continue;
      updates += learn(i, w, averager);
      averager.next();
    }
    const std::vector<double> average = averager.average(w);
    const OneBest now = one_best(lists, average.data(), options.jobs);
    const double gain = lists.metric.gain(now.stats.data());
    if (gain > best_gain) {
      best_gain = gain;
      best = average;
    }
    if (!on_epoch({pass, lists.metric.score(now.stats.data()), average, updates})) break;
  }
  return best;
}

}  // namespace hopefear
