// Stops decoding from another thread: searches check once per cell.
#pragma once
#include <atomic>

#include "util/error.h"

namespace hopefear {

inline std::atomic<bool> stop_decoding{false};

inline void check_stop() {
  if (stop_decoding.load(std::memory_order_relaxed)) throw InputError("decoding was asked to stop");
}

}  // namespace hopefear
