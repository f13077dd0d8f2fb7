// Scores of whole texts by a language model, in parallel.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "lm/language_model.h"

namespace hopefear {

/// How well a model predicts a text.
struct LmEvaluation {
  int64_t sentences = 0, tokens = 0, unknown = 0;  // tokens: words and </s>; unknown: words that the model does not know
  double log10_prob = 0, log10_prob_unknown = 0;   // of all tokens; of the unknown words among them
};

/// One sentence per line. Sums of fixed blocks in a fixed order: the result does not depend on the number of threads.
LmEvaluation evaluate(const LanguageModel& model, std::string_view text, int jobs);

/// log10 p of each word; sequence s is words[begin[s] .. begin[s + 1]). Throws InputError for invalid offsets and words.
std::vector<double> score_ids(const LanguageModel& model, std::span<const uint32_t> words, std::span<const int64_t> begin,
                              bool bos, int jobs);

struct BracketedScores {
  std::vector<double> scores;  // log10 p of each sequence
  int64_t rules = 0;           // applied in all
};

/// The same sequences through random trees of rules with at most two nonterminals: what a chart decoder does to one derivation.
/// With `marks`, between <s> and </s>.
BracketedScores bracketed_scores(const LanguageModel& model, std::span<const uint32_t> words, std::span<const int64_t> begin,
                                 uint64_t seed, bool marks, int jobs);

}  // namespace hopefear
