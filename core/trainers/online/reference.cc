#include "trainers/online/reference.h"

#include <algorithm>

namespace hopefear {
namespace {

bool is_reference(const Example& example, const Derivation& d) {
  const auto words = yield(example.forest, d.edges);
  return std::ranges::any_of(example.references, [&](const auto& reference) { return std::ranges::equal(reference, words); });
}

}  // namespace

Rated reference_derivation(const LearnerOptions& options, const Example& x, const Model& model, Learnt& learnt) {
  const auto find = [&] {
    if (options.target == Target::hope) return x.search.find(x.mu);
    if (options.target != Target::local) return x.search.max_bleu();
    return HopeFear(x.forest, x.references, model.w.data(), x.document, Approximation::kbest, options.k).max_bleu();
  };
  Rated d_i = find();
  learnt.hope = d_i.gain;
  learnt.skipped = options.target == Target::bold && !is_reference(x, d_i.derivation);
  return d_i;
}

Rated fear_derivation(Objective objective, const Example& example) {
  if (objective == Objective::perceptron) return example.best;
  return example.search.find(objective == Objective::secant ? -example.mu : 1.0);
}

}  // namespace hopefear
