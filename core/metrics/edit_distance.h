// Levenshtein distance to a fixed reference, 64 reference words per step (Myers 1999, in Hyyro's form of 2003).
//
// Symbols are small integers; symbol 0 is every word that the reference does not have.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace hopefear {

class EditDistance {
 public:
  EditDistance(std::span<const int32_t> reference, int32_t symbols)
      : length_(static_cast<int32_t>(reference.size())),
        blocks_((reference.size() + 63) / 64),
        top_(1ULL << ((reference.size() + 63) % 64)),
        masks_(blocks_ * symbols, 0) {
    for (size_t j = 0; j < reference.size(); ++j) masks_[reference[j] * blocks_ + j / 64] |= 1ULL << (j % 64);
  }

  int32_t operator()(std::span<const int32_t> words) {
    start();
    for (int32_t word : words) step(word);
    return distance_;
  }

  /// The distance of `words`; remembers what after() needs.
  int32_t remember(std::span<const int32_t> words) {
    start();
    saved_.assign(words.size() + 1, distance_);
    saved_columns_.resize((words.size() + 1) * blocks_);
    for (size_t i = 0; i < words.size(); ++i) {
      for (size_t b = 0; b < blocks_; ++b) saved_columns_[i * blocks_ + b] = columns_[b];
      step(words[i]);
      saved_[i + 1] = distance_;
    }
    for (size_t b = 0; b < blocks_; ++b) saved_columns_[words.size() * blocks_ + b] = columns_[b];
    return distance_;
  }
  /// The distance of words that differ from the remembered ones, which are as many, only in [from, to).
  int32_t after(std::span<const int32_t> words, size_t from, size_t to) {
    for (size_t b = 0; b < blocks_; ++b) columns_[b] = saved_columns_[from * blocks_ + b];
    distance_ = saved_[from];
    for (size_t i = from; i < to; ++i) step(words[i]);
    bool same = true;
    for (size_t b = 0; b < blocks_; ++b) same = same && columns_[b] == saved_columns_[to * blocks_ + b];
    if (same) return distance_ + saved_[words.size()] - saved_[to];
    for (size_t i = to; i < words.size(); ++i) step(words[i]);
    return distance_;
  }

 private:
  struct Column {
    uint64_t plus, minus;  // positions at which the column of the matrix goes up or down by one
    bool operator==(const Column&) const = default;
  };

  void start() {
    columns_.assign(blocks_, {~0ULL, 0});
    distance_ = length_;
  }
  void step(int32_t word) {
    if (length_ == 0) {
      ++distance_;
      return;
    }
    const uint64_t* mask = masks_.data() + word * blocks_;
    uint64_t carry_plus = 1, carry_minus = 0;  // the first row goes up by one
    for (size_t b = 0; b < blocks_; ++b) {
      auto& [plus, minus] = columns_[b];
      const uint64_t match = mask[b], vertical = match | minus, entering = match | carry_minus;
      const uint64_t diagonal = (((entering & plus) + plus) ^ plus) | entering;
      uint64_t up = minus | ~(diagonal | plus), down = plus & diagonal;
      const uint64_t last = b + 1 == blocks_ ? top_ : 1ULL << 63;
      const uint64_t out_plus = (up & last) != 0, out_minus = (down & last) != 0;
      up = up << 1 | carry_plus;
      down = down << 1 | carry_minus;
      plus = down | ~(vertical | up);
      minus = up & vertical;
      carry_plus = out_plus;
      carry_minus = out_minus;
    }
    distance_ += static_cast<int32_t>(carry_plus) - static_cast<int32_t>(carry_minus);
  }

  int32_t length_, distance_ = 0;
  size_t blocks_;
  uint64_t top_;  // the last reference word, in the last block
  std::vector<uint64_t> masks_;
  std::vector<Column> columns_, saved_columns_;
  std::vector<int32_t> saved_;
};

}  // namespace hopefear
