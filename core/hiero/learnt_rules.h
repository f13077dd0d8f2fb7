// Rules from corrections: aligned pairs are added one by one, and a sentence gets the rules that match it (the dynamic grammar of
// Denkowski, Dyer and Lavie 2014, "Learning from post-editing").
//
// Source sides of all rules of all pairs are a trie. A rule has the numbers of the pairs that it occurs in, so that each view of the
// pairs (their number, and which of them count) has its own evidence: an occurrence weighs decay^(number of later pairs), and
// the latest kLookedAt occurrences of a source side count. Of its target sides the kWays with most evidence become rules.
//
// Counts are added to those of the grammar. With c and n the evidence of the rule and of its source side:
//   p(e|f) = (c_grammar + c) / (n_grammar + n),   p(f|e) = (c_grammar + c) / (n_grammar(e) + c)
// Lexical weights of a rule that the grammar does not have are those of Koehn et al. (2003), from words with (kPrior w + c) / (kPrior + c).
//
// Extraction is that of a model (grammar/extract.h), with at most one nonterminal. Differences: rules without a nonterminal have up
// to max_phrase source words; a rule with one has three words or more, counts once per pair, and is left to the grammar if the grammar has it.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "grammar/extract.h"
#include "grammar/grammar.h"
#include "hiero/sentence_rules.h"
#include "util/id_map.h"

namespace hopefear {

struct LearntLimits {
  int max_phrase;          // words of either side
  int max_source_symbols;  // of rules with a nonterminal
  int min_hole;
  int max_span;  // source words below a rule with a nonterminal
  bool tight;
  double decay;  // factor of an occurrence's weight for each later pair
};

/// For each of the first pairs, whether it counts; later pairs are ignored.
using LivePairs = std::span<const uint8_t>;

class LearntRules {
 public:
  /// `dense`: the features of the decoder among phrase_ef, phrase_fe, lexical_ef, lexical_fe and rule.
  LearntRules(std::shared_ptr<const Grammar> grammar, const std::vector<std::string>& dense, const LearntLimits& limits);

  /// Words between blanks, and links s0 t0 s1 t1 ...
  void add(std::string_view source, std::string_view target, const std::vector<int32_t>& links);
  size_t size() const { return text_->size(); }

  /// The rules that the pairs of a view give for a sentence. In addition to the dense features, a rule has corrected (1), corrected_words (source
  /// words) and corrected_new (words of both sides that the grammar does not know).
  std::vector<SentenceRule> rules(const std::vector<std::string>& words, LivePairs live) const;
  /// Whether a pair of the view has this phrase pair.
  bool has(const std::vector<std::string>& source, const std::vector<std::string>& target, LivePairs live) const;

 private:
  struct Occurrence {
    int32_t target, pair, before;  // before: the previous one of the same source side, or -1
  };
  struct Way {
    int32_t target, latest;
    double weight;
  };
  /// A path along both tries; a grammar node of kLost has no children.
  struct Path {
    int32_t node;
    uint32_t grammar;
    int32_t at, words;
    std::pair<int32_t, int32_t> gap;  // -1: none
  };
  struct Matches;

  void add_rule(const ExtractedRule& rule, int32_t pair);
  int32_t target_of(int32_t node, const ExtractedRule& rule);
  int32_t child(int32_t node, int32_t symbol) const { return children_.find(pair_key(node, static_cast<uint32_t>(symbol + 1))); }
  std::span<const int32_t> target(int32_t number) const {
    return {targets_.data() + target_begin_[number], target_begin_[number + 1] - target_begin_[number]};
  }
  std::span<const PackedLink> links(int32_t number) const {
    return {links_.data() + link_begin_[number], link_begin_[number + 1] - link_begin_[number]};
  }
  std::pair<std::vector<Way>, double> ways(int32_t node, LivePairs live) const;
  void walk(const Path& path, Matches& matches) const;
  void match(const Path& path, Matches& matches) const;
  std::vector<SentenceRule> rules_of(const Path& path, const Matches& matches) const;
  int64_t in_grammar(uint32_t grammar_node, std::span<const int32_t> target) const;
  std::pair<double, double> words_of(int32_t source, int32_t target) const;
  std::pair<double, double> lexical(const Way& way, std::span<const int32_t> source) const;

  std::shared_ptr<const Grammar> g_;
  LearntLimits limits_;
  int columns_[5];                  // of the grammar: the four probabilities, count
  std::vector<std::string> dense_;  // of these and rule, those that the decoder has
  std::shared_ptr<ParallelText> text_ = std::make_shared<ParallelText>();
  Extractor extractor_;
  std::vector<int32_t> source_ids_, target_ids_;  // of the words of text_ in the grammar; kStranger: not there

  KeyMap<int32_t> children_;   // of (node, symbol)
  std::vector<int32_t> last_;  // of each node, its last occurrence
  std::vector<Occurrence> occurrences_;
  std::vector<uint32_t> target_begin_{0}, link_begin_{0};
  std::vector<int32_t> targets_;  // symbols of target sides
  std::vector<PackedLink> links_;
  std::vector<double> worth_{1.0};  // of an occurrence, by the number of later pairs
};

}  // namespace hopefear
