// Sums of feature vectors, h(a) - h(b) above all, as sparse vectors over the features that may move.
#pragma once
#include "forest/derivation.h"
#include "trainers/bounds.h"
#include "util/sparse_vector.h"

namespace hopefear {

class Difference {
 public:
  Difference(size_t features, const Bounds& bounds) : dense_(features, 0.0), seen_(features, 0), bounds_(bounds) {}

  /// h(plus) - h(minus) of two candidates of a list.
  SparseVector between(const Forest& list, int32_t plus, int32_t minus) {
    add(list, plus, 1);
    add(list, minus, -1);
    return take();
  }
  /// h(plus) - h(minus) of two derivations of a forest.
  SparseVector between(const Forest& forest, const Derivation& plus, const Derivation& minus) {
    for (int32_t e : plus.edges) add(forest, e, 1);
    for (int32_t e : minus.edges) add(forest, e, -1);
    return take();
  }

  /// Adds factor * h(e).
  void add(const Forest& forest, int32_t e, double factor) {
    const double* row = forest.dense.data() + static_cast<size_t>(e) * forest.dense_width;
    for (int32_t j = 0; j < forest.dense_width; ++j) put(j, factor * row[j]);
    if (forest.sparse_begin.empty()) return;
    for (int32_t k = forest.sparse_begin[e]; k < forest.sparse_begin[e + 1]; ++k)
      put(forest.sparse_ids[k], factor * forest.sparse_values[k]);
  }
  /// Adds factor * x.
  void add(const SparseVector& x, double factor) {
    for (size_t k = 0; k < x.ids.size(); ++k) put(x.ids[k], factor * x.values[k]);
  }
  /// The sum of everything added since the last call; resets it to zero.
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
  void put(int32_t j, double value) {
    if (value == 0 || !bounds_.free(j)) return;
    if (!seen_[j]) {
      seen_[j] = 1;
      touched_.push_back(j);
    }
    dense_[j] += value;
  }

  std::vector<double> dense_;
  std::vector<uint8_t> seen_;
  std::vector<int32_t> touched_;
  Bounds bounds_;
};

}  // namespace hopefear
