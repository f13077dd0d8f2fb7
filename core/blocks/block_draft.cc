#include "blocks/block_draft.h"

#include <algorithm>
#include <span>

#include "blocks/block_model.h"

namespace hopefear {

void FeatureIds::add(std::vector<BlockDraft>& drafts, Vocab& features) {
  for (BlockDraft& draft : drafts) {
    if (!table_->has_room(draft.names.size())) {
      auto larger = std::make_shared<FeatureTable>(2 * (table_->size() + draft.names.size()));
      for (size_t i = 0; i < table_->capacity(); ++i)
        if (table_->key(i)) larger->set(table_->key(i), table_->weight(i));
      table_ = std::move(larger);
    }
    for (const auto& [key, name] : draft.names) table_->set(key, features.add(name));
    draft.names.clear();
  }
}

Forest draft_forest(const BlockDraft& draft, const FeatureIds& ids_of, const std::shared_ptr<Vocab>& vocab,
                    const std::shared_ptr<Vocab>& features) {
  ForestBuilder builder(vocab, features, static_cast<int32_t>(kBlockReals));
  std::vector<int32_t> ids, unique;
  std::vector<double> values;
  size_t e = 0;
  for (const auto& node : draft.nodes) {
    builder.add_node(node.begin, node.end);
    for (int32_t k = 0; k < node.edges; ++k, ++e) {
      ids.clear();
      for (uint32_t key = draft.key_begin[e]; key < draft.key_begin[e + 1]; ++key) ids.push_back(ids_of[draft.keys[key]]);
      std::sort(ids.begin(), ids.end());
      unique.clear();
      values.clear();
      for (const int32_t id : ids) {
        if (!unique.empty() && unique.back() == id) {
          values.back() += 1.0;
          continue;
        }
        unique.push_back(id);
        values.push_back(1.0);
      }
      const std::span<const int32_t> words(draft.words.data() + draft.word_begin[e],
                                           draft.words.data() + draft.word_begin[e + 1]);
      const size_t arity = draft.tails[e] >= 0;
      builder.add_edge({&draft.tails[e], arity}, words, draft.dense.data() + e * kBlockReals, unique, values);
    }
  }
  return builder.finish();
}

}  // namespace hopefear
