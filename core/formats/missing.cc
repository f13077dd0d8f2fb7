#include "formats/missing.h"

#include <algorithm>
#include <cmath>

namespace hopefear {

void MissingScores::see(int32_t feature, double value) {
  if (static_cast<size_t>(feature) >= seen_.size()) seen_.resize(feature + 1);
  Seen& seen = seen_[feature];
  ++seen.values;
  seen.zeros += value == 0;
  seen.fractions += value != std::floor(value);
  writes_zeros_ |= value == 0;
}

bool MissingScores::is_score(int32_t feature) const {
  const Seen& seen = seen_[feature];
  return seen.zeros > 0 || 2 * seen.fractions >= seen.values;
}

std::vector<MissingScores::Gap> MissingScores::gaps(std::span<const size_t> begin, std::span<const int32_t> ids,
                                                    std::span<const double> dense) const {
  const size_t candidates = begin.size() - 1, width = width_;
  const auto is_dense = [&](int32_t id) { return id < width_; };
  if (static_cast<size_t>(std::count_if(ids.begin(), ids.end(), is_dense)) == candidates * width) return {};
  std::vector<uint8_t> has(candidates * width, 0);
  for (size_t j = 0; j < candidates; ++j)
    for (size_t k = begin[j]; k < begin[j + 1]; ++k)
      if (is_dense(ids[k])) has[j * width + ids[k]] = 1;
  std::vector<Gap> gaps;
  for (int32_t feature = 0; feature < width_; ++feature) {
    if (!is_score(feature)) continue;
    size_t count = 0;
    double least = 0, most = 0, sum = 0;
    for (size_t j = 0; j < candidates; ++j) {
      if (!has[j * width + feature]) continue;
      const double value = dense[j * width + feature];
      least = count ? std::min(least, value) : value;
      most = count ? std::max(most, value) : value;
      sum += value;
      ++count;
    }
    if (count == 0 || count == candidates) continue;
    const double range = most - least;
    if (!writes_zeros_ && least - range <= 0 && 0 <= most + range) continue;  // probably a zero that was left out
    for (size_t j = 0; j < candidates; ++j)
      if (!has[j * width + feature]) gaps.push_back({j, feature, count, sum / static_cast<double>(count)});
  }
  std::sort(gaps.begin(), gaps.end(), [](const Gap& a, const Gap& b) { return a.candidate < b.candidate; });
  return gaps;
}

}  // namespace hopefear
