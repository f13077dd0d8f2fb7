// The order in which a trainer goes through its sentences.
#pragma once
#include <numeric>
#include <utility>
#include <vector>

#include "util/random.h"

namespace hopefear {

/// 0, 1, ..., count - 1.
inline std::vector<size_t> in_order(size_t count) {
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  return order;
}

/// Fisher and Yates, the same on every machine.
inline void shuffle(std::vector<size_t>& order, Random& random) {
  for (size_t k = order.size(); k > 1; --k) std::swap(order[k - 1], order[random.below(k)]);
}

}  // namespace hopefear
