#include "trainers/batch/envelopes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "trainers/batch/rank_envelopes.h"
#include "util/parallel.h"

namespace hopefear {

AxisColumns::AxisColumns(const Lists& lists, const std::vector<Direction>& axes, int jobs)
    : rows(lists.rows()), slope(axes.size() * rows) {
  bool ordered = !dynamic_cast<const RankMetric*>(&lists.metric);
  for (size_t i = 0; i < lists.sentences(); ++i) ordered = ordered && lists.candidates(i) <= std::numeric_limits<uint16_t>::max();
  if (ordered) order.resize(slope.size());
  parallel_for(lists.sentences(), jobs, [&](size_t i, int) {
    for (size_t k = 0; k < axes.size(); ++k) {
      const size_t at = k * rows + static_cast<size_t>(lists.row_begin[i]);
      double* b = slope.data() + at;
      edge_scores(lists.list(i), axes[k].d.data(), b);
      if (!ordered) continue;
      uint16_t* first = order.data() + at;
      std::iota(first, first + lists.candidates(i), uint16_t{0});
      std::sort(first, first + lists.candidates(i),
                [&](uint16_t one, uint16_t other) { return b[one] < b[other] || (b[one] == b[other] && one < other); });
    }
  });
}

void RowEnvelopes::score(const double* w, std::vector<double>& out) const {
  for (size_t i = 0; i < lists_.sentences(); ++i) edge_scores(lists_.list(i), w, out.data() + lists_.row_begin[i]);
}

void ListEnvelopes::set_origin(const double* w) {
  RowEnvelopes::set_origin(w);
  find_tops();
}

void ListEnvelopes::advance(double x) {
  RowEnvelopes::advance(x);
  find_tops();
}

void ListEnvelopes::find_tops() {
  if (!columns_ || columns_->order.empty()) return;
  tops_.resize(lists_.sentences());
  for (size_t i = 0; i < tops_.size(); ++i) tops_[i] = largest(a_.data() + lists_.row_begin[i], lists_.candidates(i));
}

void ListEnvelopes::set_direction(const Direction& direction) {
  order_ = nullptr;
  if (direction.mixture.empty() || !columns_) {
    RowEnvelopes::set_direction(direction);
    return;
  }
  const auto column = [&](size_t k) { return columns_->slope.data() + k * columns_->rows; };
  const auto& z = direction.mixture;
  const auto moves = [](double one) { return one != 0; };
  const auto first = std::find_if(z.begin(), z.end(), moves);
  if (first != z.end() && *first == 1 && std::none_of(first + 1, z.end(), moves)) {  // an axis alone
    const auto axis = static_cast<size_t>(first - z.begin());
    b_ = column(axis);
    if (!columns_->order.empty()) order_ = columns_->order.data() + axis * columns_->rows;
    return;
  }
  std::fill(mixed_.begin(), mixed_.end(), 0.0);
  for (size_t k = 0; k < z.size(); ++k)
    if (moves(z[k]))
      for (size_t r = 0; r < mixed_.size(); ++r) mixed_[r] += z[k] * column(k)[r];
  b_ = mixed_.data();
}

void ListEnvelopes::envelope(size_t i, std::vector<Piece>& pieces) {
  const auto row = static_cast<size_t>(lists_.row_begin[i]);
  if (order_ && std::isfinite(tops_[i]))
    hull_.compute_sorted(a_.data() + row, b_ + row, order_ + row, lists_.candidates(i), tops_[i]);
  else
    hull_.compute(a_.data() + row, b_ + row, lists_.candidates(i));
  pieces.clear();
  for (size_t k = 0; k < hull_.line.size(); ++k) pieces.push_back({hull_.begin[k], lists_.row_stats(i, hull_.line[k])});
}

ForestEnvelopes::ForestEnvelopes(const Lists& forests) : RowEnvelopes(forests), counted_(forests.sentences()) {
  for (const Sentence& s : forests.pool.sentences) scorers_.push_back(forests.metric.scorer(*forests.pool.vocab, s.references));
}

void ForestEnvelopes::envelope(size_t i, std::vector<Piece>& pieces) {
  const Forest& forest = lists_.list(i);
  const auto begin = static_cast<size_t>(lists_.row_begin[i]), edges = static_cast<size_t>(forest.edges());
  const Envelope hull = hopefear::envelope(forest, {a_.data() + begin, edges}, {b_ + begin, edges});
  std::vector<double>& stats = counted_[i];
  stats.resize(hull.size() * lists_.width);
  pieces.clear();
  for (size_t k = 0; k < hull.size(); ++k) {
    yield(forest, hull.derivation(k), words_, scratch_);
    scorers_[i]->stats(words_, stats.data() + k * lists_.width);
    pieces.push_back({hull.x[k], stats.data() + k * lists_.width});
  }
}

std::unique_ptr<EnvelopeSource> envelopes_of(const Lists& lists, const AxisColumns* columns) {
  if (const auto* rank = dynamic_cast<const RankMetric*>(&lists.metric); rank && lists.stats)
    return std::make_unique<RankEnvelopes>(lists, *rank, columns);
  if (lists.stats) return std::make_unique<ListEnvelopes>(lists, columns);
  return std::make_unique<ForestEnvelopes>(lists);
}

std::unique_ptr<EnvelopeSource> envelopes_on_line(const Lists& lists, const double* w, std::vector<double> d,
                                                  const AxisColumns* columns) {
  auto source = envelopes_of(lists, columns);
  source->set_origin(w);
  source->set_direction({std::move(d), std::vector<double>(columns ? 1 : 0, 1.0)});
  return source;
}

}  // namespace hopefear
