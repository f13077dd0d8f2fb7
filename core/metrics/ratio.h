// A ratio of sums of columns: precision, recall and F-beta of counts (tp, fp, fn), error rates (errors, length).
//
// Statistics are the columns; the score of a document is sum_j a_j c_j / sum_j b_j c_j. With F-beta this is
// (1 + beta^2) tp / ((1 + beta^2) tp + beta^2 fn + fp). 0 / 0 is perfect, as in ERRANT (Bryant et al. 2017).
#pragma once
#include <vector>

#include "metrics/metric.h"

namespace hopefear {

class Ratio final : public Metric {
 public:
  Ratio(std::string name, std::vector<std::string> columns, std::vector<double> above, std::vector<double> below,
        bool higher_is_better);

  std::string name() const override { return name_; }
  int size() const override { return static_cast<int>(columns_.size()); }
  double score(const double* stats) const override;
  bool higher_is_better() const override { return higher_is_better_; }
  double gain(const double* stats) const override { return higher_is_better_ ? score(stats) : 1 - score(stats); }
  void list_stats(const Pool& pool, const Sentence& sentence, double* rows) const override;

 private:
  std::string name_;
  std::vector<std::string> columns_;
  std::vector<double> above_, below_;
  bool higher_is_better_;
};

}  // namespace hopefear
