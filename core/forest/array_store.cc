#include "forest/array_store.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace hopefear {
namespace {

constexpr size_t kChunk = size_t{1} << 25;
constexpr size_t kAlign = 64;

InputError failure(const std::string& folder, int reason) {
  const std::string cure = reason == ENOSPC ? "the disk is full. Make room, or allow more memory" : std::strerror(reason);
  return input_error(folder, 0, "a temporary file for lists cannot be made: " + cure);
}

/// A mapped file without a name: gone when nobody uses it, whatever happens.
class Chunk {
 public:
  Chunk(const std::string& folder, size_t bytes) : size_(bytes) {
    std::string path = folder + "/.lists.arXXXXXX.hopefear.part";  // swept, if a kill comes between two calls
    const int descriptor = ::mkstemps(path.data(), 14);
    if (descriptor < 0) throw failure(folder, errno);
    ::unlink(path.c_str());
    ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
#ifdef __APPLE__
    int reason = ::ftruncate(descriptor, static_cast<off_t>(bytes)) == 0 ? 0 : errno;
#else
    int reason = ::posix_fallocate(descriptor, 0, static_cast<off_t>(bytes));  // now, or a full disk would be a bus error later
#endif
    void* data = MAP_FAILED;
    if (reason == 0) {
      data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
      reason = errno;
    }
    ::close(descriptor);
    if (data == MAP_FAILED) throw failure(folder, reason);
    data_ = static_cast<std::byte*>(data);
  }
  ~Chunk() { ::munmap(data_, size_); }
  Chunk(const Chunk&) = delete;
  Chunk& operator=(const Chunk&) = delete;

  const std::byte* begin() const { return data_; }
  const std::byte* end() const { return data_ + size_; }
  bool fits(size_t bytes) const { return size_ - used_ >= bytes; }
  std::byte* take(size_t bytes) { return data_ + std::exchange(used_, used_ + bytes); }

 private:
  std::byte* data_;
  size_t size_, used_ = 0;
};

using Chunks = std::vector<std::shared_ptr<Chunk>>;

size_t rounded(size_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

class Store : public std::enable_shared_from_this<Store> {
 public:
  Store(std::string folder, uint64_t limit) : folder_(std::move(folder)), limit_(limit), process_(::getpid()) {}

  /// Whether so many bytes more may stay in memory; they do until they are given back.
  bool hold(uint64_t bytes) {
    if (held_.fetch_add(bytes) + bytes <= limit_) return true;
    held_ -= bytes;
    return false;
  }
  void give_back(uint64_t bytes) { held_ -= bytes; }

  std::pair<std::byte*, std::shared_ptr<Chunk>> take(size_t bytes) {
    bytes = rounded(bytes);
    std::lock_guard<std::mutex> lock(mutex_);
    if (process_ != ::getpid()) {  // a child: what is free in the parent's file is the parent's
      current_ = nullptr;
      process_ = ::getpid();
    }
    if (!current_ || !current_->fits(bytes)) {
      current_ = std::make_shared<Chunk>(folder_, std::max(kChunk, bytes));
      chunks_[current_->begin()] = current_;
      std::erase_if(chunks_, [](const auto& each) { return each.second.expired(); });
    }
    return {current_->take(bytes), current_};
  }
  /// The file that this lies in, if any.
  std::shared_ptr<Chunk> file_of(const void* place) {
    std::lock_guard<std::mutex> lock(mutex_);
    auto next = chunks_.upper_bound(static_cast<const std::byte*>(place));
    if (next == chunks_.begin()) return nullptr;
    auto chunk = std::prev(next)->second.lock();
    return chunk && place < chunk->end() ? chunk : nullptr;
  }

 private:
  const std::string folder_;
  const uint64_t limit_;
  std::atomic<uint64_t> held_{0};
  std::mutex mutex_;
  pid_t process_;
  std::shared_ptr<Chunk> current_;
  std::map<const std::byte*, std::weak_ptr<Chunk>> chunks_;
};

std::mutex the_mutex;
std::shared_ptr<Store> the_store;
std::atomic<bool> is_open{false};

std::shared_ptr<Store> store() {
  if (!is_open.load(std::memory_order_relaxed)) return nullptr;
  std::lock_guard<std::mutex> lock(the_mutex);
  return the_store;
}

/// Keeps what stays in memory, and counts it.
struct Held {
  Held(std::shared_ptr<Store> by, uint64_t size, std::shared_ptr<const void> what)
      : store(std::move(by)), bytes(size), rest(std::move(what)) {}
  ~Held() { store->give_back(bytes); }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  std::shared_ptr<Store> store;
  uint64_t bytes;
  std::shared_ptr<const void> rest;
};

/// each(array) for all arrays of a forest.
template <class Each>
void each_array(Forest& f, Each&& each) {
  each(f.edge_begin), each(f.tail_begin), each(f.tails), each(f.word_begin), each(f.words), each(f.spans), each(f.dense);
  each(f.sparse_begin), each(f.sparse_ids), each(f.sparse_values), each(f.numbers);
}

}  // namespace

void open_array_store(const std::string& folder, uint64_t limit) {
  std::lock_guard<std::mutex> lock(the_mutex);
  the_store = std::make_shared<Store>(folder, limit);
  is_open = true;
}

void close_array_store() {
  std::lock_guard<std::mutex> lock(the_mutex);
  is_open = false;
  the_store = nullptr;
}

Forest kept(Forest forest) {
  const auto open = store();
  if (!open) return forest;
  auto chunks = std::make_shared<Chunks>();
  const auto keep = [&](std::shared_ptr<Chunk> chunk) {
    if (std::find(chunks->begin(), chunks->end(), chunk) == chunks->end()) chunks->push_back(std::move(chunk));
  };
  size_t bytes = 0;
  each_array(forest, [&](auto& array) {
    if (array.empty()) return;
    if (auto chunk = open->file_of(array.data()))
      keep(std::move(chunk));
    else
      bytes += rounded(array.size_bytes());
  });
  if (bytes == 0) return forest;
  if (open->hold(bytes)) {
    forest.owner = std::make_shared<Held>(open, bytes, std::move(forest.owner));
    return forest;
  }
  auto [place, mine] = open->take(bytes);
  each_array(forest, [&, at = place](auto& array) mutable {
    if (array.empty() || open->file_of(array.data())) return;
    std::memcpy(at, array.data(), array.size_bytes());
    using Number = typename std::remove_reference_t<decltype(array)>::element_type;
    const size_t size = array.size();
    array = {reinterpret_cast<Number*>(at), size};
    at += rounded(array.size_bytes());
  });
  keep(std::move(mine));
  forest.owner = std::move(chunks);
  return forest;
}

std::shared_ptr<double[]> kept_numbers(size_t count) {
  const auto open = store();
  const size_t bytes = count * sizeof(double);
  if (!open || bytes == 0) return std::make_shared<double[]>(count);
  if (open->hold(bytes)) {
    auto numbers = std::make_shared<double[]>(count);
    auto* data = numbers.get();
    return {std::make_shared<Held>(open, bytes, std::move(numbers)), data};
  }
  auto [place, chunk] = open->take(bytes);
  return {std::move(chunk), reinterpret_cast<double*>(place)};
}

}  // namespace hopefear
