#include "trainers/online/arow.h"

#include "util/error.h"

namespace hopefear {

Sigma::Sigma(const LearnerOptions& options, std::vector<double> diagonal, size_t features)
    : eta_(options.eta), lambda_(options.lambda) {
  if (!diagonal.empty() && diagonal.size() != features) throw InputError("one variance for each weight");
  if (options.algorithm != Algorithm::arow) return;
  diagonal_ = std::move(diagonal);
  if (diagonal_.empty()) diagonal_.assign(features, eta_);
}

void Sigma::shrink(const SparseVector& x) {
  if (diagonal_.empty()) return;
  for (size_t k = 0; k < x.ids.size(); ++k) {
    double& sigma = diagonal_[x.ids[k]];
    sigma /= 1 + lambda_ * x.values[k] * x.values[k] * sigma;
  }
}

}  // namespace hopefear
