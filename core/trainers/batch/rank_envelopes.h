// The exact line search for metrics of the whole order of a list.
//
// Along w + x*d every candidate is a line, and the order changes where two lines cross. A rank metric depends on the ranks of
// the relevant candidates only, so the events of a list are the crossings of their lines with all others: each moves a rank by
// one. Ranks are counted up and down, event by event, so it does not matter in which order events at one point come.
#pragma once
#include "metrics/rank.h"
#include "trainers/batch/envelopes.h"

namespace hopefear {

class RankEnvelopes final : public ListEnvelopes {
 public:
  RankEnvelopes(const Lists& lists, const RankMetric& metric, const AxisColumns* columns);
  void envelope(size_t i, std::vector<Piece>& pieces) override;

 private:
  struct Crossing {
    double x;
    int32_t up, down;  // relevant candidates by number: who gains a rank, who loses one; -1: one whose rank does not matter
  };
  void collect(size_t i, const RankMetric::Judged& judged);

  const RankMetric& metric_;
  std::vector<RankMetric::Judged> judged_;   // of each list
  std::vector<std::vector<double>> values_;  // of each list, the statistics of its pieces
  std::vector<int32_t> number_, rank_;       // of a candidate among the relevant ones, or -1; ranks of these
  std::vector<Crossing> crossings_;
};

}  // namespace hopefear
