// The n-grams of a set of references as a trie: one node an n-gram, found by (node of its prefix, last word).
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace hopefear {

class ReferenceNgrams {
 public:
  static constexpr int32_t kRoot = 0;

  ReferenceNgrams() { rehash(16); }
  ReferenceNgrams(const std::vector<std::vector<int32_t>>& references, int max_order) : ReferenceNgrams() {
    for (const auto& reference : references) {
      std::vector<int32_t> count(order_.size(), 0);
      for (size_t i = 0; i < reference.size(); ++i) {
        int32_t node = kRoot;
        for (size_t j = i; j < reference.size() && j < i + static_cast<size_t>(max_order); ++j) {
          node = add(node, reference[j]);
          if (count.size() < order_.size()) count.resize(order_.size(), 0);
          clip_[node] = std::max(clip_[node], ++count[node]);
        }
      }
      lengths_.push_back(static_cast<int32_t>(reference.size()));
    }
  }

  /// The n-gram that extends `node` by `word`, or -1 when no reference has it.
  int32_t child(int32_t node, int32_t word) const {
    const uint64_t k = key(node, word);
    for (size_t slot = hash(k) & (slots_.size() - 1);; slot = (slot + 1) & (slots_.size() - 1))
      if (slots_[slot].id < 0 || slots_[slot].key == k) return slots_[slot].id;
  }
  int32_t size() const { return static_cast<int32_t>(order_.size()); }  // nodes, root included
  int32_t order(int32_t node) const { return order_[node]; }            // 1 for a unigram
  int32_t clip(int32_t node) const { return clip_[node]; }              // the most that one reference has of it, eq. (1)
  std::span<const int32_t> lengths() const { return lengths_; }         // of the references

 private:
  struct Slot {
    uint64_t key;
    int32_t id;
  };
  static uint64_t key(int32_t node, int32_t word) {
    return (static_cast<uint64_t>(static_cast<uint32_t>(node)) << 32) | static_cast<uint32_t>(word);
  }
  static uint64_t hash(uint64_t k) { return (k * 0x9e3779b97f4a7c15ULL) >> 31; }
  int32_t add(int32_t node, int32_t word) {
    const int32_t known = child(node, word);
    if (known >= 0) return known;
    const int32_t id = size();
    order_.push_back(order_[node] + 1);
    clip_.push_back(0);
    insert({key(node, word), id});
    if (order_.size() * 3 > slots_.size()) rehash(slots_.size() * 2);
    return id;
  }
  void insert(Slot s) {
    size_t slot = hash(s.key) & (slots_.size() - 1);
    while (slots_[slot].id >= 0) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = s;
  }
  void rehash(size_t size) {
    std::vector<Slot> old(size, Slot{0, -1});
    old.swap(slots_);
    for (const Slot& s : old)
      if (s.id >= 0) insert(s);
  }

  std::vector<int32_t> order_{0}, clip_{0}, lengths_;
  std::vector<Slot> slots_;
};

}  // namespace hopefear
