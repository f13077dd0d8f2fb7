// Weights of tens of millions of features by 64-bit keys: open addressing, 16 bytes per slot, at most three quarters full.
//
// It is not a HashTable, because many threads insert at once: a slot is taken by one atomic exchange of its key, the table never moves
// (callers ask has_room() first and keep the numbers of slots), and its memory is in huge pages. The probing is the same.
//
// A feature is identified by its key alone: names are not stored. Among 35 million features the chance that any two share a key is
// about 3e-5.
#pragma once
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "util/hash_table.h"
#include "util/memory_map.h"

namespace hopefear {

class FeatureTable {
 public:
  static constexpr size_t kNone = ~size_t{0};

  explicit FeatureTable(size_t expected = 0) {
    bits_ = std::max(10, static_cast<int>(std::bit_width(expected + expected / 3 + 1)));
    memory_ = MemoryMap::anonymous((size_t{1} << bits_) * sizeof(Slot));
    slots_ = reinterpret_cast<Slot*>(memory_->data());
  }

  size_t capacity() const { return size_t{1} << bits_; }
  size_t size() const { return size_.load(std::memory_order_relaxed); }
  /// Whether there is room for `more` keys without growing.
  bool has_room(size_t more) const { return size() + more <= capacity() / 4 * 3; }

  void prefetch(uint64_t key) const { __builtin_prefetch(slots_ + home(key)); }
  /// The slot of a key, or kNone.
  size_t find(uint64_t key) const {
    const Slot* slot = probe(slots_, capacity() - 1, home(key), [key](const Slot& s) { return s.key == key || s.key == 0; });
    return slot->key == key ? static_cast<size_t>(slot - slots_) : kNone;
  }
  double get(uint64_t key) const {
    const size_t i = find(key);
    return i == kNone ? 0.0 : slots_[i].weight;
  }
  /// The slot of a key, a new one with weight 0 if there is none. Threads may call it concurrently while there is room.
  size_t insert(uint64_t key) {
    const Slot* slot = probe(slots_, capacity() - 1, home(key), [&](Slot& s) {
      std::atomic_ref<uint64_t> here(s.key);
      uint64_t found = here.load(std::memory_order_relaxed);
      if (found == 0 && here.compare_exchange_strong(found, key, std::memory_order_relaxed)) {
        size_.fetch_add(1, std::memory_order_relaxed);
        return true;
      }
      return found == key;
    });
    return slot - slots_;
  }
  void set(uint64_t key, double weight) { slots_[insert(key)].weight = weight; }

  double& weight(size_t slot) { return slots_[slot].weight; }
  void prefetch_slot(size_t slot) const { __builtin_prefetch(slots_ + slot); }
  double weight(size_t slot) const { return slots_[slot].weight; }
  /// The key of a slot; 0 if it is empty.
  uint64_t key(size_t slot) const { return slots_[slot].key; }

 private:
  struct Slot {
    uint64_t key;
    double weight;
  };
  size_t home(uint64_t key) const { return key >> (64 - bits_); }

  int bits_;
  std::shared_ptr<MemoryMap> memory_;
  Slot* slots_;
  std::atomic<size_t> size_{0};
};

}  // namespace hopefear
