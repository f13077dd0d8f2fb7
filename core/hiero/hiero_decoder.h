// Hierarchical decoding: CKY with cube pruning over a synchronous grammar (Chiang 2007, "Hierarchical phrase-based
// translation"), and the forest of everything that was looked at as its result.
//
//   X -> <gamma, alpha>        rules of the grammar over at most max_span words if they have nonterminals
//   X -> <f, f>                a word that is copied: an unknown one, a known one that no rule translates alone, a number, a name
//   X -> <gamma, alpha>        rules of the sentence at hand (sentence_rules.h)
//   S -> <X, X> | <S X, S X>   glue; it begins with <s>, and the goal adds </s>
//
// The source is a lattice, and text a lattice with one path (hiero_source.h). A node of the forest is a nonterminal over a span with the
// states of the language models on both sides; an edge is a rule application that survived. Which target sides take part: see
// rule_options.h, and how cube pruning differs from the paper in search/cube_pruning.h. Equal scores: what came first wins. So
// the result depends on nothing but model, weights, options and sentence.
//
//   hiero_model    grammar, language models, features           span_table    spans and their widths
//   hiero_source   a sentence or a lattice, looked up           hiero_search  items, cubes, cells
//   rule_options   the target sides of a source side            hiero_chart   what was found, and its forest
//   place_features what the place of a rule adds to it
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "forest/forest.h"
#include "forest/pool.h"
#include "hiero/hiero_model.h"
#include "hiero/hiero_options.h"
#include "hiero/hiero_source.h"
#include "search/rescore.h"

namespace hopefear {

class HieroSearch;

class HieroDecoder {
 public:
  /// As HieroModel has it.
  HieroDecoder(std::shared_ptr<const Grammar> grammar, std::vector<std::shared_ptr<const LanguageModel>> lms,
               const std::vector<std::string>& names, const std::vector<std::string>& sparse,
               std::shared_ptr<const FeatureTemplates> templates, const std::vector<std::string>& arcs = {},
               std::shared_ptr<const JointModel> joint = nullptr);
  ~HieroDecoder();

  const std::shared_ptr<Vocab>& vocab() const { return model_.vocab; }
  const std::shared_ptr<Vocab>& features() const { return model_.features; }

  /// Sentences and lattices looked up, as text_source and lattice_source have it. There is new room in the vocabulary for words that
  /// may be copied, so these are not to be called from two threads at once.
  HieroSource prepare(std::string id, std::string_view text, std::string_view kinds) {
    return text_source(model_, std::move(id), text, kinds);
  }
  HieroSource prepare(std::string id, const Forest& lattice, std::string_view kinds) {
    return lattice_source(model_, std::move(id), lattice, kinds);
  }
  /// `rules`: those of each sentence, or none at all.
  std::vector<HieroSource> prepare(const std::vector<std::string>& ids, const std::vector<std::string>& lines,
                                   const std::vector<std::string>& kinds, const std::vector<std::vector<SentenceRule>>& rules);
  std::vector<HieroSource> prepare(const Pool& lattices, std::string_view kinds);
  /// The words of a reference, which get places in the vocabulary as well.
  std::vector<int32_t> reference(const std::vector<std::string>& words);

  /// Everything below is constant: threads share one decoder. The forest of one sentence. The work space and what was
  /// looked up for a source side are kept for the next sentence; no cost here depends on the number of weights.
  Forest decode(const HieroSource& source, const double* w, const HieroOptions& options) const;
  /// The forests of many, in order.
  Pool decode(const std::vector<HieroSource>& sources, const double* w, const HieroOptions& options, int jobs) const;
  /// Only the k best of each: lists, best first.
  Pool kbest(const std::vector<HieroSource>& sources, const double* w, const HieroOptions& options, int64_t k, bool distinct,
             int jobs) const;

  /// HieroSearch::stored() of all threads that are idle.
  size_t stored() const;

 private:
  struct Borrowed;
  Pool empty_pool() const;
  Pool each(const std::vector<HieroSource>& sources, int jobs, const std::function<Forest(const HieroSource&)>& body) const;

  HieroModel model_;
  StatefulFeatures stateful_;
  mutable std::mutex idle_mutex_;
  mutable std::vector<std::unique_ptr<HieroSearch>> idle_;
};

}  // namespace hopefear
