// Interpolated modified Kneser-Ney estimation: Chen and Goodman 1998, "An empirical study of smoothing techniques for language
// modeling", with the conventions of Heafield et al. 2013, "Scalable modified Kneser-Ney language model estimation", section 3.
//
//   a(w_1^n) = c(w_1^n) if n = N or w_1 = <s>, else |{v : c(v w_1^n) > 0}|                         adjusted counts
//   t_{n,k}  = |{w_1^n : a(w_1^n) = k}|                                                             counts of counts
//   D_n(k)   = k - (k+1) t_{n,1} t_{n,k+1} / ((t_{n,1} + 2 t_{n,2}) t_{n,k}),  k = 1, 2, 3; D_n(k>3) = D_n(3)
//   u(w_n | w_1^{n-1}) = (a(w_1^n) - D_n(a(w_1^n))) / sum_x a(w_1^{n-1} x)
//   b(w_1^{n-1})       = sum_x D_n(a(w_1^{n-1} x)) / sum_x a(w_1^{n-1} x)
//   p(w_n | w_1^{n-1}) = u(w_n | w_1^{n-1}) + b(w_1^{n-1}) p(w_n | w_2^{n-1})
//   p(w) = u(w) + b() / |V|, V = all words, <unk> and </s> included, <s> not
//
// Each line is a sentence, an empty one too. <unk> in the text is counted as the unknown word; <s> and </s> in the text are skipped.
// If a D_n(k) is undefined (t_{n,k} = 0, or D outside (0, k]), as in small corpora, order n gets the fall-back discounts.
// An n-gram of order n with c <= prune[n-1] is left out: its probability mass goes to b of its context.
// Counting is done by ngram_counts.h.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lm/ngram_counts.h"

namespace hopefear {

/// A text as word ids: every sentence is <s> words </s>.
struct LmText {
  std::shared_ptr<Vocab> vocab;
  KeptVector<uint32_t> words;
  uint64_t sentences = 0;
  uint64_t skipped = 0;  // <s> and </s> inside sentences

  LmText();
  /// Lines end in '\n'; `name` is for messages. May be called several times.
  void add(std::string_view text, const std::string& name, int jobs);
  /// The k-th of `count` slices: whole sentences, together the whole text.
  std::span<const uint32_t> slice(size_t k, size_t count) const;
};

struct LmDiscounts {
  std::array<double, 3> d{};  // D(1), D(2), D(3+)
  bool fallback = false;
};

struct LmEstimateOptions {
  int order;
  std::vector<uint64_t> prune;               // per order, the last one repeats; empty: nothing
  std::array<double, 3> fallback_discounts;  // for orders whose counts of counts give none
  int jobs;
  std::vector<std::span<const uint8_t>> ranges{};  // n-grams that were counted before: as for join_ranges
};

/// What is to be counted. Throws InputError for invalid options, and for a text that does not fit.
NgramSpec ngram_spec(const LmText& text, int order, std::vector<uint64_t> prune);

/// discounts: output of the discounts of each order, or null.
BackoffModel estimate(LmText&& text, const LmEstimateOptions& options, std::vector<LmDiscounts>* discounts);

}  // namespace hopefear
