// Maps 64-bit keys to numbers.
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>

#include "util/hash_table.h"

namespace hopefear {

/// Two numbers of 32 bits as a key.
inline uint64_t pair_key(uint32_t first, uint32_t second) { return static_cast<uint64_t>(first) << 32 | second; }

template <class Id>
class KeyMap {
 public:
  static constexpr Id kMissing = static_cast<Id>(-1);

  /// With room for `expected` keys before it grows.
  explicit KeyMap(size_t expected = 0) : table_(expected) {}

  /// The id of a key, or kMissing.
  Id find(uint64_t key) const {
    return table_.find(hash_key(key), [key](const Slot& slot) { return slot.key == key; }).id;
  }
  /// The id of a key; a new key gets this id.
  Id add(uint64_t key, Id id) {
    const auto [slot, added] = table_.insert(
        hash_key(key), [key](const Slot& s) { return s.key == key; }, [](const Slot& s) { return hash_key(s.key); });
    if (added) *slot = {key, id};
    return slot->id;
  }
  /// The id of a key; a new key gets the number of keys before it.
  Id add(uint64_t key) { return add(key, size()); }

  Id size() const { return static_cast<Id>(table_.size()); }
  bool empty() const { return table_.size() == 0; }
  /// Without keys, and with room for `expected` of them.
  void clear(size_t expected = 0) { table_.reset(expected); }

 private:
  struct Slot {
    uint64_t key = 0;
    Id id = kMissing;
    bool empty() const { return id == kMissing; }
  };
  HashTable<Slot> table_;
};

using IdMap = KeyMap<int32_t>;

}  // namespace hopefear
