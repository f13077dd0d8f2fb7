#include "trainers/online/arow.h"

namespace hopefear {

void Sigma::shrink(const SparseVector& x) {
  if (diagonal_.empty()) return;
  for (size_t k = 0; k < x.ids.size(); ++k) {
    double& sigma = diagonal_[x.ids[k]];
    sigma /= 1 + lambda_ * x.values[k] * x.values[k] * sigma;
  }
}

}  // namespace hopefear
