// Strings and the dense integers that stand for them: words in one vocabulary, feature names in another.
#pragma once
#include <cstdint>
#include <cstring>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace hopefear {

class Vocab {
 public:
  Vocab() { rehash(1 << 10); }
  Vocab(const Vocab&) = delete;
  Vocab& operator=(const Vocab&) = delete;

  /// The id of a string, a new one if it was not known.
  int32_t add(std::string_view text) {
    const uint64_t hash = hash_of(text);
    const size_t slot = find_slot(text, hash);
    if (slots_[slot].id >= 0) return slots_[slot].id;
    const auto id = static_cast<int32_t>(texts_.size());
    texts_.emplace_back(text);
    slots_[slot] = {hash, id};
    if (texts_.size() * 2 > slots_.size()) rehash(slots_.size() * 2);
    return id;
  }

  /// The id of a string, or -1.
  int32_t find(std::string_view text) const { return slots_[find_slot(text, hash_of(text))].id; }

  const std::string& operator[](int32_t id) const { return texts_[id]; }
  void clear() {
    texts_.clear();
    slots_.clear();
    rehash(1 << 10);
  }
  int32_t size() const { return static_cast<int32_t>(texts_.size()); }

 private:
  struct Slot {
    uint64_t hash;
    int32_t id;
  };

  static uint64_t hash_of(std::string_view text) {
    uint64_t hash = 0x9e3779b97f4a7c15ULL ^ text.size();
    const char* p = text.data();
    size_t left = text.size();
    for (; left >= 8; left -= 8, p += 8) {
      uint64_t block;
      std::memcpy(&block, p, 8);
      hash = mix(hash ^ block);
    }
    uint64_t block = 0;
    std::memcpy(&block, p, left);
    return mix(hash ^ block);
  }
  static uint64_t mix(uint64_t x) {
    x *= 0xff51afd7ed558ccdULL;
    x ^= x >> 32;
    x *= 0xc4ceb9fe1a85ec53ULL;
    return x ^ (x >> 29);
  }
  size_t find_slot(std::string_view text, uint64_t hash) const {
    const size_t mask = slots_.size() - 1;
    size_t slot = hash & mask;
    while (slots_[slot].id >= 0 && (slots_[slot].hash != hash || texts_[slots_[slot].id] != text)) slot = (slot + 1) & mask;
    return slot;
  }
  void rehash(size_t size) {
    std::vector<Slot> old(size, Slot{0, -1});
    old.swap(slots_);
    for (const Slot& s : old) {
      if (s.id < 0) continue;
      size_t slot = s.hash & (size - 1);
      while (slots_[slot].id >= 0) slot = (slot + 1) & (size - 1);
      slots_[slot] = s;
    }
  }

  std::deque<std::string> texts_;  // a deque: references stay good while it grows
  std::vector<Slot> slots_;
};

}  // namespace hopefear
