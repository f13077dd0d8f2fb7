// Features of derivations that see more than one edge. Such a feature describes a partial yield by a state,
// a few numbers; partial yields with equal states get equal values in every context.
//
//   NgramFeature     bigram(d,e), trigram(c,d,e): the words at both ends of a yield
//   TriggerFeature   trigger(d,e), the number of places of e with a d FeatureTemplates::kTriggerDistance or more words before: all words
//                    of the yield that some pair has, so that in effect nothing is merged
//   LmFeature        a language model: its own states
//   EdgeFeature      unigram(e), pair(f,e): no state. A word e is paired with the source words below its edge that are below
//                    none of the edge's tails, because a forest does not say which of them it is aligned to
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "grammar/templates.h"
#include "lm/language_model.h"

namespace hopefear {

/// An edge with chosen states of its tails.
struct Application {
  std::span<const int32_t> words;                   // of the edge: words and slots
  std::span<const std::span<const int32_t>> tails;  // the states of the tails
  std::span<const int32_t> source;                  // the source words of the edge itself
  bool goal;                                        // this yield is a whole sentence
  std::vector<int32_t>& part;                       // room for notes on each word
};

class StatefulFeature {
 public:
  using Fired = std::vector<std::pair<int32_t, double>>;
  virtual ~StatefulFeature() = default;
  /// Appends (id, value) of features that cross the borders of tails to `fired` (an id may occur several times), and the state of
  /// the yield to `state`.
  virtual void apply(const Application& a, Fired& fired, std::vector<int32_t>& state) const = 0;
};

class NgramFeature final : public StatefulFeature {
 public:
  explicit NgramFeature(std::shared_ptr<const FeatureTemplates> templates);
  void apply(const Application& a, Fired& fired, std::vector<int32_t>& state) const override;

 private:
  std::shared_ptr<const FeatureTemplates> templates_;
  size_t keep_;  // words at either end
};

class TriggerFeature final : public StatefulFeature {
 public:
  explicit TriggerFeature(std::shared_ptr<const FeatureTemplates> templates) : templates_(std::move(templates)) {}
  void apply(const Application& a, Fired& fired, std::vector<int32_t>& state) const override;

 private:
  std::shared_ptr<const FeatureTemplates> templates_;
};

class EdgeFeature final : public StatefulFeature {
 public:
  explicit EdgeFeature(std::shared_ptr<const FeatureTemplates> templates) : templates_(std::move(templates)) {}
  void apply(const Application& a, Fired& fired, std::vector<int32_t>& state) const override;

 private:
  std::shared_ptr<const FeatureTemplates> templates_;
};

class LmFeature final : public StatefulFeature {
 public:
  /// `words` are those of the forests; the feature is the natural logarithm of the probability between <s> and </s>.
  LmFeature(std::shared_ptr<const LanguageModel> model, const Vocab& words, int32_t id);
  void apply(const Application& a, Fired& fired, std::vector<int32_t>& state) const override;

 private:
  std::shared_ptr<const LanguageModel> model_;
  std::vector<uint32_t> map_;
  int32_t id_;
};

}  // namespace hopefear
