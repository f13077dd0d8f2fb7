// A pool as the inner loops of batch trainers see it: rows of features, rows of statistics.
//
// Of k-best lists a row is a candidate and has statistics. The same type carries lattices and forests: then a row is an edge,
// there are no statistics, and the best derivation's are counted from its words.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "forest/pool.h"
#include "metrics/metric.h"
#include "metrics/rank.h"

namespace hopefear {

struct Lists {
  /// Lists, with statistics; or any pool with stats == nullptr.
  Lists(const Pool& of, const double* known, const Metric& by);

  const Pool& pool;
  std::vector<int64_t> row_begin;  // sentences + 1
  const double* stats;             // rows * width
  const Metric& metric;
  size_t width;
  const int32_t* place = nullptr;                // where the user's list has each row, if rows stand in another order
  std::vector<std::unique_ptr<Scorer>> scorers;  // of each sentence, where there are no statistics

  size_t sentences() const { return pool.size(); }
  size_t rows() const { return static_cast<size_t>(row_begin.back()); }
  int32_t features() const { return pool.features->size(); }
  const Forest& list(size_t i) const { return pool.sentences[i].forest; }
  int32_t candidates(size_t i) const { return list(i).edges(); }
  const double* row_stats(size_t i, int32_t candidate) const {
    return stats + static_cast<size_t>(row_begin[i] + candidate) * width;
  }
  /// Whether the user's list has candidate a before b. Of candidates with equal model scores the first is the best, here and
  /// wherever weights are used.
  bool before(size_t i, int32_t a, int32_t b) const { return place ? place[row_begin[i] + a] < place[row_begin[i] + b] : a < b; }
  /// The best of a list by these model scores.
  int32_t best(size_t i, const double* scores) const {
    int32_t top = 0;
    for (int32_t e = 1; e < candidates(i); ++e)
      if (scores[e] > scores[top] || (scores[e] == scores[top] && before(i, e, top))) top = e;
    return top;
  }
};

/// The first of the largest values. Candidates with equal gains are equally good, so any order of rows will do.
inline int32_t arg_max(const double* values, int32_t count) {
  int32_t best = 0;
  for (int32_t j = 1; j < count; ++j)
    if (values[j] > values[best]) best = j;
  return best;
}

/// The statistics of the document of one candidate of each list; -1: none of this list.
std::vector<double> document_stats(const Lists& lists, const std::vector<int32_t>& candidate);

/// gradient_j = sum over rows of coefficient * h_j, added in an order that does not depend on `jobs`.
std::vector<double> weighted_features(const Lists& lists, const double* coefficients, int jobs);

/// The candidate with the largest w.h in each list (of equals the first in the user's list; -1 for an empty list and for forests), and the statistics
/// of the document that the best candidates or derivations make.
struct OneBest {
  std::vector<int32_t> candidate;
  std::vector<double> stats;
};
OneBest one_best(const Lists& lists, const double* w, int jobs);

/// For a metric of whole orders: the statistics of the order of each list under w, `width` numbers for each.
std::vector<double> order_stats(const Lists& lists, const RankMetric& metric, const double* w, int jobs);

}  // namespace hopefear
