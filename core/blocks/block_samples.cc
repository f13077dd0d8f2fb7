#include "blocks/block_samples.h"

#include <algorithm>

#include "blocks/sequence_bleu.h"
#include "util/parallel.h"
#include "util/random.h"

namespace hopefear {
namespace {

/// The blocks of one source phrase: first rule and number, or a copy.
struct Phrase {
  uint32_t first, count;
  uint8_t length, copy;
};

/// The source phrases that begin at a position and have blocks, the shortest first; a word without its own block is copied, and comes last.
std::vector<Phrase> phrases_at(const BlockModel& model, const BlockSource& source, size_t begin) {
  std::vector<Phrase> phrases;
  model.each_phrase(source.words, begin, [&](size_t end, uint32_t first, uint32_t last) {
    phrases.push_back({first, last - first, static_cast<uint8_t>(end - begin), 0});
  });
  if (phrases.empty() || phrases.front().length > 1)
    if (const uint8_t copy = model.copy_kind(source, begin, false)) phrases.push_back({0, 1, 1, copy});
  return phrases;
}

/// Draws sequences of one sentence.
class Sampler {
 public:
  Sampler(const BlockModel& model, const BlockSource& source, Random random)
      : swap_(model.which().swap), length_(source.words.size()), random_(std::move(random)) {
    for (size_t begin = 0; begin < length_; ++begin) phrases_.push_back(phrases_at(model, source, begin));
  }

  void draw(std::vector<StoredBlock>& blocks) {
    blocks.clear();
    for (size_t at = 0; at < length_;) {
      const StoredBlock first = draw_block(at);
      at += first.length;
      if (swap_ && at < length_ && random_.below(4) == 0) {
        blocks.push_back(draw_block(at));
        at += blocks.back().length;
      }
      blocks.push_back(first);
    }
  }

 private:
  static constexpr uint32_t kOptions = 10;  // the first blocks of a source phrase

  StoredBlock draw_block(size_t begin) {
    const Phrase& p = phrases_[begin][random_.below(phrases_[begin].size())];
    const uint32_t rule = p.copy ? 0 : p.first + static_cast<uint32_t>(random_.below(std::min(kOptions, p.count)));
    return {rule, static_cast<uint16_t>(begin), p.length, p.copy};
  }

  const bool swap_;
  const size_t length_;
  Random random_;
  std::vector<std::vector<Phrase>> phrases_;  // of each position
};

}  // namespace

BlockSequences bags_of_blocks(const BlockModel& model, const std::vector<BlockSource>& sources, int jobs) {
  std::vector<BlockSequences> sequences(sources.size());
  parallel_for(sources.size(), jobs, [&](size_t i, int) {
    for (size_t begin = 0; begin < sources[i].words.size(); ++begin)
      for (const Phrase& p : phrases_at(model, sources[i], begin))
        sequences[i].blocks.push_back({p.first, static_cast<uint16_t>(begin), p.length, p.copy});
    sequences[i].end_sequence(0.0);
    sequences[i].end_sentence();
  });
  return joined(sequences);
}

BlockSequences random_sequences(const BlockModel& model, const std::vector<BlockSource>& sources,
                                const std::vector<std::vector<int32_t>>& references, int64_t count, uint64_t seed, int jobs) {
  check_references(sources.size(), references.size());
  std::vector<BlockSequences> sequences(sources.size());
  parallel_for(sources.size(), jobs, [&](size_t i, int) {
    Sampler sampler(model, sources[i], Random(seed, i));
    SequenceBleu bleu(references[i]);
    std::vector<StoredBlock> blocks;
    for (int64_t k = 0; k < count; ++k) {
      sampler.draw(blocks);
      sequences[i].blocks.insert(sequences[i].blocks.end(), blocks.begin(), blocks.end());
      sequences[i].end_sequence(bleu(model, sources[i], blocks));
    }
    sequences[i].end_sentence();
  });
  return joined(sequences);
}

}  // namespace hopefear
