// A forest as another program wrote it: nodes in any order, not yet checked. It is checked and sorted before it is added to a pool.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "formats/pool_builder.h"

namespace hopefear {

struct ForestDraft {
  int32_t nodes = 0;
  int32_t goal = -1;
  std::vector<int32_t> spans;     // 2 * nodes, or empty
  std::vector<int64_t> names;     // the file's numbers of the nodes; empty: their indices
  std::vector<uint8_t> optional;  // nodes that are left out when nothing uses them; empty: none
  std::vector<int32_t> heads;     // one per edge
  std::vector<size_t> tail_begin{0};
  std::vector<int32_t> tails;
  std::vector<size_t> word_begin{0};
  std::vector<int32_t> words;  // of the builder's vocabulary, and slots
  std::vector<size_t> feature_begin{0};
  std::vector<int32_t> feature_ids;  // of the builder
  std::vector<double> feature_values;

  size_t edges() const { return heads.size(); }
  /// Closes the edge whose tails, words and features were pushed last.
  void end_edge(int32_t head) {
    heads.push_back(head);
    tail_begin.push_back(tails.size());
    word_begin.push_back(words.size());
    feature_begin.push_back(feature_ids.size());
  }
  /// Adds the forest to the builder, its nodes in topological order with the goal last (unchanged if they are in such an order).
  /// Throws InputError, which starts with `where`, for a cycle, a node without edges or without a path to the goal, and a tail
  /// that its edge does not name exactly once.
  void emit(PoolBuilder& builder, const std::string& where) const;

 private:
  /// Edges by head, in the order of the file: those of node v are edges[begin[v] .. begin[v + 1]).
  struct ByHead {
    std::vector<size_t> begin, edges;
  };
  ByHead by_head() const;
  std::vector<int32_t> topological_order(const ByHead& by_head, const std::string& where) const;
  void emit_edge(PoolBuilder& builder, size_t e, const std::vector<int32_t>& place, std::vector<uint8_t>& named,
                 const std::string& where) const;
  std::string name(int32_t v) const { return std::to_string(names.empty() ? v : names[v]); }
};

}  // namespace hopefear
