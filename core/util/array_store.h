// Arrays larger than memory. While a store is open, the arrays of forests and those that language models are estimated with take so much
// memory at most; what is made beyond that lives in mapped files without a name. The system keeps the pages that are in use, as far as
// there is room, and everybody reads and writes them like any other memory.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace hopefear {

class ArrayStore {
 public:
  /// From now on, for the whole process: `limit` bytes of memory, then files in this folder.
  static void open(const std::string& folder, uint64_t limit);
  /// What is made from now on lives in memory. Arrays in files stay as long as somebody uses them.
  static void close();
  /// The one that is open, or null.
  static std::shared_ptr<ArrayStore> now();

  class Chunk;  // a mapped file
  ArrayStore(std::string folder, uint64_t limit);

  /// Whether so many bytes more may stay in memory; they count until they are given back.
  bool hold(uint64_t bytes);
  void give_back(uint64_t bytes) { held_ -= bytes; }
  /// Room in a file, zero at first, and what keeps it.
  std::pair<std::byte*, std::shared_ptr<Chunk>> take(size_t bytes);
  /// The file that this lies in, or null.
  std::shared_ptr<Chunk> file_of(const void* place);
  /// A mapping of its own, to be unmapped by the caller.
  void* map(size_t bytes) const;

 private:
  const std::string folder_;
  const uint64_t limit_;
  std::atomic<uint64_t> held_{0};
  std::mutex mutex_;
  int process_;
  std::shared_ptr<Chunk> current_;
  std::map<const std::byte*, std::weak_ptr<Chunk>> chunks_;
};

/// Keeps what stays in memory, and counts it.
struct Held {
  Held(std::shared_ptr<ArrayStore> by, uint64_t size, std::shared_ptr<const void> what)
      : store(std::move(by)), bytes(size), rest(std::move(what)) {}
  ~Held() { store->give_back(bytes); }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  std::shared_ptr<ArrayStore> store;
  uint64_t bytes;
  std::shared_ptr<const void> rest;
};

/// Room for an array in memory, whatever stands there, or in a file.
std::shared_ptr<std::byte[]> kept_bytes(size_t bytes);
template <class T>
std::shared_ptr<T[]> kept_array(size_t count) {
  const auto bytes = kept_bytes(count * sizeof(T));
  return {bytes, reinterpret_cast<T*>(bytes.get())};
}

/// The same for vectors. Small ones are never in files.
void* allocate_kept(size_t bytes);
void free_kept(void* place, size_t bytes) noexcept;

template <class T>
struct KeptAllocator {
  using value_type = T;
  KeptAllocator() = default;
  template <class U>
  KeptAllocator(const KeptAllocator<U>&) {}
  T* allocate(size_t count) { return static_cast<T*>(allocate_kept(count * sizeof(T))); }
  void deallocate(T* place, size_t count) noexcept { free_kept(place, count * sizeof(T)); }
  bool operator==(const KeptAllocator&) const = default;
};
template <class T>
using KeptVector = std::vector<T, KeptAllocator<T>>;

}  // namespace hopefear
