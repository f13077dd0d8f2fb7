// ROUGE-S (Lin and Och 2004) with the F measure of Brown 2011, eq. (9).
//
// A skip-bigram is a pair of words in sentence order with at most `skip` words between them (0: bigrams). Matches are
// clipped. Statistics: [matches, pairs of the candidate, pairs of the reference, F, 1]; with several references, those of
// the reference with the highest F. The score of a document is 100 times the mean F of its sentences, as in ROUGE.
// Where neither side has a pair (one word or none), F is 1 when they are equal and 0 when they are not.
#pragma once
#include "metrics/metric.h"

namespace hopefear {

class RougeS final : public Metric {
 public:
  explicit RougeS(int skip = 4, double beta = 1);

  std::string name() const override { return "rouge-s"; }
  int size() const override { return 5; }
  double score(const double* stats) const override { return stats[4] > 0 ? 100 * stats[3] / stats[4] : 0; }
  std::unique_ptr<Scorer> scorer(const Vocab& vocab, const References& references) const override;

 private:
  int skip_;
  double beta_;
};

}  // namespace hopefear
