#include "trainers/batch/minrisk.h"

#include <algorithm>
#include <cmath>

#include "util/parallel.h"

namespace hopefear {

namespace {

/// P_T of each row, and the entropy of each sentence.
struct Posteriors {
  std::vector<double> p, entropy;
};

Posteriors posteriors(const Lists& lists, const double* w, double temperature, int jobs) {
  Posteriors out{std::vector<double>(lists.rows()), std::vector<double>(lists.sentences(), 0.0)};
  parallel_for(lists.sentences(), jobs, [&](size_t i, int) {
    const int32_t count = lists.candidates(i);
    if (count == 0) return;
    double* p = out.p.data() + lists.row_begin[i];
    edge_scores(lists.list(i), w, p);
    double top = p[0], sum = 0;
    for (int32_t e = 1; e < count; ++e) top = std::max(top, p[e]);
    for (int32_t e = 0; e < count; ++e) sum += p[e] = std::exp((p[e] - top) / temperature);
    for (int32_t e = 0; e < count; ++e) {
      p[e] /= sum;
      if (p[e] > 0) out.entropy[i] -= p[e] * std::log(p[e]);
    }
  });
  return out;
}

/// sum_i E[stats].
std::vector<double> expected_document(const Lists& lists, const std::vector<double>& p, int jobs) {
  const size_t width = lists.width;
  std::vector<double> of_sentence(lists.sentences() * width, 0.0), document(width, 0.0);
  parallel_for(lists.sentences(), jobs, [&](size_t i, int) {
    double* E = of_sentence.data() + i * width;
    for (int32_t e = 0; e < lists.candidates(i); ++e) {
      const double* row = lists.row_stats(i, e);
      for (size_t s = 0; s < width; ++s) E[s] += p[lists.row_begin[i] + e] * row[s];
    }
  });
  for (size_t i = 0; i < lists.sentences(); ++i)
    for (size_t s = 0; s < width; ++s) document[s] += of_sentence[i * width + s];
  return document;
}

}  // namespace

Expectation expected_gain(const Lists& lists, const double* row_gain, const double* w, const ExpectationOptions& options) {
  Posteriors at = posteriors(lists, w, options.temperature, options.jobs);
  std::vector<double>&p = at.p, &entropy = at.entropy;
  Expectation out;
  const double share = 1.0 / static_cast<double>(std::max<size_t>(1, lists.sentences()));
  for (double each : entropy) out.entropy += share * each;
  std::vector<double> slope, expected(lists.sentences(), 0.0);
  if (options.corpus) {
    const std::vector<double> document = expected_document(lists, p, options.jobs);
    out.gain = lists.metric.gain(document.data());
    slope = gain_slope(lists.metric, document.data());
  }
  // (22): the coefficient of a candidate is p (B - E[B]) / T; the entropy's is -p (log p + entropy) / T.
  parallel_for(lists.sentences(), options.jobs, [&](size_t i, int) {
    const int32_t count = lists.candidates(i);
    double* q = p.data() + lists.row_begin[i];
    std::vector<double> B(static_cast<size_t>(count), 0.0);
    for (int32_t e = 0; e < count; ++e) {
      const double* row = lists.row_stats(i, e);
      for (size_t s = 0; s < slope.size(); ++s) B[e] += slope[s] * row[s];
      if (!options.corpus) B[e] = share * row_gain[lists.row_begin[i] + e];
      expected[i] += q[e] * B[e];
    }
    for (int32_t e = 0; e < count; ++e) {
      double c = B[e] - expected[i];
      if (options.entropy_weight != 0 && q[e] > 0) c -= options.entropy_weight * share * (std::log(q[e]) + entropy[i]);
      q[e] *= c / options.temperature;
    }
  });
  if (!options.corpus)
    for (double each : expected) out.gain += each;
  out.gradient = weighted_features(lists, p.data(), options.jobs);
  return out;
}

}  // namespace hopefear
