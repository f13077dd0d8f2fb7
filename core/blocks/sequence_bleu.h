// BLEU+1 (metrics/bleu.h) of block sequences of one sentence against its one reference.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "blocks/block_model.h"
#include "metrics/bleu.h"

namespace hopefear {

class SequenceBleu {
 public:
  static constexpr int kOrder = 4;

  explicit SequenceBleu(const std::vector<int32_t>& reference)
      : ngrams_({reference}, kOrder), counter_(ngrams_, kOrder, ReferenceLength::closest) {}
  SequenceBleu(const SequenceBleu&) = delete;

  double operator()(const BlockModel& model, const BlockSource& source, std::span<const StoredBlock> blocks) {
    double stats[2 * kOrder + 1];
    model.words_of(source, blocks, words_);
    counter_.stats(words_, stats);
    return metric_.sentence_gain(stats);
  }

 private:
  const Bleu metric_{kOrder};
  const ReferenceNgrams ngrams_;
  BleuCounter counter_;
  std::vector<int32_t> words_;
};

/// Sentences and references belong together.
inline void check_references(size_t sources, size_t references) {
  if (sources != references) throw InputError("one reference per sentence is needed");
}

}  // namespace hopefear
