// The average of the weights after every example: Chiang (2012), algorithm 1, lines 6 to 8, by the trick of Daume (2006, p. 19):
// with u = sum of t * (change at example t), the sum of the weights is t w - u, and their average w - u / t.
#pragma once
#include <utility>
#include <vector>

#include "trainers/bounds.h"
#include "util/sparse_vector.h"

namespace hopefear {

class Averager {
 public:
  explicit Averager(size_t features) : u_(features, 0.0) {}
  /// w_j just changed by `change` while example t (from 0) was processed.
  void changed(int32_t j, double change) { u_[j] += static_cast<double>(t_) * change; }
  void next() { ++t_; }
  int64_t t() const { return t_; }
  const std::vector<double>& u() const { return u_; }
  void restore(std::vector<double> u, int64_t t) {
    u_ = std::move(u);
    t_ = t;
  }
  std::vector<double> average(const std::vector<double>& w) const {
    std::vector<double> out = w;
    if (t_ > 0)
      for (size_t j = 0; j < out.size(); ++j) out[j] -= u_[j] / static_cast<double>(t_);
    return out;
  }
  std::vector<double> sum(const std::vector<double>& w) const {
    std::vector<double> out(w.size());
    for (size_t j = 0; j < out.size(); ++j) out[j] = static_cast<double>(t_) * w[j] - u_[j];
    return out;
  }

 private:
  std::vector<double> u_;
  int64_t t_ = 0;
};

/// w += alpha * x within the bounds; updates the average, if there is one.
inline void step(std::vector<double>& w, const SparseVector& x, double alpha, const Bounds& bounds, Averager* averager) {
  for (size_t k = 0; k < x.ids.size(); ++k) {
    const int32_t j = x.ids[k];
    const double moved = bounds.clip(j, w[j] + alpha * x.values[k]);
    if (averager) averager->changed(j, moved - w[j]);
    w[j] = moved;
  }
}

}  // namespace hopefear
