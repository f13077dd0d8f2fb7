// Forced decoding: the best derivation of a hierarchical or block model whose yield is a given translation.
//
// The source and the candidate are parsed together. An item is a span [i, j) of the source with a span [k, l) of the candidate, made by a
// rule of the grammar (all target sides take part) or by a word that is copied, as hiero_decoder.h says; glue joins items from left
// to right. Language model scores are the same for all derivations of a string and are not computed here. Where no derivation yields
// the candidate, glue may leave words of either side out: the derivation with the fewest such words is taken, and among these
// the best by the model. So one search serves both cases, which the number of words left out distinguishes.
//
// A block model (block_decoder.h) has no nonterminals and no glue: blocks follow each other, and two neighbours may swap. Words may be
// left out between any two blocks, also between two that swap.
//
// Rules are matched with the source once per sentence; each candidate then only sees rules whose words it has. Of equal scores the
// first wins.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "forest/pool.h"
#include "grammar/grammar.h"

namespace hopefear {

class ForcedDecoder {
 public:
  /// The features of a derivation in the order of its columns, and then: `skipped_source` and `skipped_target`, the words left out,
  /// and `missing`, 1 if there are any.
  static std::vector<std::string> features(bool blocks);
  static std::vector<std::string> columns(bool blocks);

  /// `weights` are those of features(). Rules with nonterminals cover at most max_span source words.
  ForcedDecoder(std::shared_ptr<const Grammar> grammar, std::vector<double> weights, int max_span, bool blocks);

  /// The features of every row of a pool of lists. Its words and `sources` are spelt as in the model; `kinds` as for decoders.
  std::vector<double> rows(const Pool& pool, const std::vector<std::string>& sources, const std::vector<std::string>& kinds,
                           int jobs) const;

  /// A rule of a derivation: the part before it in depth-first order whose depth is one less is its parent.
  struct Step {
    int32_t depth;
    int32_t i, j, k, l;          // source and candidate words
    std::string source, target;  // of the rule, nonterminals as [1] and [2]
    double score;
  };
  /// The derivation of one candidate, part by part from left to right.
  std::vector<Step> explain(std::string_view source, std::string_view kinds, std::string_view candidate) const;

 private:
  class Sentence;
  class Parse;

  std::shared_ptr<const Grammar> grammar_;
  std::vector<double> weights_;
  std::array<int, 4> column_;  // of the grammar, for the first features
  int max_span_;
  bool blocks_;
};

}  // namespace hopefear
