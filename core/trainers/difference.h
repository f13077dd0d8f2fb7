// h(a) - h(b) of two candidates as a sparse vector, over features that may move.
#pragma once
#include "trainers/lists.h"
#include "trainers/smo.h"

namespace hopefear {

class Difference {
 public:
  Difference(int32_t features, const Bounds& bounds)
      : dense_(static_cast<size_t>(features), 0.0), seen_(dense_.size(), 0), bounds_(bounds) {}

  /// Adds factor * h(e).
  void add(const Forest& list, int32_t e, double factor) {
    const double* row = list.dense.data() + static_cast<size_t>(e) * list.dense_width;
    for (int32_t j = 0; j < list.dense_width; ++j) put(j, factor * row[j]);
    if (list.sparse_begin.empty()) return;
    for (int32_t k = list.sparse_begin[e]; k < list.sparse_begin[e + 1]; ++k)
      put(list.sparse_ids[k], factor * list.sparse_values[k]);
  }
  void put(int32_t j, double value) {
    if (value == 0 || !bounds_.free(j)) return;
    if (!seen_[j]) {
      seen_[j] = 1;
      touched_.push_back(j);
    }
    dense_[j] += value;
  }
  /// What was added since the last call; starts again from zero.
  SparseVector take() {
    SparseVector x;
    for (int32_t j : touched_) {
      if (dense_[j] != 0) {
        x.ids.push_back(j);
        x.values.push_back(dense_[j]);
      }
      dense_[j] = 0;
      seen_[j] = 0;
    }
    touched_.clear();
    return x;
  }

 private:
  std::vector<double> dense_;
  std::vector<uint8_t> seen_;
  std::vector<int32_t> touched_;
  Bounds bounds_;
};

/// The average of the weights after every example, by the trick of Daume (2006, p. 19): avg = w - u / t.
class Averager {
 public:
  explicit Averager(int32_t features) : u_(static_cast<size_t>(features), 0.0) {}
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

 private:
  std::vector<double> u_;
  int64_t t_ = 0;
};

/// w += alpha * x within the bounds, remembered by the average.
inline void step(std::vector<double>& w, const SparseVector& x, double alpha, const Bounds& bounds, Averager& averager) {
  for (size_t k = 0; k < x.ids.size(); ++k) {
    const int32_t j = x.ids[k];
    const double moved = bounds.clip(j, w[j] + alpha * x.values[k]);
    averager.changed(j, moved - w[j]);
    w[j] = moved;
  }
}

}  // namespace hopefear
