// Decoding by block sequences: Tillmann and Zhang 2006, "A discriminative global training algorithm for statistical MT", section 2.
//
// Blocks (phrase pairs) are put one behind the other on the target side. Their source phrases cover the sentence
//   monotone   from left to right, or
//   swap       with neighbours exchanged: [j, k) may be skipped by one block over [k, l), and then one block covers [j, k).
// A block is R, right of its predecessor, when it begins where that one ends (the start of the sentence ends at 0), L when it ends
// where that one begins, and N otherwise: the block that skips, and the one behind a swap. So a swap is N L, and then N.
//
// The score is eq. (1), w.f(b, o, b') over all blocks: the binary features of block_features.h, and real-valued ones, if they
// have weights: lm, lm2, the columns of the grammar, rule, word, swap, and identity, unknown, number, name for words that are copied.
//
// The search goes by cells: all of [0, l) is covered, or all but [j, k). A cell is filled from cubes (predecessors by score, blocks by
// their own score) by cube pruning, pop_limit of them at most, swap_limit where a gap is open; hypotheses that no feature can
// tell apart are one node. With limits of 0 the search is exact. Equal scores: what came first wins.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "blocks/block_features.h"
#include "forest/pool.h"
#include "grammar/grammar.h"
#include "hiero/hiero_decoder.h"
#include "lm/language_model.h"
#include "util/feature_table.h"

namespace hopefear {

struct BlockOptions {
  int64_t pop_limit = 40;    // hypotheses looked at a cell; 0: all
  int64_t swap_limit = 5;    // the same where a gap is open
  int64_t max_options = 10;  // target phrases of one source phrase; 0: all
  int64_t max_swap = 0;      // source words of either block of a swap; 0: any number
};

/// A sentence as the decoder sees it: words are of its own vocabularies.
struct BlockSource {
  std::string id, text;
  std::vector<int32_t> words;
  std::vector<WordKind> kinds;
  std::vector<int32_t> copies;  // the word on the target side, or -1: it is not copied
};

/// A block as relevant sets have it.
struct StoredBlock {
  uint32_t rule;   // of the grammar
  uint16_t begin;  // source words [begin, begin + length)
  uint8_t length;
  uint8_t copy;  // 0: a rule; 1 identity, 2 unknown, 3 number, 4 name
};

/// Block sequences of many sentences, with their BLEU.
struct BlockSequences {
  std::vector<uint64_t> sentence_begin{0};  // sequences of each sentence
  std::vector<uint64_t> block_begin{0};     // blocks of each sequence
  std::vector<float> bleu;
  std::vector<StoredBlock> blocks;
};

/// The dense features, in the order of their columns.
inline constexpr const char* kBlockReal[] = {"lm",   "lm2",  "phrase_ef", "phrase_fe", "lexical_ef", "lexical_fe", "rule",
                                             "word", "swap", "identity",  "unknown",   "number",     "name"};
inline constexpr size_t kBlockReals = 13;
enum BlockReal : size_t { kLm, kLm2, kColumns, kRule = 6, kWord, kSwap, kCopy };  // kCopy + copy - 1

class BlockDecoder;

/// Weights made ready for decoding: look-ups of all blocks of the grammar at once, or not at all.
class BlockWeights {
 public:
  BlockWeights(std::shared_ptr<const FeatureTable> table, const BlockDecoder& decoder, bool precompute, int jobs);

  const FeatureTable& table() const { return *table_; }
  double real(size_t i) const { return real_[i]; }
  /// w.f of one block by itself, or null when that was not computed before.
  const double* inside() const { return inside_.empty() ? nullptr : inside_.data(); }

 private:
  std::shared_ptr<const FeatureTable> table_;
  std::array<double, kBlockReals> real_{};
  std::vector<double> inside_;
};

class BlockDecoder {
 public:
  BlockDecoder(std::shared_ptr<const Grammar> grammar, std::vector<std::shared_ptr<const LanguageModel>> lms,
               BlockFeatures features);

  const std::shared_ptr<Vocab>& vocab() const { return vocab_; }
  const std::shared_ptr<Vocab>& features() const { return features_; }
  BlockFeatures which() const { return which_; }
  const Grammar& grammar() const { return *grammar_; }
  size_t lms() const { return lms_.size(); }
  const LanguageModel& lm(size_t model) const { return *lms_[model]; }
  /// A target word in a language model.
  uint32_t lm_word(size_t model, int32_t word) const { return lm_words_[model][word]; }

  // what a FeatureEmitter asks
  uint64_t source(int32_t word) const { return source_hash_[word]; }
  uint64_t target(int32_t word) const { return word >= 0 ? target_hash_[word] : word == kBosWord ? kStartHash : kEndHash; }
  const Vocab* source_vocab() const { return source_vocab_.get(); }
  const Vocab* target_vocab() const { return vocab_.get(); }

  /// Looks words up, and makes room for those not known: not to be called from two threads at once. `kinds` as in Hiero.
  BlockSource prepare(std::string id, std::string_view text, std::string_view kinds);
  /// The words of a reference.
  std::vector<int32_t> reference(std::string_view text);

  /// Calls a function while nobody reads the names of features.
  using Locked = std::function<void(const std::function<void()>&)>;

  /// Everything below is constant, but that forests bring new names of features (added under `locked`): one such call at a time.
  /// The single best sequence of each sentence. `references` (or none) give its BLEU.
  BlockSequences best(const std::vector<BlockSource>& sources, const std::vector<std::vector<int32_t>>& references,
                      const BlockWeights& w, const BlockOptions& options, int jobs) const;
  /// Lattices of all that was looked at.
  Pool decode(const std::vector<BlockSource>& sources, const BlockWeights& w, const BlockOptions& options, int jobs,
              const Locked& locked);
  /// Only the k best of each: lists, best first.
  Pool kbest(const std::vector<BlockSource>& sources, const BlockWeights& w, const BlockOptions& options, int64_t k,
             bool distinct, int jobs, const Locked& locked);

  /// One lattice, where no binary features are on: threads may call it at once.
  Forest lattice(const BlockSource& source, const BlockWeights& w, const BlockOptions& options) const;

  /// A block of a sequence.
  BlockView view(const BlockSource& source, const StoredBlock& block) const;
  /// Its target words.
  std::span<const int32_t> target_of(const BlockSource& source, const StoredBlock& block) const {
    return block.copy ? std::span<const int32_t>(source.copies).subspan(block.begin, 1) : grammar_->target(block.rule);
  }
  /// What a word is when it is copied (a StoredBlock::copy), or 0. `has_blocks`: the grammar translates it alone.
  static uint8_t copy_kind(const BlockSource& source, size_t i, bool known, bool has_blocks);
  bool knows(int32_t source_word) const { return source_word < grammar_->source_vocab()->size(); }
  /// The grammar's column of each of the four probabilities, or -1.
  const std::array<int, 4>& columns() const { return columns_; }

 private:
  friend class BlockWeights;
  struct Draft;
  void name(std::vector<Draft>& drafts);
  Forest made(const Draft& draft) const;
  std::vector<Draft> lattices(const std::vector<BlockSource>& sources, const BlockWeights& w, const BlockOptions& options,
                              int jobs) const;
  Pool finish(std::vector<Draft>& drafts, const std::vector<BlockSource>& sources, int jobs, const Locked& locked);
  template <class Fill>
  std::vector<Draft> drafts(const std::vector<BlockSource>& sources, const BlockWeights& w, const BlockOptions& options, int jobs,
                            Fill&& fill) const;

  static constexpr uint64_t kStartHash = text_hash("<s>"), kEndHash = text_hash("</s>");
  std::shared_ptr<const Grammar> grammar_;
  std::vector<std::shared_ptr<const LanguageModel>> lms_;
  BlockFeatures which_;
  std::shared_ptr<Vocab> source_vocab_ = std::make_shared<Vocab>(), vocab_ = std::make_shared<Vocab>(),
                         features_ = std::make_shared<Vocab>();
  int32_t target_word(std::string_view word);

  std::vector<uint64_t> source_hash_, target_hash_;
  std::vector<std::vector<uint32_t>> lm_words_;
  std::array<int, 4> columns_;
  std::shared_ptr<FeatureTable> ids_ = std::make_shared<FeatureTable>();  // key to id, of the features that forests have named
};

/// f over whole sequences: sink(template, parts...) for each binary feature as in block_features.h, real(i, value) for each
/// real-valued one that is not 0, one call a block or word. `lms`: ask the language models.
/// `bag`: blocks without order, whose identity features alone count (section 4.1).
template <class Sink, class Real>
void sequence_features(const BlockDecoder& d, const BlockSource& source, std::span<const StoredBlock> blocks, bool bag, bool lms,
                       Sink& sink, Real&& real) {
  FeatureEmitter<BlockDecoder, Sink> emit(d, d.which(), sink);
  BlockView views[2];
  const BlockView* before = nullptr;
  int32_t c = kNothing, last = kBosWord;
  for (size_t i = 0; i < blocks.size(); ++i) {
    BlockView& b = views[i & 1];
    b = d.view(source, blocks[i]);
    if (blocks[i].copy) real(kCopy + blocks[i].copy - 1, 1.0);
    if (bag) {
      emit.identity(b);
      continue;
    }
    const int32_t end = before ? before->end : 0;
    const Orientation o = b.begin == end                     ? Orientation::right
                          : before && b.end == before->begin ? Orientation::left
                                                             : Orientation::neutral;
    emit.inside(b);
    emit.between(before, c, last, b, o, b.begin - end);
    if (o == Orientation::left) real(kSwap, 1.0);
    real(kWord, static_cast<double>(b.target.size()));
    if (!blocks[i].copy) {
      real(kRule, 1.0);
      const auto row = d.grammar().row(blocks[i].rule);
      for (size_t k = 0; k < 4; ++k)
        if (d.columns()[k] >= 0) real(kColumns + k, static_cast<double>(row[d.columns()[k]]));
    }
    c = b.target.size() > 1 ? b.target[b.target.size() - 2] : last;
    last = b.target.back();
    before = &b;
  }
  if (bag || blocks.empty()) return;
  emit.end(before, c, last);
  if (lms)
    for (size_t model = 0; model < d.lms(); ++model) {
      double sum = 0;
      LmContext context[2] = {d.lm(model).begin_sentence(), {}};
      int now = 0;
      const auto word = [&](uint32_t w) {
        sum += d.lm(model).score(context[now], w, context[1 - now]).prob;
        now = 1 - now;
      };
      for (const StoredBlock& block : blocks)
        for (const int32_t e : d.target_of(source, block)) word(d.lm_word(model, e));
      word(kEos);
      real(kLm + model, 2.302585092994045684 * sum);
    }
}

}  // namespace hopefear
