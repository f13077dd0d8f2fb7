// Arrays larger than memory. While a store is open, the arrays of forests and of language model estimation take at most a given amount
// of memory; all others are in unnamed memory-mapped files. The system keeps the pages in use as far as there is room, and code reads
// and writes them like any other memory.
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
  /// Opens a store for the whole process: `limit` bytes of memory, then files in this folder.
  static void open(const std::string& folder, uint64_t limit);
  /// Closes it: new arrays are in memory again. Arrays in files stay as long as they are used.
  static void close();
  /// The open store, or null.
  static std::shared_ptr<ArrayStore> now();

  class Chunk;  // a mapped file
  ArrayStore(std::string folder, uint64_t limit);

  /// Whether this many more bytes may be in memory; they count until they are given back.
  bool hold(uint64_t bytes);
  void give_back(uint64_t bytes) { held_ -= bytes; }
  /// Zeroed space in a file, and its owner.
  std::pair<std::byte*, std::shared_ptr<Chunk>> take(size_t bytes);
  /// The file that contains this address, or null.
  std::shared_ptr<Chunk> file_of(const void* place);
  /// A separate mapping, to be unmapped by the caller.
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

/// Owns an array in memory, and counts its bytes.
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

/// Uninitialised space for an array, in memory or in a file.
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
