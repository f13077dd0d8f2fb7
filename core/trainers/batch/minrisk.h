// Expected gain and its gradient over lists, the batch form of Chiang (2012), appendix A.1.
#pragma once
#include "trainers/lists.h"

namespace hopefear {

struct Expectation {
  double gain = 0;               // what is maximised
  double entropy = 0;            // mean over sentences
  std::vector<double> gradient;  // of gain + entropy_weight * entropy
};

/// P_T(d) ~ exp(w.h(d) / T). Corpus form: gain(sum_i E[stats]), the metric of the expected statistics; sentence form: the mean of
/// E[sentence gain]. (22) with B = the linear part of the gain at the expected statistics. O(K) a list.
Expectation expected_gain(const Lists& lists, const double* row_gain, const double* w, double temperature, bool corpus,
                          double entropy_weight, int jobs);

/// gradient_j = sum over rows of coefficient * h_j, added in an order that does not depend on `jobs`.
std::vector<double> weighted_features(const Lists& lists, const double* coefficients, int jobs);

/// Statistics' derivative of the gain at a document, by central differences: statistics are few.
std::vector<double> gain_slope(const Metric& metric, const double* stats);

}  // namespace hopefear
