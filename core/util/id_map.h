// Keys of 64 bits and the dense integers that stand for them. Open addressing; made to be small and thrown away.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace hopefear {

class IdMap {
 public:
  explicit IdMap(size_t expected = 16) {
    size_t size = 32;
    while (size < 2 * expected) size *= 2;
    slots_.assign(size, {0, -1});
  }

  /// The id of a key, a new one if it was not known.
  int32_t add(uint64_t key) {
    const size_t slot = find_slot(key);
    if (slots_[slot].id >= 0) return slots_[slot].id;
    const int32_t id = size_++;
    slots_[slot] = {key, id};
    if (static_cast<size_t>(size_) * 2 > slots_.size()) grow();
    return id;
  }
  /// The id of a key, or -1.
  int32_t find(uint64_t key) const { return slots_[find_slot(key)].id; }
  int32_t size() const { return size_; }

 private:
  struct Slot {
    uint64_t key;
    int32_t id;
  };
  size_t find_slot(uint64_t key) const {
    const size_t mask = slots_.size() - 1;
    size_t slot = ((key * 0x9e3779b97f4a7c15ULL) >> 29) & mask;
    while (slots_[slot].id >= 0 && slots_[slot].key != key) slot = (slot + 1) & mask;
    return slot;
  }
  void grow() {
    std::vector<Slot> old(slots_.size() * 2, Slot{0, -1});
    old.swap(slots_);
    for (const Slot& s : old)
      if (s.id >= 0) slots_[find_slot(s.key)] = s;
  }

  int32_t size_ = 0;
  std::vector<Slot> slots_;
};

inline uint64_t pair_key(uint32_t first, uint32_t second) { return static_cast<uint64_t>(first) << 32 | second; }

}  // namespace hopefear
