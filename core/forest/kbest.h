// Lazy k-best: Huang and Chiang (2005), "Better k-best parsing", algorithm 3.
//
// The k-th best derivation of a node is computed only when it is needed. Differences from the paper:
// - A vector j of ranks is reached from one predecessor only (its last non-zero rank lowered by one), so a candidate never
//   appears twice and no set of seen candidates is needed.
// - With `distinct`, every node keeps only the first derivation of each yield. A derivation that uses a later one can be
//   improved without changing its words, so the goal's list is exactly the k best distinct strings, each with its best
//   derivation. Filtering at the goal alone would have to walk through all derivations of the same string.
// - The recursion uses an explicit stack: a lattice may be a million nodes deep.
// Equal scores: the lower edge index first, then the lower ranks. The first derivation is Viterbi's.
#pragma once
#include <cstdint>
#include <deque>
#include <vector>

#include "forest/derivation.h"
#include "forest/pool.h"
#include "forest/viterbi.h"
#include "util/hash_table.h"

namespace hopefear {

class KBest {
 public:
  /// The forest is copied (its arrays are views with an owner). `scores` are the edge scores.
  KBest(Forest forest, std::vector<double> scores, bool distinct);

  /// The next best derivation, or false when there are no more.
  bool next(Derivation& derivation);
  const Forest& forest() const { return forest_; }

 private:
  struct Item {
    double score;
    int32_t edge;
    int32_t ranks;  // where in ranks_ the vector j of this derivation begins: the rank of each tail's derivation
  };
  struct Yield {
    uint64_t hash, power;  // of a polynomial hash, so that hashes of parts can be combined
  };
  struct Place {  // in a list
    int32_t index = -1;
    bool empty() const { return index < 0; }
  };
  struct Node {
    std::vector<Item> heap, best;  // cand and D-hat of the paper
    std::vector<Yield> yields;     // of best, if distinct
    HashTable<Place> seen;         // in best, by yield
    Item last{};                   // the derivation that was popped last
    int32_t next_tail = 0;         // its successors at this tail and later ones have not been pushed yet
    bool pending = false, exhausted = false;
  };

  bool demand(int32_t v, int32_t k);
  bool step(Node& node, int32_t& tail, int32_t& rank);
  int32_t node_index(int32_t v);
  bool before(const Item& a, const Item& b) const;
  double score_of(int32_t edge, int32_t ranks) const;
  Item chosen(int32_t v, int32_t rank) const;
  void unroll_item(const Item& item, std::vector<int32_t>& edges) const;
  Yield yield_of(const Item& item) const;
  bool is_new(Node& node, const Item& item);

  Forest forest_;
  std::vector<double> scores_;
  bool distinct_;
  Viterbi viterbi_;
  std::vector<Yield> viterbi_yields_;  // of each node, if distinct
  std::vector<int32_t> ranks_;
  std::vector<int32_t> index_;  // of a node's entry in nodes_; -1: none yet
  std::deque<Node> nodes_;
  int32_t given_ = 0;
};

/// Up to k best derivations; an empty list when there are none at all.
std::vector<Derivation> kbest(const Forest& forest, std::vector<double> scores, int64_t k, bool distinct);
std::vector<Derivation> kbest(const Forest& forest, const double* w, int64_t k, bool distinct);

/// A pool of lists: the k best of each sentence, best first, with the features of their derivations. Numbers per candidate are
/// kept where the pool has lists; elsewhere they mean nothing and are dropped.
Pool kbest(const Pool& pool, const double* w, int64_t k, bool distinct, int jobs);

/// The derivations as a list forest.
Forest list_of(const Forest& forest, const std::vector<Derivation>& derivations, bool keep_numbers);

}  // namespace hopefear
