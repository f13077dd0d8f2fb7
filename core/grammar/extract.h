// Rule extraction for hierarchical phrase-based translation (Chiang 2007, sections 3.1 and 3.2), and phrase pairs with
// orientations for the block-sequence model (Tillmann and Zhang 2006, section 2).
//
// An initial phrase pair has at least one link inside and none that leaves it. Every initial phrase pair yields rules by
// replacing up to two of its sub-phrases by nonterminals; it has weight one, shared equally among its rules (fractional
// counts), and relative frequencies of the sums are the phrase probabilities. The limits are Chiang's:
//   1. words at the edges of initial phrases are aligned ("tight"; `tight` = false lifts it),
//   2. initial phrases have at most max_phrase words on either side,
//   3. rules have at most max_source_symbols symbols on the source side,
//   4. at most max_nonterminals nonterminals (2),
//   5. which are not adjacent on the source side,
//   6. and at least one pair of aligned words remains in a rule.
// Of the alignments that a rule was seen with, the most frequent is kept (ties: the first in lexicographic order).
//
// Each distinct (rule, alignment) is one 32-byte entry that points at one of its occurrences in the text; entries live in
// hash tables split by the hash of the source side. Counts are integers (units of 2^-36), so that the result does not
// depend on the number of threads. Rules are identified by 73 bits of hash: a collision among 50 million rules has a
// probability of about 1e-7.
//
// A text whose entries do not fit in memory, or that several machines share, is processed in three steps, with the same result:
// run() and take() for some of the pairs at a time; merged() for each part of the source sides; write_grammar (grammar_writer.h).
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "grammar/parallel_text.h"
#include "grammar/rule_table.h"

namespace hopefear {

struct ExtractOptions {
  int max_phrase;          // words of an initial phrase, either side; at most 15
  int max_source_symbols;  // terminals and nonterminals; at most 15
  int max_nonterminals;    // 0: phrase pairs only
  int min_hole;            // least number of source words that a nonterminal covers
  bool tight;
  bool fractional;       // false: every rule of an occurrence counts 1
  int min_occurrences;   // rules without nonterminals seen less often are dropped (after estimation)
  int min_hierarchical;  // the same for rules with nonterminals
  int max_options;       // rules kept per source side, by p(e|f); 0: all
  bool orientations;     // count the place on the source side of a phrase's predecessor on the target side
};

/// An occurrence of a rule in a pair, with its links in symbols.
struct ExtractedRule {
  std::span<const int32_t> source, target;
  std::span<const Link> links;
};

class Extractor {
 public:
  Extractor(std::shared_ptr<const ParallelText> text, ExtractOptions options);
  ~Extractor();

  static constexpr int kParts = 64;  // of the source sides, by their hashes

  /// Extracts from pairs [begin, end).
  void run(size_t begin, size_t end, int jobs);
  /// All rule occurrences of a pair, without counting them.
  void each(size_t pair, const std::function<void(const ExtractedRule&)>& body) const;
  /// Moves out the entries of one part so far.
  std::vector<uint8_t> take(int part);
  /// The rules of one part for write_grammar, merged from all entries taken of it on any machine, with all scores except p(f|e).
  std::vector<uint8_t> merged(std::span<const std::span<const uint8_t>> taken, int jobs);
  /// Scores and sorts all rules. Columns: phrase_ef, phrase_fe, lexical_ef, lexical_fe (natural logarithms), count, and with
  /// orientations left, right, neutral (counts).
  RuleTable finish(int jobs);

  size_t instances() const;  // rule occurrences seen
  size_t entries() const;    // distinct (rule, alignment) in memory
  size_t rules() const;      // distinct rules of finish() and merged(), dropped ones included

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hopefear
