#include "util/random_access_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "util/error.h"

namespace hopefear {
namespace {

InputError failure(const std::string& path, const char* what) {
  const std::string cure = errno == ENOSPC ? "the disk is full. Make room and try again" : std::strerror(errno);
  return input_error(path, 0, std::string(what) + ": " + cure);
}

}  // namespace

RandomAccessFile RandomAccessFile::opened(const std::string& path, int flags) {
  const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
  if (descriptor < 0) throw failure(path, "cannot be opened");
  return {descriptor, path};
}

RandomAccessFile RandomAccessFile::open(const std::string& path) { return opened(path, O_RDWR); }
RandomAccessFile RandomAccessFile::create(const std::string& path) { return opened(path, O_RDWR | O_CREAT | O_TRUNC); }
RandomAccessFile RandomAccessFile::temporary(const std::string& path) {
  RandomAccessFile file = create(path);
  ::unlink(path.c_str());
  return file;
}

RandomAccessFile::~RandomAccessFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void RandomAccessFile::read(uint64_t place, std::span<std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t got = ::pread(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(place));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw failure(path_, "cannot be read");
    if (got == 0) throw input_error(path_, 0, "is cut off. Is the disk full? Build again");
    place += static_cast<uint64_t>(got);
    bytes = bytes.subspan(static_cast<size_t>(got));
  }
}

void RandomAccessFile::write(uint64_t place, std::span<const std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t put = ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(place));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) throw failure(path_, "cannot be written");
    place += static_cast<uint64_t>(put);
    bytes = bytes.subspan(static_cast<size_t>(put));
  }
}

void RandomAccessFile::resize(uint64_t size) const {
  if (::ftruncate(descriptor_, static_cast<off_t>(size)) != 0) throw failure(path_, "cannot be written");
}

}  // namespace hopefear
