#include "trainers/batch/forest_mert.h"

namespace hopefear {

ForestEnvelopes::ForestEnvelopes(const Pool& pool, const Metric& metric)
    : forests_(pool, nullptr, metric), a_(forests_.rows()), b_(forests_.rows()), counted_(forests_.sentences()) {}

void ForestEnvelopes::set_origin(const double* w) {
  for (size_t i = 0; i < sentences(); ++i) edge_scores(forests_.list(i), w, a_.data() + forests_.row_begin[i]);
}

void ForestEnvelopes::set_direction(const Direction& direction) {
  for (size_t i = 0; i < sentences(); ++i) edge_scores(forests_.list(i), direction.d.data(), b_.data() + forests_.row_begin[i]);
}

void ForestEnvelopes::advance(double x) {
  for (size_t e = 0; e < a_.size(); ++e) a_[e] += x * b_[e];
}

void ForestEnvelopes::envelope(size_t i, std::vector<Piece>& pieces) {
  const Forest& forest = forests_.list(i);
  const auto begin = static_cast<size_t>(forests_.row_begin[i]), edges = static_cast<size_t>(forest.edges());
  const Envelope hull = hopefear::envelope(forest, {a_.data() + begin, edges}, {b_.data() + begin, edges});
  std::vector<double>& stats = counted_[i];
  stats.resize(hull.size() * forests_.width);
  pieces.clear();
  for (size_t k = 0; k < hull.size(); ++k) {
    yield(forest, hull.derivation(k), words_, scratch_);
    forests_.scorers[i]->stats(words_, stats.data() + k * forests_.width);
    pieces.push_back({hull.x[k], stats.data() + k * forests_.width});
  }
}

}  // namespace hopefear
