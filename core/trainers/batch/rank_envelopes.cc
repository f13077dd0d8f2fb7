#include "trainers/batch/rank_envelopes.h"

#include <algorithm>
#include <limits>

namespace hopefear {

RankEnvelopes::RankEnvelopes(const Lists& lists, const RankMetric& metric, const AxisColumns* columns)
    : ListEnvelopes(lists, columns), metric_(metric), values_(lists.sentences()) {
  for (size_t i = 0; i < lists.sentences(); ++i)
    judged_.push_back(metric.judged(lists.stats + lists.row_begin[i] * 2, lists.candidates(i)));
}

/// The ranks far to the left, and where they change.
void RankEnvelopes::collect(size_t i, const RankMetric::Judged& judged) {
  const auto row = static_cast<size_t>(lists_.row_begin[i]);
  const double *a = a_.data() + row, *b = b_.data() + row, *stats = lists_.stats + row * 2;
  const int32_t count = lists_.candidates(i);
  number_.assign(static_cast<size_t>(count), -1);
  for (size_t j = 0; j < judged.relevant.size(); ++j) number_[judged.relevant[j]] = static_cast<int32_t>(j);
  rank_.assign(judged.relevant.size(), 1);
  crossings_.clear();
  for (size_t j = 0; j < judged.relevant.size(); ++j) {
    const int32_t c = judged.relevant[j];
    for (int32_t e = 0; e < count; ++e) {
      if (e == c || stats[2 * e + 1] == 0) continue;
      const bool above = b[e] != b[c] ? b[e] < b[c] : a[e] != a[c] ? a[e] > a[c] : e < c;
      if (above) ++rank_[j];
      if (b[e] == b[c] || (number_[e] >= 0 && e < c)) continue;  // a pair of relevant ones crosses once
      const double x = (a[e] - a[c]) / (b[c] - b[e]);
      const auto me = static_cast<int32_t>(j);
      crossings_.push_back(b[c] > b[e] ? Crossing{x, me, number_[e]} : Crossing{x, number_[e], me});
    }
  }
  std::sort(crossings_.begin(), crossings_.end(), [](const Crossing& one, const Crossing& other) { return one.x < other.x; });
}

void RankEnvelopes::envelope(size_t i, std::vector<Piece>& pieces) {
  const RankMetric::Judged& judged = judged_[i];
  collect(i, judged);
  std::vector<double>& values = values_[i];
  values.assign({metric_.value(judged, rank_), 1.0});
  std::vector<double> begin{-std::numeric_limits<double>::infinity()};
  for (size_t k = 0; k < crossings_.size();) {
    const double x = crossings_[k].x;
    bool matters = false;
    for (; k < crossings_.size() && crossings_[k].x == x; ++k) {
      const Crossing& one = crossings_[k];
      if (one.up >= 0) matters |= metric_.matters(--rank_[one.up]);
      if (one.down >= 0) matters |= metric_.matters(rank_[one.down]++);
    }
    if (!matters) continue;
    const double value = metric_.value(judged, rank_);
    if (value == values[values.size() - 2]) continue;
    begin.push_back(x);
    values.insert(values.end(), {value, 1.0});
  }
  pieces.clear();
  for (size_t k = 0; k < begin.size(); ++k) pieces.push_back({begin[k], values.data() + 2 * k});
}

}  // namespace hopefear
