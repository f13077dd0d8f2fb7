#include "trainers/online/sgd.h"

#include "trainers/online/reference.h"

namespace hopefear {
namespace {

/// Line 11: w += eta x, or Sigma x.
void take_step(Model& model, const SparseVector& x) {
  const Rates eta = model.sigma.rates();
  for (size_t k = 0; k < x.ids.size(); ++k) {
    const double change = eta[x.ids[k]] * x.values[k];
    model.w[x.ids[k]] += change;
    model.averager.changed(x.ids[k], change);
  }
  model.sigma.shrink(x);
}

}  // namespace

void Sgd::hear(std::vector<Message>& inbox, Model& model) {
  for (const Message& message : inbox)
    for (const Constraint& c : message.constraints) take_step(model, c.x());
  inbox.clear();
}

std::vector<Constraint> Sgd::update(const Example& example, std::vector<Message>&, Model& model, Learnt& learnt) {
  const SparseVector x = descent_(example, model, learnt);
  if (learnt.skipped || x.ids.empty()) return {};
  take_step(model, x);
  return {{x, 0.0}};
}

SparseVector hinge_descent(const LearnerOptions& options, const Example& example, Model& model, Learnt& learnt) {
  const Rated hope = reference_derivation(options, example, model, learnt);
  if (learnt.skipped) return {};
  const Rated fear = fear_derivation(options.objective, example);  // line 10
  SparseVector x = model.difference.between(example.forest, hope.derivation, fear.derivation);
  learnt.fear = fear.gain;
  learnt.loss = hope.gain - fear.gain - x.dot(model.w.data());
  learnt.constraints = x.ids.empty() ? 0 : 1;
  return x;
}

}  // namespace hopefear
