// Which weights may move, and how far.
#pragma once
#include <cstdint>

namespace hopefear {

/// Frozen features have lower == upper. Null pointers: every weight may move without limit.
struct Bounds {
  const double* lower = nullptr;
  const double* upper = nullptr;
  bool free(int32_t j) const { return !lower || lower[j] < upper[j]; }
  double clip(int32_t j, double value) const {
    if (!lower) return value;
    return value < lower[j] ? lower[j] : value > upper[j] ? upper[j] : value;
  }
};

}  // namespace hopefear
