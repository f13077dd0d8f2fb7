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
    : templates_(model.templates.get()), spans_(spans), any_(templates_ && templates_->has_distance()) {}

uint32_t PlaceFeatures::number(std::span<const int32_t> target) {
  const auto first = std::find_if(target.begin(), target.end(), [](int32_t symbol) { return symbol < 0; });
  if (first == target.end()) return 0;
  const auto tails = std::count_if(first, target.end(), [](int32_t symbol) { return symbol < 0; });
  return static_cast<uint32_t>(tails) << 1 | (*first != slot(0));
}

}  // namespace hopefear
