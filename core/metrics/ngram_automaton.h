// The n-grams of several references, each with its count in every reference, as a trie with suffix links.
//
// Reading a candidate symbol by symbol keeps the longest n-gram that ends here and is in a reference; all shorter ones
// are on its suffix links. So each position costs one or two look-ups, whatever the order, and the counts of shorter
// n-grams follow from those of longer ones when the candidate has been read (Aho and Corasick 1975).
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "util/id_map.h"

namespace hopefear {

class NgramAutomaton {
 public:
  NgramAutomaton(const std::vector<std::vector<uint32_t>>& references, int max_order)
      : max_order_(max_order), width_(references.size()), nodes_(expected(references, max_order)), seen_(max_order + 1) {
    std::vector<int32_t> ending(max_order + 1, kRoot), last(ending);  // by order: the n-gram that ends here; before
    for (size_t r = 0; r < references.size(); ++r) {
      int longest = 0;
      for (uint32_t symbol : references[r]) {
        last = ending;
        longest = std::min(longest + 1, max_order_);
        for (int k = 1; k <= longest; ++k) {
          const auto node = static_cast<size_t>(1 + nodes_.add(pair_key(static_cast<uint32_t>(last[k - 1]), symbol)));
          if (node == suffix_.size()) {
            suffix_.push_back(ending[k - 1]);
            order_.push_back(static_cast<int8_t>(k));
            counts_.resize(counts_.size() + width_, 0);
          }
          ending[k] = static_cast<int32_t>(node);
          ++counts_[(node - 1) * width_ + r];
        }
      }
    }
    count_.assign(suffix_.size(), 0);
  }

  /// match[(k - 1) * references + r] = clipped matches of k-grams with reference r.
  void matches(std::span<const uint32_t> candidate, std::vector<int64_t>& match) {
    match.assign(max_order_ * width_, 0);
    if (max_order_ == 0) return;
    int32_t node = kRoot;
    for (uint32_t symbol : candidate) {
      if (order_[node] == max_order_) node = suffix_[node];
      int32_t next = child(node, symbol);
      while (next < 0 && node != kRoot) {
        node = suffix_[node];
        next = child(node, symbol);
      }
      node = std::max(next, kRoot);
      if (node != kRoot) count(node, 1);
    }
    for (int k = max_order_; k > 0; --k) {
      auto& nodes = seen_[k];
      int64_t* row = match.data() + (k - 1) * width_;
      for (int32_t v : nodes) {
        const int32_t n = count_[v];
        count_[v] = 0;
        if (k > 1) count(suffix_[v], n);
        const int32_t* in_reference = counts_.data() + (v - 1) * width_;
        for (size_t r = 0; r < width_; ++r) row[r] += std::min(n, in_reference[r]);
      }
      nodes.clear();
    }
  }

 private:
  static constexpr int32_t kRoot = 0;
  static size_t expected(const std::vector<std::vector<uint32_t>>& references, int max_order) {
    size_t symbols = 0;
    for (const auto& reference : references) symbols += reference.size();
    return symbols * max_order / 2;
  }
  int32_t child(int32_t node, uint32_t symbol) const {
    const int32_t id = nodes_.find(pair_key(static_cast<uint32_t>(node), symbol));
    return id < 0 ? -1 : id + 1;
  }
  void count(int32_t node, int32_t n) {
    if (count_[node] == 0) seen_[order_[node]].push_back(node);
    count_[node] += n;
  }

  int max_order_;
  size_t width_;                              // references
  IdMap nodes_;                               // (node, symbol) -> node - 1
  std::vector<int32_t> suffix_{-1}, counts_;  // counts_: a row of width_ per node, the root left out
  std::vector<int8_t> order_{0};
  std::vector<int32_t> count_;              // of the candidate; zeros between candidates
  std::vector<std::vector<int32_t>> seen_;  // nodes that the candidate has, by order
};

}  // namespace hopefear
