// AROW: Chiang (2012), algorithm 3, after Crammer, Kulesza and Dredze (2009).
//
// Algorithm 3 is algorithm 2 with Sigma in the place of eta (lines 13 and 17) and with line 10 after each example. So AROW is not a
// separate update: it is a Sigma that shrinks, under MIRA for the hinge loss, and under SGD for the risk.
//
// Differences from the paper:
// - The paper prints Sigma^-1 += lambda x'x; the outer product is meant, and only its diagonal is kept (line 10).
// - Each working set received from another learner shrinks Sigma too.
// - The risk has a gradient and no constraints: w moves by Sigma x, and Sigma shrinks by that x.
#pragma once
#include <vector>

#include "trainers/online/options.h"
#include "trainers/smo.h"

namespace hopefear {

/// The learning rates of all features.
class Sigma {
 public:
  /// SGD and MIRA: eta I, which never shrinks. AROW, line 2: the diagonal that is given, or eta for all if it is empty.
  Sigma(const LearnerOptions& options, std::vector<double> diagonal, size_t features);

  Rates rates() const { return {eta_, diagonal_.empty() ? nullptr : diagonal_.data()}; }
  /// Line 10: Sigma^-1 += lambda diag(x_1^2, ..., x_n^2).
  void shrink(const SparseVector& x);

  /// Empty without AROW.
  const std::vector<double>& diagonal() const { return diagonal_; }
  void set_diagonal(std::vector<double> diagonal) { diagonal_ = std::move(diagonal); }

 private:
  double eta_, lambda_;
  std::vector<double> diagonal_;
};

}  // namespace hopefear
