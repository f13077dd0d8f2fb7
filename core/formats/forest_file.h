// The native file of forests: little-endian, version 1, mapped into memory and used in place.
//
// A header of 64 bytes, a table of sections, the sections; each section is one array of the whole pool, begins at a multiple
// of 64 bytes and has a checksum, and so have the header and the table. docs/formats.md has the layout.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "forest/pool.h"

namespace hopefear {

inline constexpr char kForestMagic[17] = "\x89hopefear\r\n\x1a\n\0\0";

/// Writes a pool (lists or forests) to a file that is open for writing and can seek. Throws InputError for errors of the
/// operating system; `file` is for messages.
void write_forest_file(const Pool& pool, int descriptor, const std::string& file);

/// Writes the same file sentence by sentence, in constant memory. Until finish(), each array grows in a file without a
/// name in `folder`.
class ForestFileWriter {
 public:
  ForestFileWriter(int descriptor, std::string file, std::string folder);
  ~ForestFileWriter();
  /// Pools that share their vocabularies, which may grow between calls.
  void add(const Pool& pool);
  void finish();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// A pool over the bytes of a file; its forests are views of them and keep `owner` alive. With `verify` every checksum is
/// computed; without it a damaged file may give wrong numbers, but never a crash.
Pool forest_file_pool(const char* bytes, size_t size, std::shared_ptr<const void> owner, const std::string& file, bool verify);

/// Maps a file and makes a pool of it.
Pool read_forest_file(const std::string& path, const std::string& file, bool verify);

}  // namespace hopefear
