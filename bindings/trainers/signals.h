// Ctrl-C while the core is at work for minutes.
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
  /// From any thread, as often as you like: throws soon after a signal whose handler raised an exception, from then on always.
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

  /// work() without the GIL; what the handler raised comes out of it, whichever thread was first to stop.
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
