// The block-sequence model without its weights: blocks, language models, words with their hashes, and real-valued features.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "blocks/block_features.h"
#include "blocks/block_sequences.h"
#include "grammar/grammar.h"
#include "lm/language_model.h"
#include "search/source.h"

namespace hopefear {

/// A sentence as the model sees it: words are of its own vocabularies.
struct BlockSource {
  std::string id, text;
  std::vector<int32_t> words;
  std::vector<WordKind> kinds;
  std::vector<int32_t> copies;  // the word on the target side, or -1 if it is not copied
};

/// The real-valued features, which are the dense ones of forests, in the order of their columns.
inline constexpr const char* kBlockReal[] = {"lm",   "lm2",  "phrase_ef", "phrase_fe", "lexical_ef", "lexical_fe", "rule",
                                             "word", "swap", "identity",  "unknown",   "number",     "name"};
inline constexpr size_t kBlockReals = 13;
enum BlockReal : size_t { kLm, kLm2, kColumns, kRule = 6, kWord, kSwap, kCopy };  // kCopy + copy - 1

/// Which of kBlockReal are named.
std::vector<bool> chosen_reals(const std::vector<std::string>& names);

class BlockModel {
 public:
  BlockModel(std::shared_ptr<const Grammar> grammar, std::vector<std::shared_ptr<const LanguageModel>> lms,
             BlockFeatures features);

  const std::shared_ptr<Vocab>& vocab() const { return vocab_; }
  const std::shared_ptr<Vocab>& features() const { return features_; }
  BlockFeatures which() const { return which_; }
  const Grammar& grammar() const { return *grammar_; }
  size_t lms() const { return lms_.size(); }
  const LanguageModel& lm(size_t model) const { return *lms_[model]; }
  /// A target word in a language model.
  uint32_t lm_word(size_t model, int32_t word) const { return lm_words_[model][word]; }
  /// log10 of target words behind a context.
  double lm_score(size_t model, const LmContext& before, std::span<const int32_t> words, LmContext& after) const {
    LmContext context[2] = {before, {}};
    int now = 0;
    double log = 0;
    for (const int32_t e : words) {
      log += lm(model).score(context[now], lm_word(model, e), context[1 - now]).prob;
      now = 1 - now;
    }
    after = context[now];
    return log;
  }

  // what a FeatureEmitter calls
  uint64_t source(int32_t word) const { return source_hash_[word]; }
  uint64_t target(int32_t word) const { return word >= 0 ? target_hash_[word] : word == kBosWord ? kStartHash : kEndHash; }
  const Vocab* source_vocab() const { return source_vocab_.get(); }
  const Vocab* target_vocab() const { return vocab_.get(); }
  /// The hashes of phrases.
  uint64_t source_hash(std::span<const int32_t> words) const {
    uint64_t hash = kPhrase;
    for (const int32_t f : words) hash = phrase_add(hash, source(f));
    return hash;
  }
  uint64_t target_hash(std::span<const int32_t> words) const {
    uint64_t hash = kPhrase;
    for (const int32_t e : words) hash = phrase_add(hash, target(e));
    return hash;
  }

  /// Looks words up and adds those that are unknown: not thread-safe. `kinds` has a letter for each
  /// word (word_kind).
  BlockSource prepare(std::string id, std::string_view text, std::string_view kinds);
  std::vector<BlockSource> prepare(const std::vector<std::string>& ids, const std::vector<std::string>& lines,
                                   const std::vector<std::string>& kinds);
  /// The words of a reference.
  std::vector<int32_t> reference(std::string_view text);

  /// A block of a sequence.
  BlockView view(const BlockSource& source, const StoredBlock& block) const;
  /// Its target words.
  std::span<const int32_t> target_of(const BlockSource& source, const StoredBlock& block) const {
    return block.copy ? std::span<const int32_t>(source.copies).subspan(block.begin, 1) : grammar_->target(block.rule);
  }
  /// The target words of a whole sequence.
  void words_of(const BlockSource& source, std::span<const StoredBlock> blocks, std::vector<int32_t>& words) const;
  /// The text of each sequence.
  std::vector<std::string> texts(const std::vector<BlockSource>& sources, const BlockSequences& sequences) const;

  bool knows(int32_t source_word) const { return source_word < grammar_->source_vocab()->size(); }
  /// What a word is when it is copied (a StoredBlock::copy), or 0. `has_blocks`: the grammar translates it alone.
  uint8_t copy_kind(const BlockSource& source, size_t i, bool has_blocks) const {
    if (source.kinds[i] == WordKind::number) return 3;
    if (source.kinds[i] == WordKind::name) return 4;
    if (!knows(source.words[i])) return 2;
    return has_blocks ? 0 : 1;
  }
  /// body(end, first, last) for all source phrases [begin, end) that have blocks: the rules [first, last) of the grammar.
  template <class Body>
  void each_phrase(const std::vector<int32_t>& words, size_t begin, Body&& body) const {
    uint32_t node = Grammar::kRoot;
    for (size_t end = begin; end < words.size() && end - begin < Grammar::kMaxSymbols && knows(words[end]); ++end) {
      node = grammar_->child(node, words[end]);
      if (node == Grammar::kNone) return;
      const auto [first, last] = grammar_->rules_of(node);
      if (first != last) body(end + 1, first, last);
    }
  }

  /// real(i, value) for the real-valued features that a rule of the grammar has.
  template <class Real>
  void rule_reals(uint32_t rule, Real&& real) const {
    real(kRule, 1.0);
    const auto row = grammar_->row(rule);
    for (size_t k = 0; k < columns_.size(); ++k)
      if (columns_[k] >= 0) real(kColumns + k, static_cast<double>(row[columns_[k]]));
  }

 private:
  int32_t target_word(std::string_view word);

  static constexpr uint64_t kStartHash = text_hash("<s>"), kEndHash = text_hash("</s>");
  std::shared_ptr<const Grammar> grammar_;
  std::vector<std::shared_ptr<const LanguageModel>> lms_;
  BlockFeatures which_;
  std::shared_ptr<Vocab> source_vocab_ = std::make_shared<Vocab>(), vocab_ = std::make_shared<Vocab>(),
                         features_ = std::make_shared<Vocab>();
  std::vector<uint64_t> source_hash_, target_hash_;
  std::vector<std::vector<uint32_t>> lm_words_;
  std::array<int, 4> columns_;  // the grammar's column of each of the four probabilities, or -1
};

}  // namespace hopefear
