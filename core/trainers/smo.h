// The working set of one example and its quadratic program: Chiang (2012), algorithms 2 and 3, OPTIMIZESET.
//
// Around the weights w_before that held before the example, minimise over w
//     1/2 (w - w_before)' Sigma^-1 (w - w_before) + max_d (loss_d - w.x_d),     x_d = h(d_i) - h(d),
// where Sigma = eta I in MIRA and the diagonal of variances in AROW. At every moment
//     w = w_before + Sigma * sum_d alpha_d x_d,   alpha_d >= 0,   sum_d alpha_d = 1.
// The paper prints alpha reset at each call while w has already moved; here alpha is kept, which is what (6) means.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

namespace hopefear {

struct SparseVector {
  std::vector<int32_t> ids;
  std::vector<double> values;
  double dot(const double* w) const {
    double sum = 0;
    for (size_t k = 0; k < ids.size(); ++k) sum += values[k] * w[ids[k]];
    return sum;
  }
};

/// Sigma as a function of the feature: a constant eta, or a diagonal.
struct Rates {
  double eta = 0.01;
  const double* sigma = nullptr;
  double operator[](int32_t j) const { return sigma ? sigma[j] : eta; }
};

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

 private:
  std::vector<SparseVector> x_;
  std::vector<double> loss_, alpha_;
  std::vector<double> gram_;  // x_d' Sigma x_d', row by row, size * size
};

}  // namespace hopefear
