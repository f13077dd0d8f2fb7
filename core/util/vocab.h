// Maps strings to dense integers and back: words in one vocabulary, feature names in another.
//
// Threads. While one thread adds strings, others may call size() and read the strings of ids that they have: strings never move, and
// a string is complete before its id is published. Everything else, including find(), is for one thread at a time; in Python that is
// the thread that holds the GIL.
#pragma once
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "util/hash_table.h"

namespace hopefear {

class Vocab {
  struct Slot {
    uint64_t hash = 0;
    int32_t id = -1;
    bool empty() const { return id < 0; }
  };
  static constexpr size_t kRoom = 512;
  auto is(std::string_view text, uint64_t hash) const {
    return [this, text, hash](const Slot& slot) { return slot.hash == hash && (*this)[slot.id] == text; };
  }

 public:
  Vocab() = default;
  ~Vocab() { free_texts(); }
  Vocab(const Vocab&) = delete;
  Vocab& operator=(const Vocab&) = delete;

  /// The id of a string, a new one if it was not known.
  int32_t add(std::string_view text) {
    const uint64_t hash = hash_of(text);
    const auto [slot, added] = table_.insert(hash, is(text, hash), [](const Slot& s) { return s.hash; });
    if (added) *slot = {hash, append(text)};
    return slot->id;
  }

  /// The id of a string, or -1.
  int32_t find(std::string_view text) const {
    const uint64_t hash = hash_of(text);
    return table_.find(hash, is(text, hash)).id;
  }

  const std::string& operator[](int32_t id) const { return *place(id); }
  void clear() {
    free_texts();
    table_.reset(kRoom);
  }
  /// All strings, in the order of their ids.
  std::vector<std::string> texts() const {
    std::vector<std::string> all;
    for (int32_t id = 0; id < size(); ++id) all.push_back((*this)[id]);
    return all;
  }
  int32_t size() const { return size_.load(std::memory_order_acquire); }

 private:
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

  // Strings are in blocks, each twice as long as the previous one: block b has the strings with 2^(b + 4) <= id + 16 < 2^(b + 5).
  static constexpr int kFirstBits = 4;
  static uint32_t number(int32_t id) { return static_cast<uint32_t>(id) + (1u << kFirstBits); }
  static int block_of(uint32_t number) { return std::bit_width(number) - 1 - kFirstBits; }
  static size_t block_size(int block) { return size_t{1} << (block + kFirstBits); }
  std::string* place(int32_t id) const {
    const uint32_t n = number(id);
    const int block = block_of(n);
    return blocks_[block] + (n - block_size(block));
  }
  int32_t append(std::string_view text) {
    const int32_t id = size_.load(std::memory_order_relaxed);
    const uint32_t n = number(id);
    const int block = block_of(n);
    if (n == block_size(block)) blocks_[block] = std::allocator<std::string>().allocate(block_size(block));
    std::construct_at(place(id), text);
    size_.store(id + 1, std::memory_order_release);
    return id;
  }
  void free_texts() {
    for (int32_t id = 0; id < size(); ++id) std::destroy_at(place(id));
    for (int b = 0; b < static_cast<int>(blocks_.size()); ++b)
      if (blocks_[b]) std::allocator<std::string>().deallocate(std::exchange(blocks_[b], nullptr), block_size(b));
    size_ = 0;
  }

  std::array<std::string*, 32 - kFirstBits> blocks_{};
  std::atomic<int32_t> size_{0};
  HashTable<Slot> table_{kRoom};
};

}  // namespace hopefear
