// Metrics of the whole order of a list: nDCG@k, reciprocal rank, average precision, recall@k; the mean over lists.
//
// A candidate has a grade. Only the ranks of candidates with a grade above 0 (or from `level` on) matter, so an order is
// given as these ranks. A candidate that was never retrieved has no rank; it counts in the ideal order.
//
// The statistics of a *candidate* are [grade, 1], or [grade, 0] if it was not retrieved; those of an *order* are [value, 1].
#pragma once
#include <vector>

#include "metrics/metric.h"

namespace hopefear {

class RankMetric final : public Metric {
 public:
  enum class Kind { ndcg, mrr, map, recall };
  /// k: ranks that count, 0 for all. exponential: gains 2^grade - 1 (Burges et al. 2005) in place of the grade.
  RankMetric(const std::string& kind, std::string column, int k, double level, bool exponential, std::string retrieved);

  std::string name() const override { return name_; }
  int size() const override { return 2; }
  double score(const double* stats) const override { return stats[1] > 0 ? stats[0] / stats[1] : 0; }
  double gain(const double* stats) const override { return score(stats); }
  void list_stats(const Pool& pool, const Sentence& sentence, double* rows) const override;

  /// Candidates whose rank matters, and the value of the ideal order.
  struct Judged {
    std::vector<int32_t> relevant;
    std::vector<double> gain;  // of each
    double ideal = 0;
  };
  /// `rows`: statistics of the candidates of one list.
  Judged judged(const double* rows, int32_t count) const;
  /// The value of an order, by the ranks of the relevant candidates, from 1.
  double value(const Judged& judged, const std::vector<int32_t>& rank) const;
  /// The change of the value if relevant candidate j moved from rank `before` to rank[j], past a candidate whose rank does not matter.
  double change(const Judged& judged, const std::vector<int32_t>& rank, size_t j, int32_t before) const;
  /// Whether a change at this rank or below it may change the value.
  bool matters(int32_t rank) const { return k_ == 0 || rank <= k_; }
  /// The value of the order by descending scores; ties keep their order.
  double value(const double* rows, const double* scores, int32_t count) const;

 private:
  std::string name_;
  Kind kind_;
  std::string column_;
  int k_;
  double level_;
  bool exponential_;
  std::string retrieved_;
};

}  // namespace hopefear
