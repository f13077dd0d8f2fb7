// The options of source sides: for each, the target sides that take part in the search, best first.
//
// Everything about a rule of the grammar that does not depend on the weights is computed once and kept from sentence to sentence, until
// the memory for it grows too large. What belongs to other rules is kept for their sentence only. Scores and the choice of options are
// made once per sentence, and only for source sides that match it. Of the options of a source side the best max_options take part,
// judged by the model with the language models' estimate for the words of the rule alone.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "grammar/templates.h"
#include "hiero/hiero_model.h"
#include "hiero/place_features.h"
#include "hiero/sentence_rules.h"
#include "joint/joint_scores.h"
#include "lm/lm_seams.h"

namespace hopefear {

/// The source words that the words of a target side are affiliated with, as in training: the middle one of those that a word is linked
/// with (of two the left one). A word without links has what the nearest symbol has, of two the one to the right; of a nonterminal, that
/// is the first or the last source word that it covers, whichever is nearer. Entries of nonterminals mean nothing.
std::vector<Affiliation> affiliations(std::span<const int32_t> source, std::span<const int32_t> target,
                                      std::span<const PackedLink> links);

/// A target side and what follows from it whatever the weights are.
struct HieroRule {
  double lm[kMaxLms] = {};  // what the language models say of its words alone
  uint32_t target = 0;      // where its symbols begin
  uint32_t symbols = 0, words = 0;
  uint32_t part = 0, parts = 0;  // where its runs of words and slots begin, and how many they are
  uint32_t sparse = 0, sparse_end = 0;
  uint32_t place = 0;  // what PlaceFeatures knows of it
};

/// One target side of a source side, or a rule that the grammar does not have.
struct HieroOption : HieroRule {
  double score = 0;                   // w.h without language models
  int64_t rule = -1;                  // of the grammar; or of the sentence, see own_rule()
  int32_t extra = -1;                 // the feature that counts this rule, if it is not the grammar's
  bool begins = false, ends = false;  // with <s>, with </s>
};

class RuleOptions {
 public:
  /// `seams`: of each language model; runs of words are numbered there, and rules in `places`. `joint`: what the joint model says, if
  /// there is one.
  RuleOptions(const HieroModel& model, std::vector<LmSeams>& seams, JointScores& joint, PlaceFeatures& places)
      : m_(model), g_(*model.grammar), seams_(seams), joint_(joint), places_(places) {}

  /// A new sentence, which may have rules of its own: there are no options yet. max_options 0: all.
  void start(const double* w, int64_t max_options, std::span<const SourceRule> rules);

  const HieroOption& operator[](size_t option) const { return options_[option]; }
  uint32_t size() const { return static_cast<uint32_t>(options_.size()); }

  /// The number of the source side whose first rule is this one, or -1: then add_side().
  int32_t find_side(uint32_t first_rule) const { return side_of_.find(first_rule); }
  /// `symbols` of the source side are needed only if the model has templates or a joint model.
  int32_t add_side(uint32_t first_rule, uint32_t end_rule, std::span<const int32_t> symbols);
  /// The options of a source side: the first, and how many. For the joint model they are judged at the first place of a sentence.
  std::pair<uint32_t, uint32_t> of_side(int32_t side, const RulePlace& place) {
    if (sides_[side].sentence != sentence_) choose(sides_[side], place);
    return {sides_[side].option, sides_[side].options};
  }

  /// An option that the grammar does not have, for this sentence only; `extra` is the feature that counts it, or -1.
  HieroOption& add(std::span<const int32_t> target, int32_t extra) { return add(target, nullptr, extra); }
  /// The same for a word that is copied: its ids on the source side, as a target word, and in the language models.
  void add_copy(int32_t source, int32_t target, const std::array<uint32_t, kMaxLms>& lm, uint32_t joint, int32_t extra);

  /// The same for a rule of the sentence by its number.
  void add_rule(size_t number);
  /// The rule of the sentence that an option is, or null.
  const SourceRule* own_rule(const HieroOption& o) const { return o.rule < -1 ? &own_rules_[-2 - o.rule] : nullptr; }

  /// Words and slots of an option, the same with numbers of runs of words for a language model, and its sparse features.
  std::span<const int32_t> target(const HieroOption& o) const { return {of(o).targets.data() + o.target, o.symbols}; }
  std::span<const int32_t> parts(const HieroOption& o, size_t model) const {
    return {of(o).parts[model].data() + o.part, o.parts};
  }
  /// The same with the words of the joint model, and what they are affiliated with.
  std::span<const int32_t> joint_target(const HieroOption& o) const { return of(o).joint_target(o); }
  std::span<const Affiliation> affiliated(const HieroOption& o) const { return of(o).affiliated_words(o); }
  std::span<const int32_t> sparse_ids(const HieroOption& o) const {
    return {of(o).sparse_ids.data() + o.sparse, o.sparse_end - o.sparse};
  }
  std::span<const double> sparse_values(const HieroOption& o) const {
    return {of(o).sparse_values.data() + o.sparse, o.sparse_end - o.sparse};
  }
  const PlaceFeatures& places() const { return places_; }

  /// Symbols and sparse features of all rules at hand.
  size_t stored() const { return stores_[0].size() + stores_[1].size(); }

 private:
  /// What the numbers in HieroRule lead to.
  struct Store {
    std::span<const int32_t> joint_target(const HieroRule& o) const { return {joint_targets.data() + o.target, o.symbols}; }
    std::span<const Affiliation> affiliated_words(const HieroRule& o) const { return {affiliated.data() + o.target, o.symbols}; }
    size_t size() const { return targets.size() + sparse_ids.size(); }
    void clear();

    std::vector<int32_t> targets;                     // symbols of all rules
    std::array<std::vector<int32_t>, kMaxLms> parts;  // slots and, of each language model, numbers of runs
    std::vector<int32_t> joint_targets;
    std::vector<Affiliation> affiliated;
    std::vector<int32_t> sparse_ids;
    std::vector<double> sparse_values;
  };
  const Store& of(const HieroOption& o) const { return stores_[o.rule < 0]; }
  Store& kept() { return stores_[0]; }
  Store& own() { return stores_[1]; }

  struct Side {
    uint32_t first;            // rule of the grammar
    uint32_t rule, rules;      // begin and number in rules_
    uint32_t option, options;  // begin and number in the sentence with this number
    uint64_t sentence;
  };
  /// What chooses options: `estimate` has the language models' word on the rule alone.
  struct Ranked {
    double score, estimate;
    uint32_t rule;
  };

  void choose(Side& side, const RulePlace& place);
  using LmWords = std::array<uint32_t, kMaxLms>;  // a word in each language model
  /// `lm`: of each symbol of the target side; null if the words are those of the grammar.
  HieroOption& add(std::span<const int32_t> target, const LmWords* lm, int32_t extra);
  HieroRule new_rule(Store& store, std::span<const int32_t> target, const LmWords* lm);
  void add_sparse(Store& store, HieroRule& rule, std::span<const int32_t> source, std::span<const int32_t> target,
                  std::span<const PackedLink> links, std::span<const float> row);
  void add_fired(Store& store, HieroRule& rule);
  double sparse_score(const Store& store, const HieroRule& rule, double score) const;
  void add_parts(Store& store, HieroRule& rule, std::span<const int32_t> target, const LmWords* lm);
  double joint_alone(const HieroRule& rule, const RulePlace& place);

  const HieroModel& m_;
  const Grammar& g_;
  std::vector<LmSeams>& seams_;
  JointScores& joint_;
  PlaceFeatures& places_;
  const double* w_ = nullptr;
  std::span<const SourceRule> own_rules_;
  int64_t max_options_ = 0;
  double w_word_ = 0, w_rule_ = 0, w_joint_ = 0;
  std::array<double, kMaxLms> w_lm_{};
  uint64_t sentence_ = 0;

  // of all sentences
  IdMap side_of_;  // by the first rule of the side
  std::vector<Side> sides_;
  std::vector<HieroRule> rules_;

  std::array<Store, 2> stores_;       // of rules_, and of the other rules of this sentence
  std::vector<HieroOption> options_;  // of this sentence
  std::vector<Ranked> ranked_;
  std::vector<uint32_t> run_;
  FeatureTemplates::Values fired_;
};

}  // namespace hopefear
