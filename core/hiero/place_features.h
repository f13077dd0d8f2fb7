// Sparse features of a rule application that depend on where in the sentence it stands: the templates distance and context.
//
// What a rule asks of its places is found once and kept with the rule; a search then asks for the score of each place where it applies, and
// whoever writes edges for the features themselves. Neighbours inside a rule are no matter of its place: FeatureTemplates::add_rule has them.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "grammar/templates.h"
#include "hiero/hiero_model.h"
#include "hiero/hiero_source.h"
#include "hiero/span_table.h"

namespace hopefear {

/// Where a source word of a rule stands: so many words behind the begin of the rule's span (after 0), or behind the end of what its first or
/// second nonterminal covers (after 1 or 2).
struct Affiliation {
  int16_t after = 0, words = 0;
};
/// A place where a rule applies: the begin of its span, and the ends of what its nonterminals cover.
using RulePlace = std::array<int32_t, 3>;

/// Where the symbols of a source side stand.
std::vector<Affiliation> source_places(std::span<const int32_t> source);

class PlaceFeatures {
 public:
  /// The begin of a rule application, and the spans of its nonterminals.
  struct Spans {
    int32_t begin;
    struct {
      int32_t i, j;
    } tail[2];
  };

  /// `spans`: of the sentence at hand.
  PlaceFeatures(const HieroModel& model, const SpanTable& spans);

  /// Whether the model has such features; if not, nothing below is to be called.
  bool any() const { return any_; }
  /// A new sentence, or a lattice, which has no context features.
  void start(const HieroSource& source, const double* w);

  /// The number of a rule; 0 stands for one without such features.
  uint32_t add(std::span<const int32_t> source, std::span<const int32_t> target, std::span<const PackedLink> links);
  void clear();
  size_t size() const { return neighbours_.size() + rules_.size(); }

  /// w.h of these features.
  double score(uint32_t rule, const Spans& at) const {
    double sum = 0;
    each(rule, at, [&](int32_t id) { sum += w_[id]; });
    return sum;
  }
  /// Calls fire(id) for each, several times for some.
  template <class Fire>
  void each(uint32_t rule, const Spans& at, Fire&& fire) const {
    const Rule& own = rules_[rule];
    for (int32_t t = 0; t < own.tails; ++t)
      if (const int32_t id = templates_->distance(own.swaps, spans_.words(at.tail[t].i, at.tail[t].j - at.tail[t].i)); id >= 0)
        fire(id);
    const RulePlace place{at.begin, at.tail[0].j, at.tail[1].j};
    for (uint32_t k = own.begin; k < own.end; ++k) {
      const Neighbour& n = neighbours_[k];
      if (const int32_t id = templates_->context(n.pair, n.behind, words_[place[n.at.after] + n.at.words + 1]); id >= 0) fire(id);
    }
  }

 private:
  /// A word before or behind a linked source word, beyond a nonterminal's or the rule's own edge.
  struct Neighbour {
    int32_t pair;  // of the templates
    bool behind;
    Affiliation at;
  };
  struct Rule {
    uint32_t begin = 0, end = 0;  // in neighbours_
    int32_t tails = 0;            // nonterminals, if there are distance features
    bool swaps = false;
  };

  const FeatureTemplates* templates_;
  const SpanTable& spans_;
  bool any_;
  const double* w_ = nullptr;
  std::vector<int32_t> words_;  // of the sentence, as the templates number them, between its edges
  std::vector<Rule> rules_{1};
  std::vector<Neighbour> neighbours_;
};

}  // namespace hopefear
