// Hierarchical decoding: CKY with cube pruning over a synchronous grammar (Chiang 2007, "Hierarchical phrase-based
// translation"), and the forest of everything that was looked at as its result.
//
//   X -> <gamma, alpha>        rules of the grammar over at most max_span words if they have nonterminals
//   X -> <f, f>                a word that is copied: an unknown one, a known one that no rule translates alone, a number, a name
//   S -> <X, X> | <S X, S X>   glue; it begins with <s>, and the goal adds </s>
//
// The source is a lattice, and text a lattice with one path. A span is a pair of nodes, as wide as the fewest words between them.
// A node of the forest is a nonterminal over a span with the states of the language models on both sides; an edge is a
// rule application that survived. Of the options of a source side only the best max_options take part, judged by the model
// with the language model's estimate for the words of the rule alone.
//
// Cube pruning differs from the paper in one point: a cell of a cube is reached from one predecessor only (its last rank
// that is not zero lowered by one), so that no set of seen cells is kept. The language model is asked before a cell is
// queued; asking only those that reach the front of the queue under an estimate was no faster and found less. Equal
// scores: what came first wins. So the result depends on nothing but model, weights, options and sentence.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "forest/forest.h"
#include "forest/pool.h"
#include "grammar/grammar.h"
#include "grammar/templates.h"
#include "lm/language_model.h"
#include "search/rescore.h"

namespace hopefear {

inline constexpr size_t kMaxLms = 2;

struct HieroOptions {
  int64_t pop_limit = 200;   // rule applications kept a span; 0: all
  int64_t max_options = 20;  // target sides of one source side; 0: all
  int64_t max_span = 10;     // source words below a rule with nonterminals
  // Which edges of the forest stay, by the best derivation that uses them (prune.h); the rest is never written out.
  int64_t max_edges = 0;  // at most so many; 0: all
  double beam = -1;       // those whose best derivation is worse than the best by at most this; below 0: all
  // Features that see more than one rule are added to the forest by cube pruning (rescore.h), if there are any.
  int64_t rescore_edges = 2000;  // so many edges of the forest take part; 0: all
  int64_t rescore_limit = 100;   // edges kept a node then; 0: all
};

/// What a word of the source is, besides being a word (Model's text pipeline tells).
enum class WordKind : uint8_t { word, number, name };

/// A lattice of words: arcs between nodes 0 .. length(), sorted by the nodes where they end. Text is a lattice with one path.
struct HieroSource {
  std::string id, text;
  // of each arc
  std::vector<int32_t> words;  // of the grammar's source vocabulary; -1: unknown
  std::vector<WordKind> kinds;
  std::vector<int32_t> copies;                    // the same words in the decoder's target vocabulary
  std::vector<std::array<uint32_t, kMaxLms>> lm;  // and in the language models
  std::vector<int32_t> from;                      // the node where it begins
  std::vector<double> scores;                     // as many an arc as the decoder has features for them; none of text

  std::vector<int32_t> into;  // the arcs that end at node j are into[j] .. into[j + 1]
  bool lattice = false;

  int32_t length() const { return static_cast<int32_t>(into.size()) - 2; }
  bool is_text() const { return !lattice; }
  int32_t to(size_t arc) const {
    return static_cast<int32_t>(std::upper_bound(into.begin(), into.end(), static_cast<int32_t>(arc)) - into.begin()) - 1;
  }
};

class HieroSearch;

class HieroDecoder {
 public:
  /// `names` are the dense features: any of lm, lm2, rule, word, glue, identity, unknown, number, name, and columns of the
  /// grammar; then come the names of sparse features, which `templates` (or null) knows by the same ids. `arcs` are those of `names`
  /// that are scores of the arcs of lattices.
  HieroDecoder(std::shared_ptr<const Grammar> grammar, std::vector<std::shared_ptr<const LanguageModel>> lms,
               const std::vector<std::string>& names, const std::vector<std::string>& sparse,
               std::shared_ptr<const FeatureTemplates> templates, const std::vector<std::string>& arcs = {});
  ~HieroDecoder();

  const std::shared_ptr<Vocab>& vocab() const { return vocab_; }
  const std::shared_ptr<Vocab>& features() const { return features_; }
  int32_t dense_width() const { return dense_width_; }

  /// Looks words up, and makes room for those that may be copied: not to be called from two threads at once.
  HieroSource prepare(std::string id, std::string_view text, std::string_view kinds);
  /// The same for a lattice: a forest whose edges have a tail at most, which comes first. `kinds` has a letter for each word of its
  /// vocabulary. Arcs without words are taken out; a path without any word is left out if there are others.
  HieroSource prepare(std::string id, const Forest& lattice, std::string_view kinds);

  /// Everything below is constant: threads share one decoder. The forest of one sentence. The work space and what was
  /// looked up for a source side are kept for the next sentence; nothing here takes time by the number of weights.
  Forest decode(const HieroSource& source, const double* w, const HieroOptions& options) const;
  /// The forests of many, in order.
  Pool decode(const std::vector<HieroSource>& sources, const double* w, const HieroOptions& options, int jobs) const;
  /// Only the k best of each: lists, best first.
  Pool kbest(const std::vector<HieroSource>& sources, const double* w, const HieroOptions& options, int64_t k, bool distinct,
             int jobs) const;

 private:
  friend class HieroSearch;
  struct Borrowed;
  Pool empty_pool() const;
  void add_word(HieroSource& source, std::string_view word, char kind);
  Pool each(const std::vector<HieroSource>& sources, int jobs, const std::function<Forest(const HieroSource&)>& body) const;

  std::shared_ptr<const Grammar> grammar_;
  std::vector<std::shared_ptr<const LanguageModel>> lms_;
  std::shared_ptr<const FeatureTemplates> templates_;
  StatefulFeatures stateful_;
  std::shared_ptr<Vocab> vocab_ = std::make_shared<Vocab>(), features_ = std::make_shared<Vocab>();
  int32_t dense_width_ = 0;
  std::array<int32_t, kMaxLms> lm_id_{-1, -1};
  int32_t rule_id_, word_id_, glue_id_, identity_id_, unknown_id_, number_id_, name_id_;  // -1: no such feature
  std::vector<int32_t> arc_ids_;
  std::vector<std::pair<int32_t, int32_t>> columns_;  // of the grammar, and their ids
  std::vector<std::vector<uint32_t>> lm_words_;       // [model][word of the grammar]
  mutable std::mutex idle_mutex_;
  mutable std::vector<std::unique_ptr<HieroSearch>> idle_;
};

}  // namespace hopefear
