#include "trainers/online/risk.h"

#include <algorithm>
#include <cmath>

#include "forest/expectations.h"
#include "forest/kbest.h"

namespace hopefear {
namespace {

/// The k best derivations with their exact B.
class RatedList {
 public:
  RatedList(const Example& example, const LearnerOptions& options) : forest_(example.forest), temperature_(options.temperature) {
    for (Derivation& d : kbest(forest_, example.search.scores(), options.k, false))
      all_.push_back(example.search.rate(std::move(d)));
  }
  size_t size() const { return all_.size(); }
  double gain(size_t d) const { return all_[d].gain; }
  /// Proportional to exp 1/T (w.h + mu B).
  std::vector<double> probabilities(double mu) const {
    std::vector<double> p;
    for (const Rated& d : all_) p.push_back((d.derivation.score + mu * d.gain) / temperature_);
    const double top = p.empty() ? 0 : *std::ranges::max_element(p);
    double sum = 0;
    for (double& each : p) sum += each = std::exp(each - top);
    for (double& each : p) each /= sum;
    return p;
  }
  /// sum over derivations of coefficient * h(d).
  SparseVector weighted(const std::vector<double>& coefficients, Difference& scratch) const {
    for (size_t d = 0; d < all_.size(); ++d)
      for (int32_t e : all_[d].derivation.edges) scratch.add(forest_, e, coefficients[d]);
    return scratch.take();
  }

 private:
  const Forest& forest_;
  double temperature_;
  std::vector<Rated> all_;
};

SparseVector kbest_risk(const RatedList& all, double temperature, Difference& scratch) {
  std::vector<double> p = all.probabilities(0.0);
  double mean = 0;
  for (size_t d = 0; d < all.size(); ++d) mean += p[d] * all.gain(d);
  for (size_t d = 0; d < all.size(); ++d) p[d] = p[d] * (all.gain(d) - mean) / temperature;
  return all.weighted(p, scratch);
}

SparseVector kbest_secant(const RatedList& all, double mu, Difference& scratch) {
  std::vector<double> hope = all.probabilities(mu), fear = all.probabilities(-mu);
  for (size_t d = 0; d < all.size(); ++d) hope[d] = (hope[d] - fear[d]) / mu;
  return all.weighted(hope, scratch);
}

}  // namespace

SparseVector risk_descent(const LearnerOptions& options, const Example& example, Model& model) {
  const double T = options.temperature;
  if (options.approximation == Approximation::kbest) return kbest_risk(RatedList(example, options), T, model.difference);
  const std::vector<double> gains = example.gains();
  std::vector<double> scores = example.search.scores();
  for (double& score : scores) score /= T;
  Expectations expected;
  expectations(example.forest, scores, gains, expected);
  for (int32_t e = 0; e < example.forest.edges(); ++e) model.difference.add(example.forest, e, expected.covariance[e] / T);
  return model.difference.take();
}

SparseVector secant_descent(const LearnerOptions& options, const Example& example, Model& model) {
  const double T = options.temperature, mu = std::abs(example.mu);
  if (options.approximation == Approximation::kbest) return kbest_secant(RatedList(example, options), mu, model.difference);
  const std::vector<double> gains = example.gains();
  const auto posterior = [&](double sign) {  // E_-mu[#e] with sign 1, E_mu[#e] with sign -1
    std::vector<double> scores = example.search.scores();
    for (size_t e = 0; e < scores.size(); ++e) scores[e] = (scores[e] + sign * mu * gains[e]) / T;
    Expectations expected;
    posteriors(example.forest, scores, expected);
    return std::move(expected.edge);
  };
  for (double sign : {1.0, -1.0}) {
    const std::vector<double> edge = posterior(sign);
    for (int32_t e = 0; e < example.forest.edges(); ++e) model.difference.add(example.forest, e, sign * edge[e] / mu);
  }
  return model.difference.take();
}

}  // namespace hopefear
