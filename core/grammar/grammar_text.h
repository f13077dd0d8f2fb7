// Grammars as text in the format of cdec and Joshua, one rule per line:
//
//   [X] ||| source ||| target ||| features ||| alignment
//
// Nonterminals are [X,1] and [X,2] (on the target side also [1] and [2]); features are name=value, or bare numbers, which
// become PhraseModel_0, PhraseModel_1, ... as in cdec; the alignment is 0-0 1-2, counted in symbols, and may be missing. Rules of [S] are glue rules:
// they are counted and left out, because the decoder has its own. A word that would be taken for a nonterminal or a
// separator has a backslash before it.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "grammar/rule_table.h"
#include "util/error.h"

namespace hopefear {

class GrammarTextReader {
 public:
  GrammarTextReader();
  void add(std::string_view line, const std::string& where, long number);
  /// Sorted by source side; within a side, rules keep their order. Of equal rules the first stays.
  RuleTable finish(int jobs);

  size_t glue() const { return glue_; }
  size_t repeated() const { return repeated_; }

 private:
  /// A parsed line.
  struct Rule {
    std::vector<int> numbers;  // of the nonterminals, in source order
    std::vector<int32_t> source, target;
    std::vector<Link> links;
  };
  /// The beginning of an error message.
  struct Place {
    const std::string& where;
    long number;
    InputError fail(const std::string& finding) const { return input_error(where, number, finding); }
  };
  static std::vector<std::string_view> fields(std::string_view line, const Place& place);
  void read_source(std::string_view field, const Place& place, Rule& rule);
  void read_target(std::string_view field, const Place& place, Rule& rule);
  static void check(const Rule& rule, const Place& place);
  void read_features(std::string_view field, const Place& place);
  static void read_links(std::string_view field, const Place& place, Rule& rule);

  RuleTable raw_;                                  // one "side" per rule, unsorted
  std::vector<std::pair<int32_t, float>> values_;  // (column, value)
  std::vector<size_t> value_begin_{0};
  Vocab columns_;
  size_t glue_ = 0, repeated_ = 0;
};

/// The rules of sides [begin, end) as lines.
std::string grammar_text(const RuleTable& table, size_t begin, size_t end);

}  // namespace hopefear
