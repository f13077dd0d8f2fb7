#include "util/parallel.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <condition_variable>
#include <deque>
#include <system_error>

namespace hopefear {
namespace {

/// A pool of helper threads. A caller never waits for a helper that has not begun: on a busy machine a thread may get its first time
/// slice only after milliseconds, when a small loop is long done.
class Helpers {
 public:
  /// The helpers of this process: a fork does not copy threads, so the child makes its own. They are never destroyed.
  static Helpers& here() {
    static std::atomic<Helpers*> known{nullptr};
    Helpers* found = known.load();
    while (!found || found->process_ != getpid()) {
      auto* made = new Helpers;
      if (known.compare_exchange_strong(found, made)) return *made;
      delete made;  // another thread was first, and has no helpers yet
    }
    return *found;
  }

  void run(int helpers, const std::function<void(int)>& work) {
    Job job{work, helpers};
    {
      const std::lock_guard lock(mutex_);
      while (threads_ < helpers && start()) ++threads_;
      jobs_.push_back(&job);
    }
    for (int k = 0; k < helpers; ++k) wanted_.notify_one();
    work(0);
    std::unique_lock lock(mutex_);
    std::erase(jobs_, &job);
    job.ended.wait(lock, [&] { return job.inside == 0; });
  }

 private:
  struct Job {
    const std::function<void(int)>& work;
    const int helpers;  // at most
    int joined = 0;
    int inside = 0;  // of these, still at work
    std::condition_variable ended = {};
  };

  /// False if the system cannot start a thread. Signals from outside go to Python's threads; signals of faults go to the thread that
  /// causes them.
  bool start() {
    sigset_t outside, before;
    sigfillset(&outside);
    for (const int fault : {SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGABRT, SIGTRAP}) sigdelset(&outside, fault);
    pthread_sigmask(SIG_SETMASK, &outside, &before);
    bool started = true;
    try {
      std::thread([this] { help(); }).detach();
    } catch (const std::system_error&) {
      started = false;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return started;
  }

  void help() {
    std::unique_lock lock(mutex_);
    for (;;) {
      wanted_.wait(lock, [&] { return !jobs_.empty(); });
      Job& job = *jobs_.front();
      const int thread = ++job.joined;
      ++job.inside;
      if (job.joined == job.helpers) jobs_.pop_front();
      lock.unlock();
      job.work(thread);
      lock.lock();
      if (--job.inside == 0) job.ended.notify_one();
    }
  }

  const pid_t process_ = getpid();
  std::mutex mutex_;
  std::condition_variable wanted_;
  std::deque<Job*> jobs_;  // that want more helpers
  int threads_ = 0;
};

}  // namespace

void with_helpers(int helpers, const std::function<void(int)>& work) { Helpers::here().run(helpers, work); }

}  // namespace hopefear
