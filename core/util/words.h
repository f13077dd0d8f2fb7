// Converts text to words of a vocabulary, and back. Words are separated by ASCII blanks, and written with one blank between them.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "util/text.h"
#include "util/vocab.h"

namespace hopefear {

/// Adds new words to the vocabulary.
inline std::vector<int32_t> add_words(std::string_view text, Vocab& vocab) {
  std::vector<int32_t> words;
  for_each_word(text, [&](std::string_view word) { words.push_back(vocab.add(word)); });
  return words;
}

/// Words that the vocabulary does not have become -1.
inline std::vector<int32_t> find_words(std::string_view text, const Vocab& vocab) {
  std::vector<int32_t> words;
  for_each_word(text, [&](std::string_view word) { words.push_back(vocab.find(word)); });
  return words;
}

inline void append_words(std::string& out, const Vocab& vocab, std::span<const int32_t> words) {
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) out += ' ';
    out += vocab[words[i]];
  }
}

inline std::string text_of(const Vocab& vocab, std::span<const int32_t> words) {
  std::string text;
  append_words(text, vocab, words);
  return text;
}

}  // namespace hopefear
