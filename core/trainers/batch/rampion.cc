#include "trainers/batch/rampion.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "trainers/difference.h"
#include "util/parallel.h"
#include "util/random.h"

namespace hopefear {

std::vector<double> rampion(const Lists& lists, const double* costs, const double* initial, const Bounds& bounds,
                            const RampionOptions& options, const OnEpoch& on_epoch) {
  const Loss& loss = loss_by_name(options.loss);
  const int32_t features = lists.features();
  std::vector<double> w(initial, initial + features);
  const std::vector<double> theta0 = w;
  Difference difference(features, bounds);
  Random random(options.seed);
  std::vector<size_t> order(lists.sentences());
  std::iota(order.begin(), order.end(), size_t{0});
  std::vector<double> scores, coefficients, up(lists.rows());
  const double n = static_cast<double>(lists.sentences());
  // Line 11 shrinks every weight at every sentence: theta - theta_0 is kept as scale * d, so that a step costs what it touches.
  double scale = 1;
  std::vector<double> d(static_cast<size_t>(features), 0.0);
  auto settle = [&]() {
    for (size_t j = 0; j < d.size(); ++j) {
      w[j] = bounds.clip(static_cast<int32_t>(j), theta0[j] + scale * d[j]);
      d[j] = w[j] - theta0[j];
    }
    scale = 1;
  };
  const double shrink = 1 - options.eta * options.C / n;
  int64_t updates = 0;
  for (int iteration = 1; iteration <= options.cccp; ++iteration) {
    if (!loss.risk) {  // lines 5 to 7: the tangent of the concave part, as coefficients of the candidates
      std::fill(up.begin(), up.end(), 0.0);
      parallel_for(lists.sentences(), options.jobs, [&](size_t i, int) {
        std::vector<double> s(static_cast<size_t>(lists.candidates(i)));
        edge_scores(lists.list(i), w.data(), s.data());
        term(lists.list(i), s.data(), costs + lists.row_begin[i], loss.up, -1.0, up.data() + lists.row_begin[i]);
      });
    }
    for (int pass = 0; pass < options.passes; ++pass) {
      if (options.shuffle)
        for (size_t k = order.size(); k > 1; --k) std::swap(order[k - 1], order[random.below(k)]);
      for (size_t i : order) {
        const Forest& list = lists.list(i);
        const auto count = static_cast<size_t>(list.edges());
        if (count == 0) continue;
        scores.resize(count);
        edge_scores(list, w.data(), scores.data());
        if (loss.risk) {
          coefficients.assign(count, 0.0);
          loss_value(list, scores.data(), costs + lists.row_begin[i], loss, coefficients.data());
        } else {
          coefficients.assign(up.begin() + lists.row_begin[i], up.begin() + lists.row_begin[i] + static_cast<ptrdiff_t>(count));
          term(list, scores.data(), costs + lists.row_begin[i], loss.down, +1.0, coefficients.data());  // line 10
        }
        for (size_t e = 0; e < count; ++e)
          if (coefficients[e] != 0) difference.add(list, static_cast<int32_t>(e), -coefficients[e]);
        const SparseVector x = difference.take();
        scale *= shrink;                             // line 11
        for (size_t k = 0; k < x.ids.size(); ++k) {  // line 12
          const auto j = static_cast<size_t>(x.ids[k]);
          d[j] += options.eta * x.values[k] / scale;
          if (options.l1 > 0) {
            const double value = scale * d[j], cut = options.eta * options.l1 / n;
            d[j] = (std::abs(value) <= cut ? 0.0 : value - std::copysign(cut, value)) / scale;
          }
          w[j] = bounds.clip(x.ids[k], theta0[j] + scale * d[j]);
        }
        if (!x.ids.empty()) ++updates;
      }
      settle();
    }
    const double score = lists.metric.score(one_best(lists, w.data(), options.jobs).stats.data());
    if (!on_epoch({iteration, score, w, updates})) break;
  }
  return w;
}

}  // namespace hopefear
