#include "util/memory_map.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>

#include "util/error.h"

namespace hopefear {

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
  return std::shared_ptr<MemoryMap>(new MemoryMap(static_cast<std::byte*>(data), size));
}

std::shared_ptr<MemoryMap> MemoryMap::anonymous(size_t bytes) {
  void* data = nullptr;
  if (bytes > 0) data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
  if (bytes > 0) ::madvise(data, bytes, MADV_HUGEPAGE);
#endif
  return std::shared_ptr<MemoryMap>(new MemoryMap(static_cast<std::byte*>(data), bytes));
}

MemoryMap::~MemoryMap() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

}  // namespace hopefear
