// The hash table of the core: open addressing with linear probing in a power of two of slots.
//
// A slot is any type whose default value is empty and whose `bool empty() const` says so. The table knows neither keys nor values:
// the caller gives the hash of the entry and a predicate `same(slot)`, so that a slot may hold a key and a value, or only
// an index of something that is stored elsewhere:
//
//   struct Slot {                                   // an index of states_
//     int32_t index = -1;
//     bool empty() const { return index < 0; }
//   };
//   HashTable<Slot> table_;
//   auto [slot, added] = table_.insert(hash(state), [&](Slot s) { return states_[s.index] == state; },
//                                      [&](Slot s) { return hash(states_[s.index]); });
//   if (added) slot->index = new_state(state);      // at once: the table must see that the slot is taken
//
// The low bits of a hash choose the slot, so they have to be mixed well: see hash_key. Slots are visited in the order of the table,
// which depends on the hashes, on the order of insertion and on the capacity; nothing that a user sees may depend on it.
//
// Tables of other shapes share probe(): the vocabulary in a file of a language model, and FeatureTable, which many threads fill.
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace hopefear {

/// The hash of a 64-bit key whose bits may be as regular as two small numbers.
inline uint64_t hash_key(uint64_t key) {
  key *= 0x9e3779b97f4a7c15ULL;
  return key ^ (key >> 32);
}

/// The first slot from the home of `hash` on, in a ring of mask + 1 slots, for which stop(slot) holds. There must be one.
template <class Slot, class Stop>
Slot* probe(Slot* slots, size_t mask, uint64_t hash, Stop&& stop) {
  size_t i = hash & mask;
  while (!stop(slots[i])) i = (i + 1) & mask;
  return slots + i;
}

/// At most kEighths / 8 of the slots are in use.
template <class Slot, size_t kEighths = 4>
class HashTable {
 public:
  /// With room for `expected` entries before it grows.
  explicit HashTable(size_t expected = 0) { reset(expected); }

  /// Empties the table and makes room for `expected` entries.
  void reset(size_t expected = 0) {
    slots_.assign(std::bit_ceil(std::max<size_t>(1, expected * 8 / kEighths)), Slot{});
    size_ = 0;
  }

  /// The slot for which same(slot) holds, or an empty one. Only slots in use are shown to `same`.
  template <class Same>
  const Slot& find(uint64_t hash, Same&& same) const {
    return *probe(slots_.data(), mask(), hash, [&](const Slot& slot) { return slot.empty() || same(slot); });
  }

  /// The slot for which same(slot) holds, and false; or an empty one that the caller fills at once, and true. hash_of(slot) is called
  /// for slots in use when the table grows. Pointers to slots are valid until the next insertion.
  template <class Same, class HashOf>
  std::pair<Slot*, bool> insert(uint64_t hash, Same&& same, HashOf&& hash_of) {
    Slot* slot = probe(slots_.data(), mask(), hash, [&](const Slot& s) { return s.empty() || same(s); });
    if (!slot->empty()) return {slot, false};
    if (++size_ * 8 > slots_.size() * kEighths) {
      grow(hash_of);
      slot = vacancy(hash);
    }
    return {slot, true};
  }

  size_t size() const { return size_; }
  /// All slots, including empty ones.
  std::span<const Slot> slots() const { return slots_; }
  void prefetch(uint64_t hash) const { __builtin_prefetch(slots_.data() + (hash & mask())); }

  /// The slots in use, in the order of the table, which is empty afterwards.
  std::vector<Slot> take() {
    std::vector<Slot> taken(1);
    taken.swap(slots_);
    size_ = 0;
    std::erase_if(taken, [](const Slot& slot) { return slot.empty(); });
    return taken;
  }

 private:
  size_t mask() const { return slots_.size() - 1; }
  Slot* vacancy(uint64_t hash) {
    return probe(slots_.data(), mask(), hash, [](const Slot& slot) { return slot.empty(); });
  }
  template <class HashOf>
  [[gnu::noinline]] void grow(HashOf&& hash_of) {
    std::vector<Slot> old(std::max<size_t>(32, slots_.size() * 2));
    old.swap(slots_);
    for (Slot& slot : old)
      if (!slot.empty()) *vacancy(hash_of(slot)) = std::move(slot);
  }

  std::vector<Slot> slots_;
  size_t size_ = 0;  // slots in use
};

}  // namespace hopefear
