// A number that the user gives for each candidate: a column of Forest::numbers, averaged over sentences.
#pragma once
#include "metrics/metric.h"

namespace hopefear {

class External final : public Metric {
 public:
  /// The gain is the mean divided by `scale`, negated if lower is better.
  External(std::string column, bool higher_is_better, double scale);

  std::string name() const override { return "external"; }
  int size() const override { return 2; }  // sum, count
  double score(const double* stats) const override { return stats[1] > 0 ? stats[0] / stats[1] : 0; }
  bool higher_is_better() const override { return higher_is_better_; }
  double gain(const double* stats) const override { return (higher_is_better_ ? score(stats) : -score(stats)) / scale_; }
  void list_stats(const Pool& pool, const Sentence& sentence, double* rows) const override;

 private:
  std::string column_;
  bool higher_is_better_;
  double scale_;
};

}  // namespace hopefear
