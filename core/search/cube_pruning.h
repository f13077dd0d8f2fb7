// Cube pruning (Chiang 2007, "Hierarchical phrase-based translation", section 5.3.3): the best items of a cell of a chart, without
// looking at all of them.
//
// A cube has all combinations of one choice per dimension (a rule, and a node of each cell below it); choices are sorted by
// their own score, and an entry of the cube is a rank for each dimension. First the corners of all cubes are queued, rank 0 throughout. The
// entry with the best score is popped and accepted, and its neighbours are queued. The score of an entry may have parts that
// no single choice has, of a language model for example: then the order is only approximate, and that is the pruning.
//
// Differences from the paper:
// - An entry gets its exact score before it is queued. Scoring only those that reach the front under an estimate was no faster and
//   found less.
// - Only entries near the corner of a cube are queued as soon as any of their predecessors is accepted. An entry far from the corner is
//   queued by one predecessor only, the one with its last non-zero rank lowered: so no set of queued entries is needed, and fewer are
//   queued. A search with a low limit does not get that far.
// - A cube without dimensions is a single entry. It does not count as a pop, and it is accepted even if the limit is reached.
// Of equal scores the entry queued first is popped first. So the result depends only on scores and the order of the cubes.
//
// Intended usage, for each cell of the chart:
//   struct Cubes {                                       // or any class with these members
//     uint32_t size(uint32_t cube, size_t k) const;      // choices along dimension k
//     double score(uint32_t cube, const uint32_t* ranks, uint32_t entry);    // called for entry = 0, 1, 2 ...
//     void accept(uint32_t cube, const uint32_t* ranks, uint32_t entry, double score);   // called best first
//     size_t dimensions(uint32_t cube) const;            // only if they differ: CubePruning<>, and the most of them in start()
//   };
//   CubePruning<3> pruning;                              // kept for all cells: it owns memory
//   pruning.run(cubes, number_of_cubes, pop_limit);
// accept() finds the node with the state of the entry, or makes one, by a Recombination; at the end sort_nodes() lists the nodes of
// the cell best first, ready to be the choices of cubes above.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "util/hash_table.h"

namespace hopefear {

template <size_t Dimensions = std::dynamic_extent>
class CubePruning {
 public:
  /// Pops at most pop_limit entries (0: all) of cubes 0 .. count. `most`: the most dimensions of any cube.
  template <class Cubes>
  void run(Cubes& cubes, uint32_t count, int64_t pop_limit, size_t most = Dimensions) {
    most_ = most;
    count_ = 0;
    queue_.clear();
    front_done_ = false;
    seen_.assign(count, 0);
    size_t free = 0;  // entries without dimensions in the queue
    for (uint32_t cube = 0; cube < count; ++cube) {
      free += dimensions(cubes, cube) == 0;
      uint32_t* corner = add_row();
      corner[0] = cube;
      std::fill_n(corner + 1, stride() - 1, 0);
      push(cubes);
    }
    int64_t left = pop_limit > 0 ? pop_limit : std::numeric_limits<int64_t>::max();
    while (!queue_.empty() && (left > 0 || free > 0)) {
      const Waiting top = queue_[0];
      const uint32_t cube = row(top.entry)[0];
      const bool is_free = dimensions(cubes, cube) == 0;
      front_done_ = true;
      if (is_free || left > 0) {
        cubes.accept(cube, row(top.entry) + 1, top.entry, top.score);
        is_free ? --free : --left;
        if (left > 0) push_neighbours(cubes, cube, top.entry);
      }
      if (front_done_) {
        std::pop_heap(queue_.begin(), queue_.end());
        queue_.pop_back();
      }
    }
  }

  size_t capacity() const { return entries_.capacity() / stride(); }

 private:
  // Entries near the corner of a cube are numbered, so that 64 bits record which of them were queued.
  static constexpr size_t kNearDimensions = std::min<size_t>(Dimensions, 3);
  static constexpr uint32_t kNear = kNearDimensions == 3 ? 4 : 8;  // ranks in each of these dimensions
  static constexpr uint32_t kFar = ~uint32_t{0};
  static constexpr uint32_t step(size_t k) { return k == 0 ? 1 : kNear * step(k - 1); }

  struct Waiting {
    double score;
    uint32_t entry;
    bool operator<(const Waiting& other) const { return score < other.score || (score == other.score && entry > other.entry); }
  };

  template <class Cubes>
  static size_t dimensions(const Cubes& cubes, uint32_t cube) {
    if constexpr (Dimensions == std::dynamic_extent)
      return cubes.dimensions(cube);
    else
      return Dimensions;
  }
  size_t stride() const { return 1 + (Dimensions == std::dynamic_extent ? most_ : Dimensions); }
  uint32_t* row(size_t entry) { return entries_.data() + entry * stride(); }
  uint32_t* add_row() {
    if (entries_.size() < (count_ + 1) * stride()) entries_.resize(std::max(2 * entries_.size(), 64 * stride()));
    return row(count_++);
  }

  /// One rank more in one dimension.
  template <class Cubes>
  void push_neighbours(Cubes& cubes, uint32_t cube, uint32_t entry) {
    const size_t count = dimensions(cubes, cube);
    size_t last = 0;  // dimension after which all ranks are 0
    for (size_t k = 0; k < count; ++k)
      if (row(entry)[1 + k] > 0) last = k;
    const uint32_t near = near_corner(row(entry) + 1, count);
#pragma GCC unroll 4  // the count is a constant in the inner loops of decoders
    for (size_t k = 0; k < count; ++k) {
      const uint32_t rank = row(entry)[1 + k] + 1;
      if (rank >= cubes.size(cube, k)) continue;
      if (near != kFar && rank < kNear && k < kNearDimensions) {
        const uint64_t bit = uint64_t{1} << (near + step(k));
        if (seen_[cube] & bit) continue;
        seen_[cube] |= bit;
      } else if (k < last) {
        continue;
      }
      uint32_t* next = add_row();
      std::copy_n(row(entry), stride(), next);
      next[1 + k] = rank;
      push(cubes);
    }
  }

  /// The number of an entry near the corner of its cube, or kFar.
  static uint32_t near_corner(const uint32_t* ranks, size_t count) {
    uint32_t number = 0;
    for (size_t k = 0; k < count; ++k) {
      if (ranks[k] >= (k < kNearDimensions ? kNear : 1)) return kFar;
      if (k < kNearDimensions) number += ranks[k] * step(k);
    }
    return number;
  }

  /// Scores and queues the last entry.
  template <class Cubes>
  void push(Cubes& cubes) {
    const uint32_t entry = count_ - 1;
    const uint32_t* ranks = row(entry);
    const Waiting waiting{cubes.score(ranks[0], ranks + 1, entry), entry};
    if (front_done_) {
      front_done_ = false;
      replace_front(waiting);
    } else {
      queue_.push_back(waiting);
      std::push_heap(queue_.begin(), queue_.end());
    }
  }

  /// A neighbour is about as good as the popped entry, so it stays near the front.
  void replace_front(Waiting waiting) {
    const size_t size = queue_.size();
    size_t at = 0;
    for (size_t next = 1; next < size; next = 2 * at + 1) {
      next += next + 1 < size && queue_[next] < queue_[next + 1];
      if (!(waiting < queue_[next])) break;
      queue_[at] = queue_[next];
      at = next;
    }
    queue_[at] = waiting;
  }

  size_t most_ = 0;
  uint32_t count_ = 0;             // entries
  std::vector<uint32_t> entries_;  // their rows: the cube, then a rank for each dimension
  std::vector<Waiting> queue_;     // a heap
  bool front_done_ = false;        // its front was popped, and may be replaced
  std::vector<uint64_t> seen_;     // of each cube, the entries near its corner that were queued
};

/// Nodes of a cell, as positions in a list of nodes.
struct NodeRange {
  uint32_t begin = 0, end = 0;
  uint32_t size() const { return end - begin; }
};

/// Appends the nodes [first, last) of a cell to `sorted`, those with the highest scores first.
template <class Score>
NodeRange sort_nodes(int32_t first, int32_t last, std::vector<int32_t>& sorted, Score&& score) {
  const auto begin = static_cast<uint32_t>(sorted.size());
  for (int32_t v = first; v < last; ++v) sorted.push_back(v);
  std::stable_sort(sorted.begin() + begin, sorted.end(), [&](int32_t a, int32_t b) { return score(a) > score(b); });
  return {begin, static_cast<uint32_t>(sorted.size())};
}

/// The nodes of one cell by their states, which the caller keeps.
class Recombination {
 public:
  /// Begins a cell whose first node has this number. Reserves room for `expected` nodes.
  void start(int32_t first, size_t expected) {
    next_ = first;
    table_.reset(expected);
  }
  /// The node v with same(v), and false; or the number of a new node, which the caller adds, and true. hash_of(v) is the hash of an
  /// existing node.
  template <class Same, class HashOf>
  std::pair<int32_t, bool> find_or_add(uint64_t hash, Same&& same, HashOf&& hash_of) {
    const auto [slot, added] = table_.insert(hash, [&](Slot s) { return same(s.node); }, [&](Slot s) { return hash_of(s.node); });
    if (added) slot->node = next_++;
    return {slot->node, added};
  }

 private:
  struct Slot {
    int32_t node = -1;
    bool empty() const { return node < 0; }
  };

  int32_t next_ = 0;
  HashTable<Slot> table_;
};

}  // namespace hopefear
