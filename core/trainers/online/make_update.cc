#include "trainers/online/make_update.h"

#include "trainers/online/mira.h"
#include "trainers/online/risk.h"
#include "trainers/online/sgd.h"
#include "util/error.h"

namespace hopefear {

std::unique_ptr<Update> make_update(const LearnerOptions& o) {
  const bool risk = o.objective == Objective::risk, secant = o.objective == Objective::secant;
  if ((risk || secant) && o.approximation == Approximation::forest)
    throw InputError("expectations need B on every edge: take approximation linear or kbest with objective risk or secant");
  if (risk && !(o.temperature > 0)) throw InputError("risk needs a temperature above 0");

  if (risk) return std::make_unique<Sgd>([o](const Example& x, Model& model, Learnt&) { return risk_descent(o, x, model); });
  if (secant && o.temperature > 0)
    return std::make_unique<Sgd>([o](const Example& x, Model& model, Learnt&) { return secant_descent(o, x, model); });
  if (secant || o.algorithm == Algorithm::sgd)
    return std::make_unique<Sgd>(
        [o](const Example& x, Model& model, Learnt& learnt) { return hinge_descent(o, x, model, learnt); });
  return std::make_unique<Mira>(o);
}

}  // namespace hopefear
