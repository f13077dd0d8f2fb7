#include "blocks/block_model.h"

#include <algorithm>
#include <iterator>

#include "util/error.h"
#include "util/text.h"

namespace hopefear {

std::vector<bool> chosen_reals(const std::vector<std::string>& names) {
  std::vector<bool> chosen(kBlockReals, false);
  for (const auto& name : names) {
    const auto found = std::find(std::begin(kBlockReal), std::end(kBlockReal), name);
    if (found == std::end(kBlockReal)) throw InputError("there is no real-valued feature " + name);
    chosen[found - std::begin(kBlockReal)] = true;
  }
  return chosen;
}

BlockModel::BlockModel(std::shared_ptr<const Grammar> grammar, std::vector<std::shared_ptr<const LanguageModel>> lms,
                       BlockFeatures features)
    : grammar_(std::move(grammar)), lms_(std::move(lms)), which_(features) {
  if (lms_.size() > kMaxLms) throw InputError("a decoder has at most " + std::to_string(kMaxLms) + " language models");
  const auto take = [](const Vocab& from, Vocab& to, std::vector<uint64_t>& hashes) {
    for (int32_t word = 0; word < from.size(); ++word) {
      to.add(from[word]);
      hashes.push_back(text_hash(from[word]));
    }
  };
  take(*grammar_->source_vocab(), *source_vocab_, source_hash_);
  take(*grammar_->target_vocab(), *vocab_, target_hash_);
  for (const char* name : kBlockReal) features_->add(name);
  for (size_t k = 0; k < columns_.size(); ++k) columns_[k] = grammar_->column(kBlockReal[kColumns + k]);
  for (uint32_t rule = 0; rule < grammar_->rules(); ++rule) {
    if (grammar_->target(rule).empty()) throw InputError("a block has no target words. Build the model again");
    for (const int32_t e : grammar_->target(rule))
      if (e < 0) throw InputError("this grammar has nonterminals, and blocks have none. Build one: hopefear build --kind blocks");
  }
  for (const auto& lm : lms_) lm->map_words(*vocab_, lm_words_.emplace_back());
}

/// The id of a target word. Pools share the vocabulary and add their own words, those of references for example, which the model meets here first.
int32_t BlockModel::target_word(std::string_view word) {
  const int32_t id = vocab_->add(word);
  for (auto next = static_cast<int32_t>(target_hash_.size()); next <= id; ++next) {
    target_hash_.push_back(text_hash((*vocab_)[next]));
    for (size_t m = 0; m < lms_.size(); ++m) lm_words_[m].push_back(lms_[m]->find_in_text((*vocab_)[next]));
  }
  return id;
}

BlockSource BlockModel::prepare(std::string id, std::string_view text, std::string_view kinds) {
  BlockSource source{std::move(id), std::string(text), {}, {}, {}};
  for_each_word(text, [&](std::string_view word) {
    const size_t place = source.words.size();
    const int32_t id_of = source_vocab_->add(word);
    if (static_cast<size_t>(id_of) == source_hash_.size()) source_hash_.push_back(text_hash(word));
    source.words.push_back(id_of);
    source.kinds.push_back(word_kind(place < kinds.size() ? kinds[place] : 'w'));
    bool alone = false;
    each_phrase(source.words, place, [&](size_t, uint32_t, uint32_t) { alone = true; });
    source.copies.push_back(copy_kind(source, place, alone) ? target_word(word) : -1);
  });
  if (source.words.size() > 65535)
    throw InputError("sentence " + source.id + " has " + std::to_string(source.words.size()) + " words. Split it");
  return source;
}

std::vector<BlockSource> BlockModel::prepare(const std::vector<std::string>& ids, const std::vector<std::string>& lines,
                                             const std::vector<std::string>& kinds) {
  if (ids.size() != lines.size() || kinds.size() != lines.size())
    throw InputError("one id, one line and the kinds of its words per sentence");
  std::vector<BlockSource> sources;
  for (size_t i = 0; i < lines.size(); ++i) sources.push_back(prepare(ids[i], lines[i], kinds[i]));
  return sources;
}

std::vector<int32_t> BlockModel::reference(std::string_view text) {
  std::vector<int32_t> words;
  for_each_word(text, [&](std::string_view word) { words.push_back(target_word(word)); });
  return words;
}

BlockView BlockModel::view(const BlockSource& source, const StoredBlock& block) const {
  const auto words = std::span<const int32_t>(source.words).subspan(block.begin, block.length);
  const auto target = target_of(source, block);
  return {words, target, source_hash(words), target_hash(target), block.begin, block.begin + block.length};
}

void BlockModel::words_of(const BlockSource& source, std::span<const StoredBlock> blocks, std::vector<int32_t>& words) const {
  words.clear();
  for (const StoredBlock& block : blocks) {
    const auto target = target_of(source, block);
    words.insert(words.end(), target.begin(), target.end());
  }
}

std::vector<std::string> BlockModel::texts(const std::vector<BlockSource>& sources, const BlockSequences& sequences) const {
  std::vector<std::string> lines;
  std::vector<int32_t> words;
  for (size_t i = 0; i < sequences.sentences(); ++i)
    for (uint64_t z = sequences.sentence_begin[i]; z < sequences.sentence_begin[i + 1]; ++z) {
      std::string& line = lines.emplace_back();
      words_of(sources[i], sequences.blocks_of(z), words);
      for (const int32_t e : words) line += (line.empty() ? "" : " ") + (*vocab_)[e];
    }
  return lines;
}

}  // namespace hopefear
