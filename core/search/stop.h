// Decoding that is asked to stop from another thread: searches look here once per cell.
#pragma once
#include <atomic>

#include "util/error.h"

namespace hopefear {

inline std::atomic<bool> stop_decoding{false};

inline void check_stop() {
  if (stop_decoding.load(std::memory_order_relaxed)) throw InputError("decoding was asked to stop");
}

}  // namespace hopefear
