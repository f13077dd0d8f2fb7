#include "metrics/corpus.h"

#include <algorithm>

#include "forest/stored_forest.h"
#include "util/unicode.h"

namespace hopefear {

Pool corpus_pool(const std::vector<std::string>& hypotheses,
                 const std::vector<std::vector<std::optional<std::string>>>& references) {
  Pool pool;
  pool.sentences.reserve(hypotheses.size());
  std::vector<int32_t> words;
  const auto read = [&](std::string_view text) {
    words.clear();
    split_words(text, [&](std::string_view word) { words.push_back(pool.vocab->add(word)); });
  };
  for (size_t i = 0; i < hypotheses.size(); ++i) {
    ForestBuilder builder(pool.vocab, pool.features);
    builder.add_node();
    read(hypotheses[i]);
    builder.add_edge({}, words, nullptr);
    Sentence sentence{std::to_string(i + 1), "", builder.finish(), {}};
    for (const auto& reference : references) {
      if (i >= reference.size() || !reference[i]) continue;
      read(*reference[i]);
      sentence.references.push_back(words);
    }
    drop_missing(sentence.references);
    pool.sentences.push_back(std::move(sentence));
  }
  return pool;
}

void split_all(const std::vector<std::string>& texts, Vocab& vocab, std::vector<int64_t>& begin, std::vector<int32_t>& words) {
  begin.assign(1, 0);
  begin.reserve(texts.size() + 1);
  for (const auto& text : texts) {
    split_words(text, [&](std::string_view word) { words.push_back(vocab.add(word)); });
    begin.push_back(static_cast<int64_t>(words.size()));
  }
}

Pool with_texts(const Pool& pool, const std::vector<std::string>& texts,
                const std::vector<std::vector<std::string>>& references) {
  struct Words {
    std::vector<int32_t> begin{0}, words;
    std::shared_ptr<const void> rest;  // the arrays that did not change
  };
  const auto row_begin = pool.row_begin();
  if (texts.size() != static_cast<size_t>(row_begin.back()) || references.size() != pool.size())
    throw InputError("there must be one text for each candidate and one set of references for each sentence");
  Pool out = pool;
  out.vocab = std::make_shared<Vocab>();
  const auto append = [&](const std::string& text, std::vector<int32_t>& words) {
    split_words(text, [&](std::string_view word) { words.push_back(out.vocab->add(word)); });
  };
  for (size_t i = 0; i < pool.size(); ++i) {
    Sentence& s = out.sentences[i];
    auto w = std::make_shared<Words>();
    for (int64_t row = row_begin[i]; row < row_begin[i + 1]; ++row) {
      append(texts[row], w->words);
      w->begin.push_back(static_cast<int32_t>(w->words.size()));
    }
    w->rest = s.forest.owner;
    s.forest.word_begin = w->begin;
    s.forest.words = w->words;
    s.forest.vocab = out.vocab;
    s.forest.owner = std::move(w);
    s.forest = stored(std::move(s.forest));
    s.references.assign(references[i].size(), {});
    for (size_t r = 0; r < references[i].size(); ++r) append(references[i][r], s.references[r]);
  }
  return out;
}

bool has_space(const Vocab& vocab) {
  for (int32_t id = 0; id < vocab.size(); ++id) {
    const std::string& text = vocab[id];
    if (std::ranges::all_of(text, [](char c) { return c > ' ' && c < 0x7f; })) continue;  // most words
    for (size_t i = 0; i < text.size();)
      if (is_space(next_character(text, i))) return true;
  }
  return false;
}

}  // namespace hopefear
