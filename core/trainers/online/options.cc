#include "trainers/online/options.h"

#include "trainers/online/mira.h"
#include "trainers/online/risk.h"
#include "trainers/online/sgd.h"
#include "util/error.h"

namespace hopefear {
namespace {

template <class Value>
Value by_name(const std::string& what, const std::string& name, std::initializer_list<std::pair<const char*, Value>> known) {
  std::string all;
  for (const auto& [known_name, value] : known) {
    if (name == known_name) return value;
    all += (all.empty() ? "" : ", ") + std::string(known_name);
  }
  throw InputError(what + " must be one of " + all + ", not " + name);
}

/// Objectives whose gradient is an expectation.
bool is_soft(Objective objective) { return objective == Objective::risk || objective == Objective::secant; }

std::unique_ptr<const Gradient> make_gradient(const LearnerOptions& o) {
  const RiskOptions risk{.temperature = o.temperature, .kbest = o.approximation == Approximation::kbest, .k = o.k};
  const Reference reference{.target = o.target, .k = o.k};
  switch (o.objective) {
    case Objective::hinge: return std::make_unique<HingeGradient>(reference, Fear::worst);
    case Objective::perceptron: return std::make_unique<HingeGradient>(reference, Fear::best);
    case Objective::risk: return std::make_unique<RiskGradient>(risk);
    case Objective::secant: break;
  }
  if (o.temperature > 0) return std::make_unique<SecantGradient>(risk);
  return std::make_unique<HingeGradient>(reference, Fear::opposite);
}

std::unique_ptr<Update> make_update(const LearnerOptions& o) {
  if (o.algorithm == Algorithm::sgd || is_soft(o.objective)) return std::make_unique<Sgd>(make_gradient(o));
  return std::make_unique<Mira>(MiraOptions{.reference = {.target = o.target, .k = o.k},
                                            .perceptron = o.objective == Objective::perceptron,
                                            .epsilon = o.epsilon,
                                            .max_planes = o.max_planes,
                                            .constraints = o.constraints});
}

Sigma make_sigma(const LearnerOptions& o, std::vector<double> diagonal, size_t features) {
  if (!diagonal.empty() && diagonal.size() != features) throw InputError("one variance for each weight");
  if (o.algorithm != Algorithm::arow) return Sigma(o.eta);
  if (diagonal.empty()) diagonal.assign(features, o.eta);
  return Sigma(std::move(diagonal), o.lambda);
}

}  // namespace

Objective objective_by_name(const std::string& name) {
  return by_name<Objective>("objective", name,
                            {{"hinge", Objective::hinge},
                             {"perceptron", Objective::perceptron},
                             {"risk", Objective::risk},
                             {"secant", Objective::secant}});
}
Algorithm algorithm_by_name(const std::string& name) {
  return by_name<Algorithm>("algorithm", name, {{"sgd", Algorithm::sgd}, {"mira", Algorithm::mira}, {"arow", Algorithm::arow}});
}
Target target_by_name(const std::string& name) {
  return by_name<Target>(
      "reference", name,
      {{"hope", Target::hope}, {"local", Target::local}, {"max-bleu", Target::max_bleu}, {"bold", Target::bold}});
}

Learner make_learner(const LearnerOptions& o, std::vector<double> w, std::vector<double> sigma) {
  if (is_soft(o.objective) && o.approximation == Approximation::forest)
    throw InputError("expectations need B on every edge: take approximation linear or kbest with objective risk or secant");
  if (o.objective == Objective::risk && !(o.temperature > 0)) throw InputError("risk needs a temperature above 0");
  Sigma rates = make_sigma(o, std::move(sigma), w.size());
  return Learner({.approximation = o.approximation,
                  .k = o.k,
                  .decay = o.decay,
                  .edges_per_word = o.edges_per_word,
                  .broadcast = o.broadcast},
                 Model(std::move(w), std::move(rates)), make_update(o));
}

}  // namespace hopefear
