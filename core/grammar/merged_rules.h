// Rules between Extractor::merged and write_grammar: the bytes of one part of the source sides.
//
// First a head for each shard, which says where its arrays begin; then, shard by shard, the arrays:
//   totals  (hash of a target side, count) for each of its rules, including dropped ones, by the part of the target's hash;
//   asked   for each rule that is kept, in the order of the stream, the hash of its target side, by the same parts. write_grammar
//           replaces it by the count of the target side over all rules;
//   stream  the sides in lexicographic order. A side: its length in words, number of rules, number of symbols, symbols, rules.
#pragma once
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace hopefear {

inline constexpr int kShards = 512;                       // of source sides, by their hashes
inline constexpr size_t kTargetParts = 64;                // of target sides
inline constexpr uint64_t kOneCount = uint64_t{1} << 36;  // counts are integers: this is 1
inline double as_count(uint64_t count) { return static_cast<double>(count) / static_cast<double>(kOneCount); }

/// The part, of `parts`, of a hash, by its high bits.
inline size_t part_of(uint64_t hash, size_t parts) { return (hash >> 32) * parts >> 32; }

struct MergedShard {
  struct Place {
    uint64_t begin, count;  // in bytes; of things
  };
  uint64_t rules;  // distinct ones, including dropped ones
  Place stream;    // 32-bit words
  std::array<Place, kTargetParts> totals, asked;

  void move(uint64_t by) {
    stream.begin += by;
    for (size_t t = 0; t < kTargetParts; ++t) totals[t].begin += by, asked[t].begin += by;
  }
};

/// A target side and its count over all rules.
struct Total {
  uint64_t hash = 0;
  uint64_t count = 0;
  bool empty() const { return hash == 0; }
};

/// The names of the columns.
inline std::vector<std::string> rule_columns(bool orientations) {
  std::vector<std::string> names{"phrase_ef", "phrase_fe", "lexical_ef", "lexical_fe", "count"};
  if (orientations) names.insert(names.end(), {"left", "right", "neutral"});
  return names;
}

// A rule in 32-bit words: hash of its target side and count (2 words each), phrase_ef, orientations if counted, lexical weights,
// target symbols | links << 16, target symbols, links (two per word).
class MergedRule {
 public:
  MergedRule(const uint32_t* p, size_t width) : p_(p), width_(width) {}
  uint64_t target_hash() const { return wide(p_); }
  uint64_t count() const { return wide(p_ + 2); }
  size_t target_size() const { return p_[width_ + 2] & 0xffff; }
  size_t links() const { return p_[width_ + 2] >> 16; }
  std::span<const int32_t> target() const { return {reinterpret_cast<const int32_t*>(p_ + width_ + 3), target_size()}; }
  /// Source and target position.
  std::pair<uint8_t, uint8_t> link(size_t k) const {
    const uint32_t pair = p_[width_ + 3 + target_size() + k / 2] >> (16 * (k % 2)) & 0xffff;
    return {static_cast<uint8_t>(pair >> 8), static_cast<uint8_t>(pair & 0xff)};
  }
  /// The columns, when the count of the target side over all rules is known.
  void fill(float* row, uint64_t total) const {
    const auto value = [this](size_t k) { return std::bit_cast<float>(p_[k]); };
    row[0] = value(4);
    row[1] = static_cast<float>(std::log(static_cast<double>(count()) / static_cast<double>(total)));
    row[2] = value(width_), row[3] = value(width_ + 1);
    row[4] = static_cast<float>(as_count(count()));
    for (size_t c = 5; c < width_; ++c) row[c] = value(c);
  }
  MergedRule next() const { return {p_ + width_ + 3 + target_size() + (links() + 1) / 2, width_}; }

 private:
  static uint64_t wide(const uint32_t* p) { return static_cast<uint64_t>(p[0]) << 32 | p[1]; }
  const uint32_t* p_;
  size_t width_;
};

}  // namespace hopefear
