// Rules of one sentence in addition to those of the grammar: terms of a glossary, words that stay as they are, rules from recent
// corrections.
//
// A rule covers the words [begin, end), except for those below its gaps, which are nonterminals. A forced rule is the only one that may
// cover any of its words: every derivation has it exactly once (of several forced rules over the same words, one of them). All other
// rules can only have a nonterminal over these words. Other rules of the sentence that cover such a word take no part.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "grammar/rule_table.h"
#include "hiero/hiero_model.h"

namespace hopefear {

struct HieroSource;

/// A rule as the caller describes it.
struct SentenceRule {
  /// Pairs of positions.
  using Pairs = std::vector<std::pair<int32_t, int32_t>>;

  int32_t begin = 0, end = 0;
  std::vector<std::variant<std::string, int32_t>> target;  // words, and numbers of gaps, from 1
  std::map<std::string, double> features;                  // in addition to those of language models, words, and templates
  bool forced = false;
  Pairs gaps;   // up to two spans from left to right, begin and end
  Pairs links;  // places on both sides, in symbols; none: the words of the target side are spread over those of the source side
};

/// The same with ids.
struct SourceRule {
  int32_t begin, end;
  bool forced;
  std::vector<std::array<int32_t, 2>> gaps;
  std::vector<int32_t> source, target;
  std::vector<std::array<uint32_t, kMaxLms>> lm;     // of each target symbol, in the language models
  std::vector<int32_t> joint;                        // and in the joint model
  std::vector<PackedLink> links;                     // in symbols of both sides
  std::vector<std::pair<int32_t, double>> features;  // by id
};

/// Adds rules to a text. Target words are added to the model's target vocabulary.
void add_rules(HieroModel& model, HieroSource& source, const std::vector<SentenceRule>& rules);

}  // namespace hopefear
