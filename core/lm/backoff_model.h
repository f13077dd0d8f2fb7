// A back-off language model as lists: the result of estimation and of reading ARPA files, from which LanguageModel is built.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "util/array_store.h"
#include "util/vocab.h"

namespace hopefear {

inline constexpr int kMaxLmOrder = 6;
inline constexpr uint32_t kUnk = 0, kBos = 1, kEos = 2;  // <unk>, <s>, </s>: the same ids in every model
inline constexpr float kNeverPredicted = -99.0f;         // log10 p(<s>), as in other toolkits' files
inline constexpr float kUnkFloor = -100.0f;              // log10 p(<unk>) of a model that has none

/// A back-off weight of -0.0 marks an n-gram that nothing in the model follows, so that no state needs it.
inline constexpr float kNoExtension = -0.0f;
inline bool has_extension(float backoff) { return std::bit_cast<uint32_t>(backoff) != 0x80000000u; }

/// The n-grams w_1..w_n of one order. Unigrams are in the order of their word ids.
struct NgramList {
  KeptVector<uint32_t> word;    // w_1
  KeptVector<uint32_t> suffix;  // index of w_2..w_n in the list one order below (0 for unigrams)
  KeptVector<float> prob;       // log10 p(w_n | w_1..w_{n-1})
  KeptVector<float> backoff;    // log10 b(w_1..w_n); empty in the highest order
  KeptVector<float> rest;       // log10 p by a model of order n; empty in the highest order, and if unknown
  size_t size() const { return word.size(); }
};

/// Invariant: with w_1..w_n also w_2..w_n and w_1..w_{n-1} are listed.
struct BackoffModel {
  std::shared_ptr<Vocab> vocab = std::make_shared<Vocab>();
  std::vector<NgramList> lists;  // lists[n - 1] has order n
  int order() const { return static_cast<int>(lists.size()); }
};

/// Separators of words; bytes beyond ASCII never separate.
inline bool is_lm_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r') || c == '\0'; }

/// each(word) for the words of a line.
template <class Each>
void lm_words(std::string_view line, Each&& each) {
  size_t i = 0;
  for (;;) {
    while (i < line.size() && is_lm_space(line[i])) ++i;
    if (i == line.size()) return;
    const size_t begin = i;
    while (i < line.size() && !is_lm_space(line[i])) ++i;
    each(line.substr(begin, i - begin));
  }
}

}  // namespace hopefear
