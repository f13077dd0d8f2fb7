// Sparse features of a rule application that depend on its place in the sentence: the template distance.
//
// A rule's kind of place features is computed once and stored with the rule as a number; a search then asks for the score of each
// place where the rule applies, and the forest's edges get the features themselves.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "grammar/templates.h"
#include "hiero/hiero_model.h"
#include "hiero/span_table.h"

namespace hopefear {

/// The place of a source word of a rule: an offset from the beginning of the rule's span (after 0), or from the end of its first or
/// second nonterminal (after 1 or 2).
struct Affiliation {
  int16_t after = 0, words = 0;
};
/// A place where a rule applies: the beginning of its span, and the ends of its nonterminals.
using RulePlace = std::array<int32_t, 3>;

/// The places of the symbols of a source side.
std::vector<Affiliation> source_places(std::span<const int32_t> source);

class PlaceFeatures {
 public:
  /// The spans of the nonterminals of a rule application.
  struct Spans {
    struct {
      int32_t i, j;
    } tail[2];
  };

  /// `spans`: of the current sentence.
  PlaceFeatures(const HieroModel& model, const SpanTable& spans);

  /// Whether the model has such features; if not, do not call the functions below.
  bool any() const { return any_; }
  void start(const double* w) { w_ = w; }

  /// The kind of a rule with this target side: its nonterminals, and whether they swap. 0: no place features.
  static uint32_t number(std::span<const int32_t> target);

  /// w.h of these features.
  double score(uint32_t number, const Spans& at) const {
    double sum = 0;
    each(number, at, [&](int32_t id) { sum += w_[id]; });
    return sum;
  }
  /// Calls fire(id) for each, several times for some.
  template <class Fire>
  void each(uint32_t number, const Spans& at, Fire&& fire) const {
    for (uint32_t t = 0; t < number >> 1; ++t)
      if (const int32_t id = templates_->distance(number & 1, spans_.words(at.tail[t].i, at.tail[t].j - at.tail[t].i)); id >= 0)
        fire(id);
  }

 private:
  const FeatureTemplates* templates_;
  const SpanTable& spans_;
  bool any_;
  const double* w_ = nullptr;
};

}  // namespace hopefear
