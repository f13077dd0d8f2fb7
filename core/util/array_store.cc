#include "util/array_store.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <unordered_map>

#include "util/error.h"

namespace hopefear {
namespace {

constexpr size_t kChunk = size_t{1} << 25;
constexpr size_t kAlign = 64;
constexpr size_t kSmall = size_t{1} << 16;  // vectors of fewer bytes stay in memory

std::mutex the_mutex;
std::shared_ptr<ArrayStore> the_store;
std::atomic<bool> is_open{false};

InputError failure(const std::string& folder, int reason) {
  const std::string cure = reason == ENOSPC ? "the disk is full. Make room, or allow more memory" : std::strerror(reason);
  return input_error(folder, 0, "a temporary file cannot be made: " + cure);
}

}  // namespace

/// The file has no name, so it disappears with its last user even after a crash.
class ArrayStore::Chunk {
 public:
  Chunk(std::byte* data, size_t bytes) : data_(data), size_(bytes) {}
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

ArrayStore::ArrayStore(std::string folder, uint64_t limit) : folder_(std::move(folder)), limit_(limit), process_(::getpid()) {}

void ArrayStore::open(const std::string& folder, uint64_t limit) {
  std::lock_guard<std::mutex> lock(the_mutex);
  the_store = std::make_shared<ArrayStore>(folder, limit);
  is_open = true;
}

void ArrayStore::close() {
  std::lock_guard<std::mutex> lock(the_mutex);
  is_open = false;
  the_store = nullptr;
}

std::shared_ptr<ArrayStore> ArrayStore::now() {
  if (!is_open.load(std::memory_order_relaxed)) return nullptr;
  std::lock_guard<std::mutex> lock(the_mutex);
  return the_store;
}

bool ArrayStore::hold(uint64_t bytes) {
  if (held_.fetch_add(bytes) + bytes <= limit_) return true;
  held_ -= bytes;
  return false;
}

void* ArrayStore::map(size_t bytes) const {
  std::string path = folder_ + "/.arrays.arXXXXXX.hopefear.part";  // cleaned up later if the process is killed between two calls
  const int descriptor = ::mkstemps(path.data(), 14);
  if (descriptor < 0) throw failure(folder_, errno);
  ::unlink(path.c_str());
  ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
#ifdef __APPLE__
  int reason = ::ftruncate(descriptor, static_cast<off_t>(bytes)) == 0 ? 0 : errno;
#else
  int reason =
      ::posix_fallocate(descriptor, 0, static_cast<off_t>(bytes));  // allocate now: a full disk would be a bus error later
#endif
  void* data = MAP_FAILED;
  if (reason == 0) {
    data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    reason = errno;
  }
  ::close(descriptor);
  if (data == MAP_FAILED) throw failure(folder_, reason);
  return data;
}

std::pair<std::byte*, std::shared_ptr<ArrayStore::Chunk>> ArrayStore::take(size_t bytes) {
  bytes = (bytes + kAlign - 1) / kAlign * kAlign;
  std::lock_guard<std::mutex> lock(mutex_);
  if (process_ != ::getpid()) {  // a child: free space in the parent's file belongs to the parent
    current_ = nullptr;
    process_ = ::getpid();
  }
  const auto make = [&](size_t size) {
    auto chunk = std::make_shared<Chunk>(static_cast<std::byte*>(map(size)), size);
    std::erase_if(chunks_, [](const auto& each) { return each.second.expired(); });
    chunks_[chunk->begin()] = chunk;
    return chunk;
  };
  if (bytes > kChunk / 4) {  // large arrays have their own file, which is freed with them
    auto own = make(bytes);
    return {own->take(bytes), own};
  }
  if (!current_ || !current_->fits(bytes)) current_ = make(kChunk);
  return {current_->take(bytes), current_};
}

std::shared_ptr<ArrayStore::Chunk> ArrayStore::file_of(const void* place) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto next = chunks_.upper_bound(static_cast<const std::byte*>(place));
  if (next == chunks_.begin()) return nullptr;
  auto chunk = std::prev(next)->second.lock();
  return chunk && place < chunk->end() ? chunk : nullptr;
}

std::shared_ptr<std::byte[]> kept_bytes(size_t bytes) {
  const auto store = ArrayStore::now();
  const bool in_memory = !store || store->hold(bytes);
  if (!in_memory) {
    auto [place, chunk] = store->take(bytes);
    return {std::move(chunk), place};
  }
  std::shared_ptr<std::byte[]> memory(new std::byte[bytes]);
  if (!store) return memory;
  auto* place = memory.get();
  return {std::make_shared<Held>(store, bytes, std::move(memory)), place};
}

namespace {

/// The allocation of vectors that were made while a store was open.
struct Vectors {
  std::mutex mutex;
  std::unordered_map<void*, std::shared_ptr<std::byte[]>> places;
  std::atomic<size_t> count{0};
};
Vectors& vectors() {
  static Vectors all;
  return all;
}

}  // namespace

void* allocate_kept(size_t bytes) {
  if (bytes < kSmall || !is_open.load(std::memory_order_relaxed)) return ::operator new(bytes);
  auto place = kept_bytes(bytes);
  void* data = place.get();
  Vectors& all = vectors();
  std::lock_guard<std::mutex> lock(all.mutex);
  all.places.emplace(data, std::move(place));
  ++all.count;
  return data;
}

void free_kept(void* place, size_t bytes) noexcept {
  Vectors& all = vectors();
  if (bytes >= kSmall && all.count.load() > 0) {
    std::lock_guard<std::mutex> lock(all.mutex);
    if (all.places.erase(place) > 0) {
      --all.count;
      return;
    }
  }
  ::operator delete(place);
}

}  // namespace hopefear
