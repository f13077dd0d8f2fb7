// A block of memory: a file mapped read-only, or anonymous pages aligned for caches and huge pages.
#pragma once
#include <cstddef>
#include <memory>
#include <string>

namespace hopefear {

class MemoryMap {
 public:
  /// The whole file, read-only and shared with other processes. Throws InputError when it cannot be read.
  static std::shared_ptr<MemoryMap> file(const std::string& path);
  /// Zeroed, writable, in huge pages if the system has them: random look-ups then have fewer TLB misses.
  static std::shared_ptr<MemoryMap> anonymous(size_t bytes);
  ~MemoryMap();
  MemoryMap(const MemoryMap&) = delete;
  MemoryMap& operator=(const MemoryMap&) = delete;

  std::byte* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  MemoryMap(std::byte* data, size_t size) : data_(data), size_(size) {}
  std::byte* data_;
  size_t size_;
};

}  // namespace hopefear
