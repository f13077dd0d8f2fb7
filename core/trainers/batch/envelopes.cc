#include "trainers/batch/envelopes.h"

#include <algorithm>

#include "trainers/batch/rank_envelopes.h"
#include "util/parallel.h"

namespace hopefear {

AxisColumns::AxisColumns(const Lists& lists, const std::vector<Direction>& axes, int jobs)
    : rows(lists.rows()), slope(axes.size() * rows) {
  parallel_for(lists.sentences(), jobs, [&](size_t i, int) {
    for (size_t k = 0; k < axes.size(); ++k)
      edge_scores(lists.list(i), axes[k].d.data(), slope.data() + k * rows + lists.row_begin[i]);
  });
}

void RowEnvelopes::score(const double* w, std::vector<double>& out) const {
  for (size_t i = 0; i < lists_.sentences(); ++i) edge_scores(lists_.list(i), w, out.data() + lists_.row_begin[i]);
}

void ListEnvelopes::set_direction(const Direction& direction) {
  if (direction.mixture.empty() || !columns_) {
    RowEnvelopes::set_direction(direction);
    return;
  }
  const auto column = [&](size_t k) { return columns_->slope.data() + k * columns_->rows; };
  const auto& z = direction.mixture;
  const auto moves = [](double one) { return one != 0; };
  const auto first = std::find_if(z.begin(), z.end(), moves);
  if (first != z.end() && *first == 1 && std::none_of(first + 1, z.end(), moves)) {  // an axis alone
    b_ = column(static_cast<size_t>(first - z.begin()));
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

std::unique_ptr<EnvelopeSource> envelopes_on_line(const Lists& lists, const double* w, std::vector<double> d) {
  auto source = envelopes_of(lists, nullptr);
  source->set_origin(w);
  source->set_direction({std::move(d), {}});
  return source;
}

}  // namespace hopefear
