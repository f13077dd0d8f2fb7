// Sentences that the block decoder translates again in each round, for learners of its real-valued features.
#pragma once
#include "blocks/block_decoder.h"
#include "search/examples.h"

namespace hopefear {

/// The decoder must outlive this.
class BlockExamples final : public Examples {
 public:
  BlockExamples(const BlockDecoder& decoder, std::vector<BlockSource> sources, std::vector<References> references,
                BlockOptions options)
      : decoder_(decoder), sources_(std::move(sources)), references_(std::move(references)), options_(options) {
    if (sources_.size() != references_.size()) throw InputError("one set of references per sentence is needed");
  }
  size_t size() const override { return sources_.size(); }
  int32_t features() const override { return static_cast<int32_t>(kBlockReals); }
  const std::string& id(size_t i) const override { return sources_[i].id; }
  const References& references(size_t i) const override { return references_[i]; }
  Forest decode(size_t i, const double* w, int64_t edges_per_word) const override {
    auto table = std::make_shared<FeatureTable>(kBlockReals);
    for (size_t j = 0; j < kBlockReals; ++j) table->set(feature_key(kBlockReal[j]), w[j]);
    const Forest forest = decoder_.lattice(sources_[i], BlockWeights(std::move(table), decoder_, false, 1), options_);
    const int64_t limit = edges_per_word * static_cast<int64_t>(sources_[i].words.size());
    return limit > 0 ? pruned(forest, w, {.beam = {}, .posterior = {}, .max_edges = limit}).forest : forest;
  }

 private:
  const BlockDecoder& decoder_;
  std::vector<BlockSource> sources_;
  std::vector<References> references_;
  BlockOptions options_;
};

}  // namespace hopefear
