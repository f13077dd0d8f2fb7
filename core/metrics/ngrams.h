// The n-grams of a set of references as a trie: one node per n-gram, found by (node of its prefix, last word).
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "util/id_map.h"

namespace hopefear {

class ReferenceNgrams {
 public:
  static constexpr int32_t kRoot = 0;

  ReferenceNgrams() = default;
  ReferenceNgrams(const std::vector<std::vector<int32_t>>& references, int max_order) : nodes_(expected(references, max_order)) {
    for (const auto& reference : references) {
      std::vector<int32_t> count(order_.size(), 0);
      for (size_t i = 0; i < reference.size(); ++i) {
        int32_t node = kRoot;
        for (size_t j = i; j < reference.size() && j < i + max_order; ++j) {
          node = add(node, reference[j]);
          if (count.size() < order_.size()) count.resize(order_.size(), 0);
          clip_[node] = std::max(clip_[node], ++count[node]);
        }
      }
      lengths_.push_back(static_cast<int32_t>(reference.size()));
    }
  }

  /// The n-gram that extends `node` by `word`, or -1 if no reference has it.
  int32_t child(int32_t node, int32_t word) const { return nodes_.find(key(node, word)); }
  int32_t size() const { return static_cast<int32_t>(order_.size()); }  // nodes, root included
  int32_t order(int32_t node) const { return order_[node]; }            // 1 for a unigram
  int32_t clip(int32_t node) const { return clip_[node]; }              // its largest count in one reference, eq. (1)
  std::span<const int32_t> lengths() const { return lengths_; }         // of the references

 private:
  static size_t expected(const std::vector<std::vector<int32_t>>& references, int max_order) {
    size_t words = 0;
    for (const auto& reference : references) words += reference.size();
    return words * max_order;
  }
  static uint64_t key(int32_t node, int32_t word) { return pair_key(static_cast<uint32_t>(node), static_cast<uint32_t>(word)); }
  int32_t add(int32_t node, int32_t word) {
    const int32_t next = size(), id = nodes_.add(key(node, word), next);
    if (id == next) {
      order_.push_back(order_[node] + 1);
      clip_.push_back(0);
    }
    return id;
  }

  std::vector<int32_t> order_{0}, clip_{0}, lengths_;
  IdMap nodes_;
};

}  // namespace hopefear
