// Sparse feature templates of a model, declared by name: the feature with id first + i has the i-th name of the list.
//
//   lex(e)  lex(f,e)  lex(NULL,e)   an output word e is generated; ... aligned to the input word f; ... unaligned. Words that are
//                                   not in the list of frequent words are UNK (Chiang 2012, section 7)
//   group(type,a,b)                 the log probability `type` of a rule both of whose sides have a to b symbols (Tan et al.
//                                   2013, section 4)
//   shape(s,t)                      the form of a rule (Chiang, Knight and Wang 2009): the runs of words and the nonterminals X, Y
//                                   of its sides, as shape(aX,Xa), where a is a run of words
//   distance(keep,n)  distance(swap,n)
//                                   a nonterminal of a rule covers n source words, kDistances or more as kDistances; swap if the rule's two
//                                   nonterminals change places, keep if not or if there is one only (Chiang, Marton and Resnik 2008)
//   pair(f,e)  unigram(e)  bigram(d,e)  trigram(c,d,e)  trigger(d,e)
//                                   counts of frequent lexical patterns (Gimpel and Smith 2012, section 4.3); pairs are
//                                   aligned, a trigger pair is d anywhere before e at a distance of at least kTriggerDistance
//
// In names, the characters ( ) , % = and blanks of words are written %XX, and the words NULL and UNK %4EULL and %55NK.
//
// add_rule gives the ids of all templates that depend on one rule only. The others need the place of a rule in the sentence or
// neighbouring words: distance(), bigram(), trigram(), trigger() look up one pattern, for a decoder or rescorer that knows these.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "grammar/rule_table.h"
#include "util/id_map.h"
#include "util/vocab.h"

namespace hopefear {

class Grammar;

class FeatureTemplates {
 public:
  static constexpr int kTriggerDistance = 3;
  static constexpr int kGroups = 10;     // lengths that group features distinguish
  static constexpr int kDistances = 10;  // and widths of nonterminals

  /// Feature i of `names` has the id first + i; an empty name leaves it out. `columns` are the names of the grammar's columns,
  /// which group features read.
  /// An InputError for a malformed name starts with `where`.
  FeatureTemplates(const std::vector<std::string>& names, int32_t first, const Vocab& source, const Vocab& target,
                   const std::vector<std::string>& columns, const std::string& where);

  using Values = std::vector<std::pair<int32_t, float>>;
  /// Appends (id, value) of one rule application; an id may come several times. Symbols are as in a grammar; words with ids
  /// beyond its vocabularies are unknown words. `row` has the rule's columns, or is empty.
  void add_rule(std::span<const int32_t> source, std::span<const int32_t> target, std::span<const PackedLink> links,
                std::span<const float> row, Values& out) const;

  int32_t unigram(int32_t e) const { return at(unigram_, e, -1); }
  int32_t bigram(int32_t d, int32_t e) const { return bigram_.find(pack(d, e)); }
  int32_t trigram(int32_t c, int32_t d, int32_t e) const {
    const int32_t prefix = trigram_prefix_.find(pack(c, d));
    return prefix < 0 ? -1 : trigram_.find(pack(prefix, e));
  }
  /// d stands kTriggerDistance or more words before e.
  int32_t trigger(int32_t d, int32_t e) const { return trigger_.find(pack(d, e)); }
  int32_t pair(int32_t f, int32_t e) const { return pair_.find(pack(f, e)); }
  int32_t distance(bool swaps, int32_t words) const { return distance_[swaps][std::min(words, kDistances)]; }
  bool has_distance() const { return has_distance_; }
  /// Whether any bigram or trigram, any trigger pair has this word; whether any pair has it as its second word.
  bool in_ngram(int32_t e) const { return at(uses_, e, 0) & kInNgram; }
  bool in_trigger(int32_t e) const { return at(uses_, e, 0) & (kTriggers | kTriggered); }
  bool is_triggered(int32_t e) const { return at(uses_, e, 0) & kTriggered; }
  bool has_trigrams() const { return !trigram_.empty(); }
  bool has_ngrams() const { return has_trigrams() || !bigram_.empty(); }
  bool has_triggers() const { return !trigger_.empty(); }
  bool has_pairs() const { return !pair_.empty(); }
  bool stateful() const { return !bigram_.empty() || !trigram_.empty() || !trigger_.empty(); }
  int32_t size() const { return size_; }

 private:
  static uint64_t pack(int32_t a, int32_t b) {
    return static_cast<uint64_t>(static_cast<uint32_t>(a)) << 32 | static_cast<uint32_t>(b);
  }
  static int32_t at(const std::vector<int32_t>& values, int32_t word, int32_t otherwise) {
    return word >= 0 && static_cast<size_t>(word) < values.size() ? values[word] : otherwise;
  }

  static constexpr int32_t kInNgram = 1, kTriggers = 2, kTriggered = 4;
  class Reader;
  /// The features of words and their links. Frequent words are numbered; 0 is UNK.
  struct LinkFeatures {
    bool any = false;
    std::vector<int32_t> source, target;  // number of each word
    std::vector<int32_t> e, null;         // ids by number
    IdMap fe;

    template <class Fire>
    void add(std::span<const int32_t> source_side, std::span<const PackedLink> links, size_t t, int32_t word, Fire&& fire) const {
      const int32_t number = at(target, word, 0);
      bool aligned = false;
      for (const PackedLink link : links) {
        if (link.t != t) continue;
        aligned = true;
        fire(fe.find(pack(at(source, source_side[link.s], 0), number)));
      }
      fire(e[number]);
      if (!aligned) fire(null[number]);
    }
  };

  int32_t size_ = 0;
  LinkFeatures lex_;
  std::vector<std::pair<int, std::array<std::array<int32_t, kGroups + 1>, kGroups + 1>>> groups_;  // column, ids by (a, b)
  std::vector<int32_t> unigram_, uses_;                                                            // by word
  IdMap shape_;                                                                                    // by shape_key
  std::array<std::array<int32_t, kDistances + 1>, 2> distance_;                                    // by swaps, words
  bool has_distance_ = false;
  IdMap pair_, bigram_, trigram_prefix_, trigram_, trigger_;
};

/// The parts of a feature name: template, then its words. Throws std::invalid_argument.
std::vector<std::string> parse_feature(std::string_view name);
std::string feature_name(std::span<const std::string> parts);

/// The names of all shapes of a grammar's rules, the most frequent first.
std::vector<std::string> grammar_shapes(const Grammar& grammar);

/// The number of occurrences of a word e with a word d kTriggerDistance or more words before it, for words whose rank is
/// below `limit` (rank[w]: the place of w by frequency). Rows (d, e, count), sorted.
std::vector<std::array<int32_t, 3>> trigger_counts(const class ParallelText& text, std::span<const int32_t> rank, int32_t limit,
                                                   int jobs);

}  // namespace hopefear
