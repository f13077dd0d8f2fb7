// Pairwise ranking optimisation: Hopkins and May (2011). Sampling here; the classifier's objective and gradient too, its
// minimisation by a quasi-Newton library in Python.
#pragma once
#include "trainers/lists.h"

namespace hopefear {

/// h(better) - h(worse) of each kept pair as rows of a sparse matrix, and the difference in gain.
struct PairMatrix {
  std::vector<int64_t> begin{0};
  std::vector<int32_t> ids;
  std::vector<double> values;
  std::vector<double> gain_difference;
  size_t rows() const { return begin.size() - 1; }
};

/// From each list: Gamma random pairs, those that differ by at least `threshold` in sentence gain, of these the Xi with the largest
/// difference. Sentences have streams of their own, so the result does not depend on `jobs`.
PairMatrix sample_pairs(const Lists& lists, int samples, double threshold, int keep, uint64_t seed, int jobs);

/// sum over pairs and their mirror images of log(1 + exp(-w.x)) / rows, and its gradient.
double pair_log_loss(const PairMatrix& pairs, const double* w, size_t features, double* gradient, int jobs);

}  // namespace hopefear
