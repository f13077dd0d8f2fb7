// A file that is read and written at any offset, by several threads at once.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace hopefear {

class RandomAccessFile {
 public:
  RandomAccessFile() = default;
  /// Opens an existing file or a new one. Throws InputError if that fails.
  static RandomAccessFile open(const std::string& path);
  static RandomAccessFile create(const std::string& path);
  /// A new file without a name, which disappears when it is closed, even by a crash.
  static RandomAccessFile temporary(const std::string& path);
  ~RandomAccessFile();
  RandomAccessFile(RandomAccessFile&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)), path_(std::move(other.path_)) {}
  RandomAccessFile& operator=(RandomAccessFile&& other) noexcept {
    std::swap(descriptor_, other.descriptor_), std::swap(path_, other.path_);
    return *this;
  }

  /// All of the bytes, or InputError.
  void read(uint64_t place, std::span<std::byte> bytes) const;
  void write(uint64_t place, std::span<const std::byte> bytes) const;
  void resize(uint64_t size) const;

 private:
  RandomAccessFile(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}
  static RandomAccessFile opened(const std::string& path, int flags);

  int descriptor_ = -1;
  std::string path_;
};

}  // namespace hopefear
