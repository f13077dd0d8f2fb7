// Pairwise ranking optimisation: Hopkins and May (2011). Here are the sampling and the classifier's objective with its gradient; a
// quasi-Newton library minimises it in Python.
#pragma once
#include "trainers/lists.h"

namespace hopefear {

/// h(better) - h(worse) of each kept pair as rows of a sparse matrix, and the difference in gain.
struct PairMatrix {
  std::vector<int64_t> begin{0};
  std::vector<int32_t> ids;
  std::vector<double> values;
  std::vector<double> gain_difference;
  std::vector<double> weight;  // of each pair in the loss
  size_t rows() const { return begin.size() - 1; }
};

struct ProOptions {
  int samples;       // Gamma
  double threshold;  // least difference in sentence gain
  int keep;          // Xi
  bool weighted;     // a pair is weighted by its difference in gain; in the paper all weigh the same
  uint64_t seed;
  int jobs;
};

/// The sampler: from each list Gamma random pairs, of these the pairs that differ enough in sentence gain, and of these the Xi with the
/// largest difference. Each sentence has its own random stream, so the result does not depend on `jobs`.
PairMatrix sample_pairs(const Lists& lists, const double* gains, const ProOptions& options);

/// The weighted mean over pairs (and their mirror images) of log(1 + exp(-w.x)), and its gradient.
double pair_log_loss(const PairMatrix& pairs, const double* w, size_t features, double* gradient, int jobs);

}  // namespace hopefear
