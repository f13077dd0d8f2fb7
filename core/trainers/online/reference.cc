#include "trainers/online/reference.h"

#include <algorithm>

namespace hopefear {
namespace {

bool is_reference(const Example& example, const Derivation& d) {
  const auto words = yield(example.forest, d.edges);
  return std::ranges::any_of(example.references, [&](const auto& reference) { return std::ranges::equal(reference, words); });
}

}  // namespace

Rated Reference::derivation(const Example& example, const Model& model, Learnt& learnt) const {
  const auto find = [&] {
    if (target == Target::hope) return example.search.find(example.mu);
    if (target != Target::local) return example.search.max_bleu();
    return HopeFear(example.forest, example.references, model.w.data(), example.document, Approximation::kbest, k).max_bleu();
  };
  Rated d_i = find();
  learnt.hope = d_i.gain;
  learnt.skipped = target == Target::bold && !is_reference(example, d_i.derivation);
  return d_i;
}

Rated fear_derivation(Fear fear, const Example& example) {
  if (fear == Fear::best) return example.best;
  return example.search.find(fear == Fear::opposite ? -example.mu : 1.0);
}

}  // namespace hopefear
