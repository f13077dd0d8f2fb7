#include "trainers/batch/rampion.h"

#include <algorithm>
#include <cmath>

#include "trainers/difference.h"
#include "trainers/shuffle.h"
#include "util/parallel.h"

namespace hopefear {
namespace {

/// theta. Line 11 shrinks every weight at every sentence, towards theta_0: theta - theta_0 is kept as scale * d, so that the cost
/// of a step depends only on the features that it touches.
class Theta {
 public:
  Theta(const double* initial, const double* theta_0, size_t features, size_t sentences, const Bounds& bounds,
        const RampionOptions& options)
      : w_(initial, initial + features),
        theta0_(theta_0, theta_0 + features),
        d_(features),
        bounds_(bounds),
        eta_(options.eta),
        shrink_(1 - options.eta * options.C / static_cast<double>(sentences)),
        cut_(options.eta * options.l1 / static_cast<double>(sentences)) {
    for (size_t j = 0; j < features; ++j) d_[j] = w_[j] - theta0_[j];
  }

  const std::vector<double>& w() const { return w_; }

  /// Lines 11 and 12.
  void step(const SparseVector& x) {
    scale_ *= shrink_;
    for (size_t k = 0; k < x.ids.size(); ++k) {
      const int32_t j = x.ids[k];
      d_[j] += eta_ * x.values[k] / scale_;
      if (cut_ > 0) {
        const double value = scale_ * d_[j];
        d_[j] = (std::abs(value) <= cut_ ? 0.0 : value - std::copysign(cut_, value)) / scale_;
      }
      w_[j] = bounds_.clip(j, theta0_[j] + scale_ * d_[j]);
    }
  }

  /// Applies line 11 to every weight for the time since its feature last occurred.
  void settle() {
    for (size_t j = 0; j < d_.size(); ++j) {
      w_[j] = bounds_.clip(static_cast<int32_t>(j), theta0_[j] + scale_ * d_[j]);
      d_[j] = w_[j] - theta0_[j];
    }
    scale_ = 1;
  }

 private:
  std::vector<double> w_, theta0_, d_;
  const Bounds& bounds_;
  double eta_, shrink_, cut_, scale_ = 1;
};

/// Lines 5 to 7: the tangent of the concave part at w, as coefficients of the candidates. Bayes risk has no such part.
std::vector<double> tangent(const Lists& lists, const double* costs, const std::vector<double>& w, const Loss& loss, int jobs) {
  std::vector<double> up(lists.rows(), 0.0);
  if (loss.risk) return up;
  parallel_for(lists.sentences(), jobs, [&](size_t i, int) {
    std::vector<double> scores(static_cast<size_t>(lists.candidates(i)));
    edge_scores(lists.list(i), w.data(), scores.data());
    term(lists.list(i), scores.data(), costs + lists.row_begin[i], loss.up, -1.0, up.data() + lists.row_begin[i]);
  });
  return up;
}

}  // namespace

std::vector<double> rampion(const Lists& lists, const CostsAt& costs_at, const double* initial, const double* theta_0,
                            const Bounds& bounds, const RampionOptions& options, const OnEpoch& on_epoch) {
  const Loss& loss = loss_by_name(options.loss);
  const auto features = static_cast<size_t>(lists.features());
  Theta theta(initial, theta_0, features, lists.sentences(), bounds, options);
  Difference difference(features, bounds);
  Random random(options.seed);
  std::vector<size_t> order = in_order(lists.sentences());
  std::vector<double> scores, coefficients;
  int64_t updates = 0;
  const double* costs = nullptr;
  const auto learn = [&](size_t i, const std::vector<double>& up) {
    const Forest& list = lists.list(i);
    const auto count = static_cast<size_t>(list.edges());
    if (count == 0) return;
    const double* cost = costs + lists.row_begin[i];
    scores.resize(count);
    edge_scores(list, theta.w().data(), scores.data());
    coefficients.assign(up.data() + lists.row_begin[i], up.data() + lists.row_begin[i] + count);
    if (loss.risk)
      loss_value(list, scores.data(), cost, loss, coefficients.data());
    else
      term(list, scores.data(), cost, loss.down, +1.0, coefficients.data());  // line 10
    for (size_t e = 0; e < count; ++e)
      if (coefficients[e] != 0) difference.add(list, static_cast<int32_t>(e), -coefficients[e]);
    const SparseVector x = difference.take();
    theta.step(x);
    if (!x.ids.empty()) ++updates;
  };
  for (int iteration = 1; iteration <= options.cccp; ++iteration) {
    costs = costs_at(theta.w());
    const std::vector<double> up = tangent(lists, costs, theta.w(), loss, options.jobs);
    for (int pass = 0; pass < options.passes; ++pass) {
      if (options.shuffle) shuffle(order, random);
      for (size_t i : order) learn(i, up);
      theta.settle();
    }
    const double score = lists.metric.score(one_best(lists, theta.w().data(), options.jobs).stats.data());
    if (!on_epoch({iteration, score, theta.w(), updates})) break;
  }
  return theta.w();
}

std::vector<double> rampion(const Lists& lists, const GainOptions& gain, double alpha, const double* initial,
                            const double* theta_0, const Bounds& bounds, const RampionOptions& options, const OnEpoch& on_epoch) {
  SentenceGains gains(lists, gain, options.jobs);
  std::vector<double> costs(lists.rows());
  const auto costs_at = [&](const std::vector<double>& w) {
    const std::vector<double>& worth = gains.at(row_scores(lists, w.data(), options.jobs));
    for (size_t r = 0; r < costs.size(); ++r) costs[r] = alpha * (1 - worth[r]);
    return costs.data();
  };
  return rampion(lists, costs_at, initial, theta_0, bounds, options, on_epoch);
}

}  // namespace hopefear
