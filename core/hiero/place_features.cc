#include "hiero/place_features.h"

#include <algorithm>

namespace hopefear {

std::vector<Affiliation> source_places(std::span<const int32_t> source) {
  std::vector<Affiliation> at;
  Affiliation next;
  int16_t nonterminals = 0;
  for (const int32_t symbol : source) {
    at.push_back(next);
    if (symbol >= 0)
      ++next.words;
    else
      next = {++nonterminals, 0};
  }
  return at;
}

PlaceFeatures::PlaceFeatures(const HieroModel& model, const SpanTable& spans)
    : templates_(model.templates.get()),
      spans_(spans),
      any_(templates_ && (templates_->has_distance() || templates_->has_context())) {}

void PlaceFeatures::start(const HieroSource& source, const double* w) {
  w_ = w;
  words_.clear();
  if (!templates_->has_context()) return;
  words_.push_back(FeatureTemplates::kContextBegin);
  for (const int32_t word : source.words) words_.push_back(templates_->context_number(word));
  words_.push_back(FeatureTemplates::kContextEnd);
}

uint32_t PlaceFeatures::add(std::span<const int32_t> source, std::span<const int32_t> target, std::span<const PackedLink> links) {
  Rule rule;
  rule.begin = static_cast<uint32_t>(neighbours_.size());
  if (templates_->has_distance()) {
    const auto first = std::find_if(target.begin(), target.end(), [](int32_t symbol) { return symbol < 0; });
    rule.tails = static_cast<int32_t>(std::count_if(first, target.end(), [](int32_t symbol) { return symbol < 0; }));
    rule.swaps = first != target.end() && *first != slot(0);
  }
  if (templates_->has_context()) {
    const std::vector<Affiliation> at = source_places(source);
    for (const PackedLink link : links) {
      const int32_t pair = templates_->context_pair(source[link.s], target[link.t]);
      if (pair < 0) continue;
      const auto [after, words] = at[link.s];
      if (link.s == 0 || source[link.s - 1] < 0) neighbours_.push_back({pair, false, {after, static_cast<int16_t>(words - 1)}});
      if (link.s + size_t{1} == source.size() || source[link.s + 1] < 0)
        neighbours_.push_back({pair, true, {after, static_cast<int16_t>(words + 1)}});
    }
  }
  rule.end = static_cast<uint32_t>(neighbours_.size());
  if (rule.tails == 0 && rule.begin == rule.end) return 0;
  rules_.push_back(rule);
  return static_cast<uint32_t>(rules_.size()) - 1;
}

void PlaceFeatures::clear() {
  rules_.resize(1);
  neighbours_.clear();
}

}  // namespace hopefear
