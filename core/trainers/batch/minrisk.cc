#include "trainers/batch/minrisk.h"

#include <algorithm>
#include <cmath>

#include "util/parallel.h"

namespace hopefear {

std::vector<double> weighted_features(const Lists& lists, const double* coefficients, int jobs) {
  const auto features = static_cast<size_t>(lists.features());
  // A fixed number of blocks, whatever the number of threads; one when the vectors are huge.
  const size_t blocks = std::min<size_t>(lists.sentences(), features > 1'000'000 ? 1 : 16);
  std::vector<std::vector<double>> part(blocks);
  parallel_for(blocks, jobs, [&](size_t b, int) {
    part[b].assign(features, 0.0);
    const size_t begin = lists.sentences() * b / blocks, end = lists.sentences() * (b + 1) / blocks;
    for (size_t i = begin; i < end; ++i)
      for (int32_t e = 0; e < lists.candidates(i); ++e) {
        const double coefficient = coefficients[lists.row_begin[i] + e];
        if (std::abs(coefficient) > 1e-16) add_features(lists.list(i), e, coefficient, part[b].data());
      }
  });
  std::vector<double> sum(features, 0.0);
  for (const auto& p : part)
    for (size_t j = 0; j < features; ++j) sum[j] += p[j];
  return sum;
}

std::vector<double> gain_slope(const Metric& metric, const double* stats) {
  const auto size = static_cast<size_t>(metric.size());
  std::vector<double> at(stats, stats + size), slope(size);
  for (size_t k = 0; k < size; ++k) {
    const double h = 1e-4 * std::max(1.0, std::abs(stats[k]));
    at[k] = stats[k] + h;
    const double above = metric.gain(at.data());
    at[k] = stats[k] - h;
    slope[k] = (above - metric.gain(at.data())) / (2 * h);
    at[k] = stats[k];
  }
  return slope;
}

Expectation expected_gain(const Lists& lists, const double* row_gain, const double* w, double temperature, bool corpus,
                          double entropy_weight, int jobs) {
  std::vector<double> p(lists.rows()), entropy(lists.sentences(), 0.0), expected_stats(lists.sentences() * lists.width, 0.0);
  parallel_for(lists.sentences(), jobs, [&](size_t i, int) {
    const int32_t count = lists.candidates(i);
    if (count == 0) return;
    double* q = p.data() + lists.row_begin[i];
    edge_scores(lists.list(i), w, q);
    double top = q[0], sum = 0;
    for (int32_t e = 1; e < count; ++e) top = std::max(top, q[e]);
    for (int32_t e = 0; e < count; ++e) sum += q[e] = std::exp((q[e] - top) / temperature);
    for (int32_t e = 0; e < count; ++e) {
      q[e] /= sum;
      if (q[e] > 0) entropy[i] -= q[e] * std::log(q[e]);
    }
    double* E = expected_stats.data() + i * lists.width;
    if (corpus)
      for (int32_t e = 0; e < count; ++e) {
        const double* row = lists.row_stats(i, e);
        for (size_t s = 0; s < lists.width; ++s) E[s] += q[e] * row[s];
      }
  });
  Expectation out;
  const double share = 1.0 / static_cast<double>(std::max<size_t>(1, lists.sentences()));
  std::vector<double> document(lists.width, 0.0), slope(lists.width, 0.0), value(lists.sentences(), 0.0);
  for (size_t i = 0; i < lists.sentences(); ++i) {
    out.entropy += share * entropy[i];
    for (size_t s = 0; s < lists.width; ++s) document[s] += expected_stats[i * lists.width + s];
  }
  if (corpus) {
    out.gain = lists.metric.gain(document.data());
    slope = gain_slope(lists.metric, document.data());
  }
  // (22): the coefficient of a candidate is p (B - E[B]) / T; the entropy's is -p (log p + entropy) / T.
  parallel_for(lists.sentences(), jobs, [&](size_t i, int) {
    const int32_t count = lists.candidates(i);
    double* q = p.data() + lists.row_begin[i];
    std::vector<double> B(static_cast<size_t>(count));
    double expected = 0;
    for (int32_t e = 0; e < count; ++e) {
      const double* row = lists.row_stats(i, e);
      double b = 0;
      if (corpus)
        for (size_t s = 0; s < lists.width; ++s) b += slope[s] * row[s];
      else
        b = share * row_gain[lists.row_begin[i] + e];
      B[e] = b;
      expected += q[e] * b;
    }
    value[i] = expected;
    for (int32_t e = 0; e < count; ++e) {
      double c = B[e] - expected;
      if (entropy_weight != 0 && q[e] > 0) c -= entropy_weight * share * (std::log(q[e]) + entropy[i]);
      q[e] *= c / temperature;
    }
  });
  if (!corpus)
    for (double v : value) out.gain += v;
  out.gradient = weighted_features(lists, p.data(), jobs);
  return out;
}

}  // namespace hopefear
