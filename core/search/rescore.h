// Rescoring: features that see more than one edge, added to an existing forest by cube pruning over it (Chiang 2007; Gimpel and
// Smith 2012, section 4.3, who keep the 100 best of each node).
//
// Every node of the forest becomes as many nodes as there are states of the features among its best partial derivations. The
// features of old edges stay as they are, and new features are added, so that w.h(d) is the score under all of them.
// Edges without tails always stay, because they cost nothing: a k-best list stays whole. With no limit the result has every
// derivation of the forest.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "forest/forest.h"
#include "forest/pool.h"
#include "search/stateful_features.h"

namespace hopefear {

using StatefulFeatures = std::vector<std::shared_ptr<const StatefulFeature>>;

/// The templates that see neighbouring words: none to three features.
StatefulFeatures stateful_features(const std::shared_ptr<const FeatureTemplates>& templates);

/// `feature_names` begin with those of the forest. `source` has the words of the source if some feature needs them, otherwise it is null.
/// pop_limit: edges kept per node; 0: all.
Forest rescored(const Forest& forest, const std::shared_ptr<Vocab>& feature_names, const StatefulFeatures& features,
                const std::vector<int32_t>* source, const double* w, int64_t pop_limit);

/// Rescores all of a pool with features by name.
class Rescorer {
 public:
  /// `names` are of the templates unigram, bigram, trigram, trigger and pair; each language model has a name as well.
  Rescorer(const Pool& pool, const std::vector<std::string>& names,
           const std::vector<std::pair<std::string, std::shared_ptr<const LanguageModel>>>& lms);
  /// The features of the pool, then the new ones, which weights are for.
  const std::shared_ptr<Vocab>& feature_names() const { return feature_names_; }
  Pool run(const Pool& pool, const double* w, int64_t pop_limit, int jobs) const;

 private:
  std::shared_ptr<Vocab> feature_names_, source_vocab_ = std::make_shared<Vocab>();
  StatefulFeatures features_;
  bool needs_source_ = false;
};

}  // namespace hopefear
