// Forests of the block decoder whose sparse features are still keys. Ids are assigned to a batch of sentences at once.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "forest/forest.h"
#include "util/feature_table.h"
#include "util/vocab.h"

namespace hopefear {

/// A lattice, or a list as one node.
struct BlockDraft {
  struct Node {
    int32_t begin, end, edges;
  };
  std::vector<Node> nodes;
  std::vector<int32_t> tails;  // one per edge; -1: none
  std::vector<uint32_t> word_begin{0}, key_begin{0};
  std::vector<int32_t> words;
  std::vector<double> dense;
  std::vector<uint64_t> keys;
  std::vector<std::pair<uint64_t, std::string>> names;  // of new keys

  void end_edge(int32_t tail) {
    tails.push_back(tail);
    word_begin.push_back(static_cast<uint32_t>(words.size()));
    key_begin.push_back(static_cast<uint32_t>(keys.size()));
    ++nodes.back().edges;
  }
};

/// The ids of features by their keys.
class FeatureIds {
 public:
  bool has(uint64_t key) const { return table_->find(key) != FeatureTable::kNone; }
  int32_t operator[](uint64_t key) const { return static_cast<int32_t>(table_->get(key)); }
  /// Assigns ids to the names of drafts, in the order of the sentences, and moves those names out of the drafts.
  void add(std::vector<BlockDraft>& drafts, Vocab& features);

 private:
  std::shared_ptr<FeatureTable> table_ = std::make_shared<FeatureTable>();
};

/// All names of the draft must have ids.
Forest draft_forest(const BlockDraft& draft, const FeatureIds& ids, const std::shared_ptr<Vocab>& vocab,
                    const std::shared_ptr<Vocab>& features);

}  // namespace hopefear
