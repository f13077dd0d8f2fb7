// Word translation probabilities w(e|f) and w(f|e) from a word-aligned text (Koehn, Och and Marcu 2003, section 4).
//
//   w(e|f) = count(f, e) / sum over e' of count(f, e')
//
// Every link counts once; a word without a link counts as linked to NULL, so that each w(.|f) sums to one over the target
// words and NULL.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "grammar/parallel_text.h"
#include "util/hash_table.h"
#include "util/id_map.h"

namespace hopefear {

class LexicalTable {
 public:
  static constexpr int32_t kNull = -1;

  LexicalTable() = default;
  explicit LexicalTable(const ParallelText& text);

  /// 0 for a pair that was never linked.
  double ef(int32_t f, int32_t e) const {
    const double linked = count(f, e);
    return linked > 0 ? linked / source_total_[f + 1] : 0.0;
  }
  double fe(int32_t f, int32_t e) const {
    const double linked = count(f, e);
    return linked > 0 ? linked / target_total_[e + 1] : 0.0;
  }
  double count(int32_t f, int32_t e) const {
    const uint64_t k = key(f, e);
    return cells_.find(hash_key(k), [k](const Cell& cell) { return cell.key == k; }).count;
  }

  /// log of the lexical weights of a phrase or rule with its alignment: eq. (8) there, in both directions. Nonterminals are
  /// negative symbols and do not take part; an unaligned word is translated by NULL.
  std::pair<double, double> weights(std::span<const int32_t> source, std::span<const int32_t> target,
                                    std::span<const Link> links) const;

  struct Pair {
    int32_t f, e;
    double count;
  };
  /// All pairs with their counts, sorted by (f, e).
  std::vector<Pair> pairs() const;

 private:
  struct Cell {
    uint64_t key = 0;  // (f + 1, e + 1); 0 (NULL with NULL) is an empty cell
    double count = 0;
    bool empty() const { return key == 0; }
  };
  static uint64_t key(int32_t f, int32_t e) { return pair_key(static_cast<uint32_t>(f + 1), static_cast<uint32_t>(e + 1)); }
  void add(int32_t f, int32_t e);

  HashTable<Cell> cells_;
  std::vector<double> source_total_, target_total_;  // by word + 1, NULL first
};

}  // namespace hopefear
