// chrF and chrF++ (Popovic 2015, 2017), as sacreBLEU computes them.
//
// Statistics: for each order (characters 1 to char_order, then words 1 to word_order) the n-grams of the candidate, of
// the reference, and those in common. With several references, those of the reference that gives the best sentence score.
// An order that the reference is too short for does not count the candidate's n-grams; orders that one side has none of
// are left out of the averages of precision and recall (sacreBLEU's "effective order").
#pragma once
#include "metrics/metric.h"

namespace hopefear {

class Chrf final : public Metric {
 public:
  explicit Chrf(int char_order = 6, int word_order = 0, double beta = 2);

  std::string name() const override { return "chrf"; }
  int size() const override { return 3 * (char_order_ + word_order_); }
  double score(const double* stats) const override;
  std::unique_ptr<Scorer> scorer(const Vocab& vocab, const References& references) const override;

 private:
  int char_order_, word_order_;
  double beta_;
};

}  // namespace hopefear
