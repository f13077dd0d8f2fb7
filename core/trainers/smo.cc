#include "trainers/smo.h"

#include <algorithm>
#include <unordered_map>

namespace hopefear {

WorkingSet::WorkingSet() : x_(1), loss_(1, 0.0), alpha_(1, 1.0), gram_(1, 0.0) {}

void WorkingSet::add(SparseVector x, double loss, const Rates& rates) {
  const size_t n = x_.size();
  std::unordered_map<int32_t, double> scaled;
  for (size_t k = 0; k < x.ids.size(); ++k) scaled[x.ids[k]] += rates[x.ids[k]] * x.values[k];
  auto product = [&](const SparseVector& other) {
    double sum = 0;
    for (size_t k = 0; k < other.ids.size(); ++k)
      if (auto it = scaled.find(other.ids[k]); it != scaled.end()) sum += other.values[k] * it->second;
    return sum;
  };
  std::vector<double> gram((n + 1) * (n + 1));
  for (size_t a = 0; a < n; ++a) {
    for (size_t b = 0; b < n; ++b) gram[a * (n + 1) + b] = gram_[a * n + b];
    gram[a * (n + 1) + n] = gram[n * (n + 1) + a] = product(x_[a]);
  }
  gram[n * (n + 1) + n] = product(x);
  gram_ = std::move(gram);
  x_.push_back(std::move(x));
  loss_.push_back(loss);
  alpha_.push_back(0);
}

double WorkingSet::max_violation(const double* w) const {
  double top = violation(0, w);
  for (size_t d = 1; d < size(); ++d) top = std::max(top, violation(d, w));
  return top;
}

SparseVector WorkingSet::sum(Difference& scratch) const {
  for (size_t d = 1; d < size(); ++d) scratch.add(x_[d], alpha_[d]);
  return scratch.take();
}

int WorkingSet::optimize(double* w, const Rates& rates, double epsilon, int max_iterations) {
  const size_t n = size();
  std::vector<double> v(n);
  for (size_t d = 0; d < n; ++d) v[d] = violation(d, w);
  const std::vector<double> before = alpha_;
  int iterations = 0;
  for (; iterations < max_iterations; ++iterations) {
    // SELECTPAIR: of the pairs that violate KKT (alpha_d (v_d - xi) = 0 with xi = max v), the worst one.
    size_t up = 0, down = n;
    for (size_t d = 0; d < n; ++d) {
      if (v[d] > v[up]) up = d;
      if (alpha_[d] > 0 && (down == n || v[d] < v[down])) down = d;
    }
    if (v[up] - v[down] <= epsilon) break;
    // OPTIMIZEPAIR, line 34 (algorithm 3, line 13) and the clipping of line 35.
    const double curvature = gram_[up * n + up] + gram_[down * n + down] - 2 * gram_[up * n + down];
    double delta = curvature > 0 ? (v[up] - v[down]) / curvature : alpha_[down];
    delta = std::max(-alpha_[up], std::min(alpha_[down], delta));
    alpha_[up] += delta;
    alpha_[down] = delta == alpha_[down] ? 0 : alpha_[down] - delta;
    for (size_t d = 0; d < n; ++d) v[d] -= delta * (gram_[d * n + up] - gram_[d * n + down]);
  }
  // Line 37 for all steps at once: w += Sigma * sum_d (alpha_d - alpha_d before) x_d.
  for (size_t d = 0; d < n; ++d) {
    const double change = alpha_[d] - before[d];
    if (change == 0) continue;
    for (size_t k = 0; k < x_[d].ids.size(); ++k) w[x_[d].ids[k]] += rates[x_[d].ids[k]] * change * x_[d].values[k];
  }
  return iterations;
}

void optimize_sets(std::span<WorkingSet> sets, double* w, const Rates& rates, double epsilon, int max_iterations) {
  if (sets.size() == 1) {
    sets[0].optimize(w, rates, epsilon, max_iterations);
    return;
  }
  bool again = true;
  for (int sweep = 0; again && sweep < max_iterations; ++sweep) {
    again = false;
    for (WorkingSet& set : sets)
      if (set.optimize(w, rates, epsilon, 1) > 0) again = true;
  }
}

}  // namespace hopefear
