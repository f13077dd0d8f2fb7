#include "kbmira.h"

#include <algorithm>
#include <numeric>

#include "difference.h"
#include "random.h"

namespace hopefear {
namespace {

/// The c largest values' indices joined to `into`, without repeats.
void join_top(const std::vector<double>& values, int c, std::vector<int32_t>& scratch, std::vector<int32_t>& into) {
  scratch.resize(values.size());
  std::iota(scratch.begin(), scratch.end(), 0);
  const size_t n = std::min(values.size(), static_cast<size_t>(c));
  std::partial_sort(scratch.begin(), scratch.begin() + static_cast<ptrdiff_t>(n), scratch.end(), [&](int32_t a, int32_t b) {
    return values[static_cast<size_t>(a)] != values[static_cast<size_t>(b)] ? values[static_cast<size_t>(a)] > values[static_cast<size_t>(b)] : a < b;
  });
  for (size_t k = 0; k < n; ++k)
    if (std::find(into.begin(), into.end(), scratch[k]) == into.end()) into.push_back(scratch[k]);
}

}  // namespace

std::vector<double> kbmira(const Lists& lists, const double* initial, const Bounds& bounds, const KbmiraOptions& options, const OnEpoch& on_epoch) {
  const int32_t features = lists.features();
  std::vector<double> w(initial, initial + features), best = w;
  double best_gain = lists.metric.gain(one_best(lists, w.data(), options.jobs).stats.data());
  Difference difference(features, bounds);
  Random random(options.seed);
  std::vector<double> background(lists.width, 1.0);  // b: starts with pseudo-counts of one
  std::vector<double> model, gain, hope_score, fear_score;
  std::vector<int32_t> scratch, chosen;
  std::vector<size_t> order(lists.sentences());
  std::iota(order.begin(), order.end(), size_t{0});
  int64_t updates = 0;

  for (int pass = 1; pass <= options.passes; ++pass) {
    for (size_t k = order.size(); k > 1; --k) std::swap(order[k - 1], order[random.below(k)]);
    Averager averager(features);
    for (size_t i : order) {
      const Forest& list = lists.list(i);
      const int32_t count = list.edges();
      if (count == 0) continue;
      model.resize(static_cast<size_t>(count));
      gain.resize(model.size());
      edge_scores(list, w.data(), model.data());
      lists.metric.context_gains(background.data(), lists.row_stats(i, 0), static_cast<size_t>(count), gain.data());
      int32_t hope = 0, fear = 0;
      for (int32_t e = 1; e < count; ++e) {
        if (model[e] + gain[e] > model[hope] + gain[hope]) hope = e;
        if (model[e] - gain[e] > model[fear] - gain[fear]) fear = e;
      }
      if (options.constraints <= 1) {
        const double delta_gain = gain[hope] - gain[fear];
        if (delta_gain > 0) {
          difference.add(list, hope, 1);
          difference.add(list, fear, -1);
          const SparseVector x = difference.take();
          double margin = model[hope] - model[fear], norm = 0;
          for (double value : x.values) norm += value * value;
          if (margin < delta_gain && norm > 0) {
            step(w, x, std::min(options.C, (delta_gain - margin) / norm), bounds, averager);
            ++updates;
          }
        }
      } else {
        chosen.clear();
        join_top(model, options.constraints, scratch, chosen);
        hope_score.resize(model.size());
        fear_score.resize(model.size());
        for (size_t e = 0; e < model.size(); ++e) {
          hope_score[e] = model[e] + gain[e];
          fear_score[e] = model[e] - gain[e];
        }
        join_top(hope_score, options.constraints, scratch, chosen);
        join_top(fear_score, options.constraints, scratch, chosen);
        const Rates rates{options.C, nullptr};
        WorkingSet set;
        for (int32_t e : chosen) {
          if (e == hope) continue;
          difference.add(list, hope, 1);
          difference.add(list, e, -1);
          set.add(difference.take(), gain[hope] - gain[e], rates);
        }
        updates += set.optimize(w.data(), rates, options.epsilon, 1000);
        for (size_t d = 1; d < set.size(); ++d)
          for (size_t k = 0; k < set.x(d).ids.size(); ++k) difference.put(set.x(d).ids[k], set.alpha(d) * set.x(d).values[k]);
        const SparseVector moved = difference.take();
        for (size_t k = 0; k < moved.ids.size(); ++k) {  // w has moved by C * sum alpha x: keep the bounds, tell the average
          double& weight = w[static_cast<size_t>(moved.ids[k])];
          const double before = weight - options.C * moved.values[k];
          weight = bounds.clip(moved.ids[k], weight);
          averager.changed(moved.ids[k], weight - before);
        }
      }
      averager.next();
      const double* stats = lists.row_stats(i, hope);
      for (size_t s = 0; s < lists.width; ++s) background[s] = options.decay * background[s] + stats[s];
    }
    const std::vector<double> average = averager.average(w);
    const OneBest now = one_best(lists, average.data(), options.jobs);
    const double pass_gain = lists.metric.gain(now.stats.data());
    if (pass_gain > best_gain) {
      best_gain = pass_gain;
      best = average;
    }
    if (!on_epoch({pass, lists.metric.score(now.stats.data()), average, updates})) break;
  }
  return best;
}

}  // namespace hopefear
