#include "trainers/batch/rank_envelopes.h"

#include <algorithm>
#include <limits>
#include <map>

namespace hopefear {

RankEnvelopes::RankEnvelopes(const Lists& lists, const RankMetric& metric, const AxisColumns* columns)
    : ListEnvelopes(lists, columns), metric_(metric), begin_(lists.sentences()), values_(lists.sentences()) {
  std::map<std::vector<double>, size_t> known;  // by the statistics of a list
  for (size_t i = 0; i < lists.sentences(); ++i) {
    const double* rows = lists.stats + lists.row_begin[i] * 2;
    judged_.push_back(metric.judged(rows, lists.candidates(i)));
    twin_.push_back(known.try_emplace({rows, rows + 2 * lists.candidates(i)}, i).first->second);
  }
}

/// Whether two lists with the same grades also have the same lines.
bool RankEnvelopes::same_lines(size_t i, size_t j) const {
  const int64_t *begin = lists_.row_begin.data(), size = begin[i + 1] - begin[i];
  const auto equal = [&](const double* v) { return std::equal(v + begin[i], v + begin[i] + size, v + begin[j]); };
  return equal(a_.data()) && equal(b_);
}

/// The ranks far to the left, and where they change.
void RankEnvelopes::collect(size_t i, const RankMetric::Judged& judged) {
  const auto row = static_cast<size_t>(lists_.row_begin[i]);
  const double *a = a_.data() + row, *b = b_ + row, *stats = lists_.stats + row * 2;
  const int32_t all = lists_.candidates(i);
  const size_t relevant = judged.relevant.size();
  height_.clear();
  slope_.clear();
  number_.clear();
  for (int32_t e = 0, next = 0; e < all; ++e) {
    if (stats[2 * e + 1] == 0) continue;
    const bool counts = static_cast<size_t>(next) < relevant && judged.relevant[next] == e;
    height_.push_back(a[e]);
    slope_.push_back(b[e]);
    number_.push_back(counts ? next++ : -1);
  }
  const size_t count = height_.size();
  rank_.assign(relevant, 1);
  crossings_.resize(relevant * count);
  Crossing* out = crossings_.data();
  for (size_t c = 0; c < count; ++c) {
    const int32_t me = number_[c];
    if (me < 0) continue;
    const double h = height_[c], s = slope_[c];
    int32_t above = 0;
    for (size_t e = 0; e < count; ++e) {
      const bool before = (height_[e] > h) | ((height_[e] == h) & (e < c));
      above += static_cast<int32_t>((slope_[e] < s) | ((slope_[e] == s) & before));
    }
    rank_[me] += above;
    for (size_t e = 0; e < count; ++e) {
      const bool rises = s > slope_[e];
      *out = {(height_[e] - h) / (s - slope_[e]), rises ? me : number_[e], rises ? number_[e] : me};
      out += static_cast<int>((s != slope_[e]) & ((number_[e] < 0) | (e > c)));  // a pair of relevant candidates crosses once
    }
  }
  crossings_.resize(static_cast<size_t>(out - crossings_.data()));
  sort_(crossings_);
}

/// Applies a crossing, the only one at its point, to the ranks and to the value.
double RankEnvelopes::change(const RankMetric::Judged& judged, const Crossing& one) {
  if (one.up >= 0) --rank_[one.up];
  if (one.down >= 0) ++rank_[one.down];
  const int32_t upper = one.up >= 0 ? rank_[one.up] : rank_[one.down] - 1;
  if (!metric_.matters(upper)) return 0;
  if (one.up >= 0 && one.down >= 0 && judged.gain[one.up] == judged.gain[one.down]) return 0;
  double sum = 0;
  if (one.up >= 0) sum += metric_.change(judged, rank_, static_cast<size_t>(one.up), upper + 1);
  if (one.down >= 0) sum += metric_.change(judged, rank_, static_cast<size_t>(one.down), upper);
  return sum;
}

void RankEnvelopes::envelope(size_t i, std::vector<Piece>& pieces) {
  const size_t first = same_lines(twin_[i], i) ? twin_[i] : i;
  if (first == i) trace(i);
  pieces.clear();
  for (size_t k = 0; k < begin_[first].size(); ++k) pieces.push_back({begin_[first][k], values_[first].data() + 2 * k});
}

void RankEnvelopes::trace(size_t i) {
  constexpr size_t kAfresh = 64;  // pieces between two values computed from scratch, not as sums of changes
  const RankMetric::Judged& judged = judged_[i];
  collect(i, judged);
  double value = metric_.value(judged, rank_);
  std::vector<double>&values = values_[i], &begin = begin_[i];
  values.assign({value, 1.0});
  begin.assign(1, -std::numeric_limits<double>::infinity());
  for (size_t k = 0; k < crossings_.size();) {
    const double x = crossings_[k].x;
    const size_t first = k++;
    while (k < crossings_.size() && crossings_[k].x == x) ++k;
    double now = value;
    if (k - first == 1) {
      const double by = change(judged, crossings_[first]);
      if (by == 0) continue;
      now = begin.size() % kAfresh == 0 ? metric_.value(judged, rank_) : value + by;
    } else {
      for (size_t j = first; j < k; ++j) {
        if (crossings_[j].up >= 0) --rank_[crossings_[j].up];
        if (crossings_[j].down >= 0) ++rank_[crossings_[j].down];
      }
      now = metric_.value(judged, rank_);
    }
    if (now == value) continue;
    value = now;
    begin.push_back(x);
    values.insert(values.end(), {value, 1.0});
  }
}

}  // namespace hopefear
