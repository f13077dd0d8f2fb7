// Handles Ctrl-C during long computations of the core.
//
//   Signals signals;
//   return signals.run([&] { return long_work([&] { signals.check(); }); });   // without the GIL
#pragma once
#include <atomic>
#include <chrono>
#include <exception>
#include <stdexcept>

#include "task.h"

namespace hopefear {

class Signals {
 public:
  /// Call this often, from any thread: throws soon after a signal whose handler raised an exception, and always from then on.
  void check() {
    if (came_) throw std::runtime_error("interrupted");
    const int64_t now = std::chrono::steady_clock::now().time_since_epoch() / std::chrono::milliseconds(1);
    if (now - last_ < 100) return;
    last_ = now;
    nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() == 0) return;  // handlers are called in Python's main thread only
    raised_ = std::make_exception_ptr(nb::python_error());
    came_ = true;
    std::rethrow_exception(raised_);
  }

  /// Runs work() without the GIL; the exception of the signal's handler propagates, whichever thread stopped first.
  template <class Work>
  auto run(Work&& work) {
    try {
      return without_gil(work);
    } catch (...) {
      if (came_) std::rethrow_exception(raised_);
      throw;
    }
  }

 private:
  std::atomic<int64_t> last_{0};
  std::atomic<bool> came_{false};
  std::exception_ptr raised_;
};

}  // namespace hopefear
