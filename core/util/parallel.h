// A parallel loop whose result cannot depend on the number of threads: each index writes only its own place.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace hopefear {

/// 0 means every core.
inline int resolve_jobs(int jobs) { return jobs > 0 ? jobs : std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

/// work(0) here, and work(1), ... work(helpers) in helper threads, as far as these start before work(0) returns: one call of work alone
/// must be able to do everything. Returns when all calls that began have ended. work must not throw.
void with_helpers(int helpers, const std::function<void(int)>& work);

/// body(index, thread) for every index below count. The exception of the lowest index is rethrown here: chunks are taken in order,
/// so every index below a failing one is tried, whatever the number of threads.
template <class Body>
void parallel_for(size_t count, int jobs, Body&& body) {
  const int threads = static_cast<int>(std::min<size_t>(resolve_jobs(jobs), count));
  if (threads <= 1) {
    for (size_t i = 0; i < count; ++i) body(i, 0);
    return;
  }
  std::atomic<size_t> next{0};
  std::exception_ptr failure;
  size_t failed = 0;
  std::mutex mutex;
  const size_t chunk = std::max<size_t>(1, count / (threads * 16));
  with_helpers(threads - 1, [&](int thread) {
    size_t i = 0;
    try {
      for (;;) {
        const size_t begin = next.fetch_add(chunk);
        if (begin >= count) return;
        const size_t end = std::min(count, begin + chunk);
        for (i = begin; i < end; ++i) body(i, thread);
      }
    } catch (...) {
      std::lock_guard<std::mutex> lock(mutex);
      if (!failure || i < failed) {
        failure = std::current_exception();
        failed = i;
      }
      next = count;
    }
  });
  if (failure) std::rethrow_exception(failure);
}

}  // namespace hopefear
