// A vector of which only some components are kept, e.g. the difference of two feature vectors.
#pragma once
#include <cstdint>
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
  double squared_norm() const {
    double sum = 0;
    for (double value : values) sum += value * value;
    return sum;
  }
};

}  // namespace hopefear
