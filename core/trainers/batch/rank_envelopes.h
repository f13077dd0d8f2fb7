// The exact line search for metrics of the whole order of a list.
//
// Along w + x*d every candidate is a line, and the order changes where two lines cross. A rank metric depends on the ranks of
// the relevant candidates only, so the events of a list are the crossings of their lines with all others: each moves a rank by
// one. Ranks are incremented and decremented event by event, so the order of events at one point does not matter.
#pragma once
#include "metrics/rank.h"
#include "trainers/batch/envelopes.h"

namespace hopefear {

class RankEnvelopes final : public ListEnvelopes {
 public:
  RankEnvelopes(const Lists& lists, const RankMetric& metric, const AxisColumns* columns);
  /// Lists come in their order: the first of several equal ones before the others.
  void envelope(size_t i, std::vector<Piece>& pieces) override;

 private:
  struct Crossing {
    double x;
    int32_t up,
        down;  // relevant candidates by number: which one gains a rank, which one loses one; -1: one whose rank does not matter
  };
  bool same_lines(size_t i, size_t j) const;
  void trace(size_t i);
  void collect(size_t i, const RankMetric::Judged& judged);
  double change(const RankMetric::Judged& judged, const Crossing& one);

  const RankMetric& metric_;
  std::vector<RankMetric::Judged> judged_;  // of each list
  std::vector<size_t> twin_;                // of each list, the first equal one: bootstrap samples have each list several times
  std::vector<std::vector<double>> begin_, values_;  // of each list, where its pieces begin, and their statistics
  std::vector<int32_t> rank_;                        // of the relevant candidates
  std::vector<Crossing> crossings_;
  SortByX<Crossing> sort_;
  // The retrieved candidates of a list: their lines, and their numbers among the relevant ones, or -1.
  std::vector<double> height_, slope_;
  std::vector<int32_t> number_;
};

}  // namespace hopefear
