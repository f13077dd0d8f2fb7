// The limits of decoding by block sequences.
#pragma once
#include <cstdint>

#include "util/error.h"

namespace hopefear {

struct BlockOptions {
  int64_t pop_limit;    // hypotheses per cell; 0: all
  int64_t swap_limit;   // the same where a gap is open
  int64_t max_options;  // target phrases of one source phrase; 0: all
  int64_t max_swap;     // source words of either block of a swap; 0: any number

  void check() const {
    if (pop_limit < 0 || swap_limit < 0 || max_options < 0 || max_swap < 0)
      throw InputError("the limits of a search cannot be negative: 0 means no limit");
  }
};

}  // namespace hopefear
