// The working set of one example and its quadratic program: Chiang (2012), algorithms 2 and 3, OPTIMIZESET.
//
// Around the weights w_before that held before the example, minimise over w
//     1/2 (w - w_before)' Sigma^-1 (w - w_before) + max_d (loss_d - w.x_d),     x_d = h(d_i) - h(d),
// where Sigma = eta I in MIRA and the diagonal of variances in AROW. At every moment
//     w = w_before + Sigma * sum_d alpha_d x_d,   alpha_d >= 0,   sum_d alpha_d = 1.
//
// Differences from the paper:
// - It prints alpha reset at each call while w has already moved; here alpha is kept, which is what (6) means.
// - SELECTPAIR takes the pair that violates the KKT conditions most, not the first that violates them.
#pragma once
#include <span>
#include <vector>

#include "trainers/difference.h"
#include "util/sparse_vector.h"

namespace hopefear {

/// Sigma as a function of the feature: a constant eta, or a diagonal.
struct Rates {
  double eta;
  const double* sigma;  // null: eta for all
  double operator[](int32_t j) const { return sigma ? sigma[j] : eta; }
};

inline constexpr int kSmoIterations = 1000;  // algorithm 2, line 16

class WorkingSet {
 public:
  /// Starts with d_i itself: x = 0, loss 0, alpha 1.
  WorkingSet();
  /// A constraint loss - w.x <= xi, with alpha 0.
  void add(SparseVector x, double loss, const Rates& rates);
  /// Sequential minimal optimisation by pairs until the KKT conditions hold to epsilon; moves w. Returns the number of steps.
  int optimize(double* w, const Rates& rates, double epsilon, int max_iterations);

  size_t size() const { return x_.size(); }
  double alpha(size_t d) const { return alpha_[d]; }
  double loss(size_t d) const { return loss_[d]; }
  const SparseVector& x(size_t d) const { return x_[d]; }
  double violation(size_t d, const double* w) const { return loss_[d] - x_[d].dot(w); }
  double max_violation(const double* w) const;
  /// sum_d alpha_d x_d (algorithm 3, line 9): w has moved by Sigma times this.
  SparseVector sum(Difference& scratch) const;

 private:
  std::vector<SparseVector> x_;
  std::vector<double> loss_, alpha_;
  std::vector<double> gram_;  // x_d' Sigma x_d', row by row, size * size
};

/// Algorithm 4, OPTIMIZESETS: joint optimisation of several working sets, one pair of each at a time.
void optimize_sets(std::span<WorkingSet> sets, double* w, const Rates& rates, double epsilon, int max_iterations);

}  // namespace hopefear
