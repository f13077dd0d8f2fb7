// The features of whole block sequences.
#pragma once
#include <span>

#include "blocks/block_features.h"
#include "blocks/block_model.h"

namespace hopefear {

/// The orientation of a block after another block (null: the start of the sentence), which ends at `end`.
inline Orientation orientation(const BlockView* before, int32_t end, const BlockView& b) {
  return b.begin == end ? Orientation::right : before && b.end == before->begin ? Orientation::left : Orientation::neutral;
}

/// f over whole sequences: sink(template, parts...) for each binary feature as in block_features.h, real(i, value) for each
/// real-valued one that is not 0, one call per block or word. `lms`: ask the language models.
/// `bag`: blocks without order, whose identity features alone count (Tillmann and Zhang 2006, section 4.1).
template <class Sink, class Real>
void sequence_features(const BlockModel& m, const BlockSource& source, std::span<const StoredBlock> blocks, bool bag, bool lms,
                       Sink& sink, Real&& real) {
  FeatureEmitter<BlockModel, Sink> emit(m, m.which(), sink);
  BlockView views[2];
  const BlockView* before = nullptr;
  int32_t c = kNothing, last = kBosWord;
  for (size_t i = 0; i < blocks.size(); ++i) {
    BlockView& b = views[i & 1];
    b = m.view(source, blocks[i]);
    if (blocks[i].copy) real(kCopy + blocks[i].copy - 1, 1.0);
    if (bag) {
      emit.identity(b);
      continue;
    }
    const int32_t end = before ? before->end : 0;
    const Orientation o = orientation(before, end, b);
    emit.inside(b);
    emit.between(before, c, last, b, o, b.begin - end);
    if (o == Orientation::left) real(kSwap, 1.0);
    real(kWord, static_cast<double>(b.target.size()));
    if (!blocks[i].copy) m.rule_reals(blocks[i].rule, real);
    c = b.target.size() > 1 ? b.target[b.target.size() - 2] : last;
    last = b.target.back();
    before = &b;
  }
  if (bag || blocks.empty()) return;
  emit.end(before, c, last);
  if (lms)
    for (size_t model = 0; model < m.lms(); ++model) {
      double sum = 0;
      LmContext context[2] = {m.lm(model).begin_sentence(), {}};
      int now = 0;
      const auto word = [&](uint32_t w) {
        sum += m.lm(model).score(context[now], w, context[1 - now]).prob;
        now = 1 - now;
      };
      for (const StoredBlock& block : blocks)
        for (const int32_t e : m.target_of(source, block)) word(m.lm_word(model, e));
      word(kEos);
      real(kLm + model, kLn10 * sum);
    }
}

}  // namespace hopefear
