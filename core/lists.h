// A pool of k-best lists as the inner loops of batch trainers see it: rows of features, rows of statistics.
#pragma once
#include <cstdint>
#include <vector>

#include "metric.h"
#include "pool.h"

namespace hopefear {

struct Lists {
  Lists(const Pool& pool, const double* stats, const Metric& metric)
      : pool(pool), row_begin(pool.row_begin()), stats(stats), metric(metric), width(static_cast<size_t>(metric.size())) {}

  const Pool& pool;
  std::vector<int64_t> row_begin;  // sentences + 1
  const double* stats;             // rows * width
  const Metric& metric;
  size_t width;

  size_t sentences() const { return pool.size(); }
  size_t rows() const { return static_cast<size_t>(row_begin.back()); }
  int32_t features() const { return pool.features->size(); }
  const Forest& list(size_t i) const { return pool.sentences[i].forest; }
  int32_t candidates(size_t i) const { return list(i).edges(); }
  const double* row_stats(size_t i, int32_t candidate) const {
    return stats + static_cast<size_t>(row_begin[i] + candidate) * width;
  }
};

/// The first of the largest values.
inline int32_t arg_max(const double* values, int32_t count) {
  int32_t best = 0;
  for (int32_t j = 1; j < count; ++j)
    if (values[j] > values[best]) best = j;
  return best;
}

/// Which weights may move, and how far: frozen features have lower == upper.
struct Bounds {
  const double* lower;
  const double* upper;
  bool free(int32_t j) const { return lower[j] < upper[j]; }
  double clip(int32_t j, double value) const { return value < lower[j] ? lower[j] : value > upper[j] ? upper[j] : value; }
};

/// The candidate with the largest w.h in each list (ties: the first), and the statistics of that document.
struct OneBest {
  std::vector<int32_t> candidate;
  std::vector<double> stats;
};
OneBest one_best(const Lists& lists, const double* w, int jobs);

}  // namespace hopefear
