// Expected gain and its gradient over lists, the batch form of Chiang (2012), appendix A.1, eq. (22).
#pragma once
#include "trainers/batch/gains.h"

namespace hopefear {

struct Expectation {
  double gain = 0;               // what is maximised
  double entropy = 0;            // mean over sentences
  std::vector<double> gradient;  // of gain + entropy_weight * entropy
};

struct ExpectationOptions {
  double temperature;  // T of P_T(d) ~ exp(w.h(d) / T)
  bool corpus;         // gain(sum_i E[stats]), the metric of the expected statistics; otherwise the mean of E[sentence gain]
  double entropy_weight;
  int jobs;
};

/// In the corpus form B of (22) is the linear part of the gain at the expected statistics. The time is linear in the rows.
Expectation expected_gain(const Lists& lists, const double* row_gain, const double* w, const ExpectationOptions& options);

}  // namespace hopefear
