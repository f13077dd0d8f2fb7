// How the native file of forests is laid out: header, sections and their checksums, for its writer and its reader.
#pragma once
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace hopefear {

inline constexpr uint32_t kVersion = 1;
inline constexpr size_t kAlign = 64;

/// Four lanes of 64 bits. Each step is a bijection of its input word, so damage to a single word is always detected.
class Checksum {
 public:
  void update(const void* data, size_t size) {
    if (size == 0) return;
    const auto* p = static_cast<const unsigned char*>(data);
    total_ += size;
    if (held_ > 0) {
      const size_t take = std::min(size, block_.size() - held_);
      std::memcpy(block_.data() + held_, p, take);
      held_ += take;
      p += take;
      size -= take;
      if (held_ < block_.size()) return;
      step(block_.data());
      held_ = 0;
    }
    for (; size >= block_.size(); size -= block_.size(), p += block_.size()) step(p);
    std::memcpy(block_.data(), p, size);
    held_ = size;
  }
  uint64_t value() {
    if (held_ > 0) {
      std::memset(block_.data() + held_, 0, block_.size() - held_);
      step(block_.data());
    }
    uint64_t h = mix(total_ + 0x9e3779b97f4a7c15ULL);
    for (const uint64_t lane : lanes_) h = mix(h ^ mix(lane));
    return h;
  }
  static uint64_t of(const void* data, size_t size) {
    Checksum c;
    c.update(data, size);
    return c.value();
  }

 private:
  void step(const unsigned char* p) {
    for (size_t k = 0; k < 4; ++k) {
      uint64_t word;
      std::memcpy(&word, p + 8 * k, 8);
      lanes_[k] = std::rotl(lanes_[k] ^ (word * 0x9fb21c651e98df25ULL), 29) * 0xff51afd7ed558ccdULL + 0x52dce729;
    }
  }
  static uint64_t mix(uint64_t x) {
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdULL;
    x ^= x >> 29;
    x *= 0xc4ceb9fe1a85ec53ULL;
    return x ^ (x >> 32);
  }
  std::array<uint64_t, 4> lanes_{1, 2, 3, 4};
  std::array<unsigned char, 32> block_{};
  size_t held_ = 0;
  uint64_t total_ = 0;
};

struct Header {
  char magic[16];
  uint32_t version, section_count;
  uint64_t file_size;
  uint64_t table_checksum;
  uint32_t dense_width, number_width;
  uint64_t sentences;
  uint64_t checksum;  // of the 56 bytes before
};
static_assert(sizeof(Header) == 64);

struct Section {
  uint32_t kind, element_size;
  uint64_t offset, bytes;
  uint64_t checksum;
};
static_assert(sizeof(Section) == 32);

enum Kind : uint32_t {
  word_ends = 1,
  word_text,
  feature_ends,
  feature_text,
  number_ends,
  number_text,
  id_ends,
  id_text,
  source_ends,
  source_text,
  index,
  edge_begin,
  tail_begin,
  tails,
  word_begin,
  words,
  spans,
  dense,
  sparse_begin,
  sparse_ids,
  sparse_values,
  numbers,
  reference_ends,
  reference_words,
  kinds_end
};
inline constexpr uint32_t kSections = kinds_end - 1;
inline constexpr uint32_t kElement[kinds_end] = {0, 8, 1, 8, 1, 8, 1, 8, 1, 8, 1, 8, 4, 4, 4, 4, 4, 4, 8, 4, 4, 8, 8, 8, 4};
inline constexpr const char* kName[kinds_end] = {"",
                                                 "word ends",
                                                 "words' text",
                                                 "feature ends",
                                                 "features' text",
                                                 "number ends",
                                                 "numbers' text",
                                                 "id ends",
                                                 "ids' text",
                                                 "source ends",
                                                 "sources' text",
                                                 "index",
                                                 "edge_begin",
                                                 "tail_begin",
                                                 "tails",
                                                 "word_begin",
                                                 "words",
                                                 "spans",
                                                 "dense",
                                                 "sparse_begin",
                                                 "sparse_ids",
                                                 "sparse_values",
                                                 "numbers",
                                                 "reference ends",
                                                 "reference words"};

/// An entry of the index, which has one more at the end: how much of each array precedes the sentence. The offset arrays have
/// one number more than nodes or edges for each sentence, so edge_begin starts at nodes + i, tail_begin and word_begin at edges + i.
enum Column { c_nodes, c_edges, c_tails, c_words, c_spans, c_sparse_begin, c_sparse, c_references, kColumns };

}  // namespace hopefear
