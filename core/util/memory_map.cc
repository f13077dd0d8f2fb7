#include "util/memory_map.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <mutex>
#include <new>

#include "util/array_store.h"
#include "util/error.h"

namespace hopefear {
namespace {

// Reading a mapped file beyond its end raises SIGBUS: files may be truncated while they are in use. The signal's handler looks
// up the file here; it may call almost no functions.
struct MappedFile {
  std::atomic<const std::byte*> data{nullptr};
  size_t size = 0;
  char name[240] = {};
};
MappedFile mapped[64];

void say(const char* text) { [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text, std::strlen(text)); }

void bus_error(int number, siginfo_t* about, void*) {
  const auto* place = static_cast<const std::byte*>(about->si_addr);
  for (const MappedFile& file : mapped) {
    const std::byte* data = file.data.load();
    if (data == nullptr || place < data || place >= data + file.size) continue;
    say("hopefear: "), say(file.name), say(": was cut off, or cannot be read any more, while it was in use. Copy it again\n");
    ::_exit(2);
  }
  ::signal(number, SIG_DFL);  // not our file: the signal is raised again, and ends the process
}

void watch(const std::string& path, const std::byte* data, size_t size) {
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  struct sigaction now{};
  if (::sigaction(SIGBUS, nullptr, &now) == 0 && !(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_DFL) {
    now = {};
    now.sa_sigaction = bus_error;
    now.sa_flags = SA_SIGINFO;
    ::sigaction(SIGBUS, &now, nullptr);
  }
  for (MappedFile& file : mapped) {
    if (file.data.load() != nullptr) continue;
    file.size = size;
    file.name[path.copy(file.name, sizeof file.name - 1)] = 0;
    file.data = data;
    return;
  }
}

void unwatch(const std::byte* data) {
  for (MappedFile& file : mapped)
    if (file.data.load() == data) file.data = nullptr;
}

}  // namespace

std::shared_ptr<MemoryMap> MemoryMap::file(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) throw input_error(path, 0, std::string("cannot be read: ") + std::strerror(errno) + ". Is the path right?");
  struct stat about{};
  if (::fstat(descriptor, &about) != 0 || !S_ISREG(about.st_mode)) {
    ::close(descriptor);
    throw input_error(path, 0, "not a regular file. Give the path of a file");
  }
  const size_t size = about.st_size;
  void* data = nullptr;
  if (size > 0) data = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor, 0);
  const int reason = errno;
  ::close(descriptor);
  if (data == MAP_FAILED) throw input_error(path, 0, std::string("cannot be mapped: ") + std::strerror(reason));
  if (data != nullptr) watch(path, static_cast<std::byte*>(data), size);
  return std::shared_ptr<MemoryMap>(new MemoryMap(static_cast<std::byte*>(data), size));
}

std::shared_ptr<MemoryMap> MemoryMap::anonymous(size_t bytes) {
  if (const auto store = ArrayStore::now(); store && bytes > 0) {
    if (!store->hold(bytes)) return std::shared_ptr<MemoryMap>(new MemoryMap(static_cast<std::byte*>(store->map(bytes)), bytes));
    store->give_back(bytes);  // callers keep the store alive
  }
  void* data = nullptr;
  if (bytes > 0) data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
  if (bytes > 0) ::madvise(data, bytes, MADV_HUGEPAGE);
#endif
  return std::shared_ptr<MemoryMap>(new MemoryMap(static_cast<std::byte*>(data), bytes));
}

MemoryMap::~MemoryMap() {
  if (data_ == nullptr) return;
  unwatch(data_);
  ::munmap(data_, size_);
}

}  // namespace hopefear
