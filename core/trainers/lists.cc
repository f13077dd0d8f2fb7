#include "trainers/lists.h"

#include <algorithm>
#include <cmath>

#include "forest/derivation.h"
#include "forest/viterbi.h"
#include "util/parallel.h"

namespace hopefear {

Lists::Lists(const Pool& of, const double* known, const Metric& by)
    : pool(of), row_begin{0}, stats(known), metric(by), width(static_cast<size_t>(by.size())) {
  for (const Sentence& s : pool.sentences) {
    if (stats && !s.forest.is_list()) throw InputError("sentence " + s.id + ": is not a candidate list");
    row_begin.push_back(row_begin.back() + s.forest.edges());
    if (!stats) scorers.push_back(metric.scorer(*pool.vocab, s.references));
  }
}

std::vector<double> document_stats(const Lists& lists, const std::vector<int32_t>& candidate) {
  std::vector<double> sum(lists.width, 0.0);
  for (size_t i = 0; i < lists.sentences(); ++i) {
    if (candidate[i] < 0) continue;
    const double* row = lists.row_stats(i, candidate[i]);
    for (size_t s = 0; s < lists.width; ++s) sum[s] += row[s];
  }
  return sum;
}

std::vector<double> weighted_features(const Lists& lists, const double* coefficients, int jobs) {
  const auto features = static_cast<size_t>(lists.features());
  // A fixed number of blocks, independent of the number of threads; one block if the vectors are huge.
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

namespace {

OneBest best_derivations(const Lists& forests, const double* w, int jobs) {
  const size_t width = forests.width;
  std::vector<double> counted(forests.sentences() * width);
  parallel_for(forests.sentences(), jobs, [&](size_t i, int) {
    forests.scorers[i]->stats(yield(forests.list(i), viterbi(forests.list(i), w).edges), counted.data() + i * width);
  });
  OneBest best{std::vector<int32_t>(forests.sentences(), -1), std::vector<double>(width, 0.0)};
  for (size_t i = 0; i < forests.sentences(); ++i)
    for (size_t s = 0; s < width; ++s) best.stats[s] += counted[i * width + s];
  return best;
}

}  // namespace

OneBest one_best(const Lists& lists, const double* w, int jobs) {
  if (!lists.stats) return best_derivations(lists, w, jobs);
  std::vector<int32_t> candidate(lists.sentences(), -1);
  parallel_for(lists.sentences(), jobs, [&](size_t i, int) {
    const Forest& list = lists.list(i);
    double top = 0;
    for (int32_t e = 0; e < list.edges(); ++e) {
      const double score = list.edge_score(e, w);
      if (e == 0 || score > top || (score == top && lists.before(i, e, candidate[i]))) {
        top = score;
        candidate[i] = e;
      }
    }
  });
  std::vector<double> stats = document_stats(lists, candidate);
  if (const auto* rank = dynamic_cast<const RankMetric*>(&lists.metric)) {
    const std::vector<double> orders = order_stats(lists, *rank, w, jobs);
    std::fill(stats.begin(), stats.end(), 0.0);
    for (size_t r = 0; r < orders.size(); ++r) stats[r % lists.width] += orders[r];
  }
  return {std::move(candidate), std::move(stats)};
}

std::vector<double> order_stats(const Lists& lists, const RankMetric& metric, const double* w, int jobs) {
  std::vector<double> stats(lists.sentences() * lists.width);
  parallel_for(lists.sentences(), jobs, [&](size_t i, int) {
    std::vector<double> scores(static_cast<size_t>(lists.candidates(i)));
    edge_scores(lists.list(i), w, scores.data());
    const double* rows = lists.stats + static_cast<size_t>(lists.row_begin[i]) * lists.width;
    stats[i * lists.width] = metric.value(rows, scores.data(), lists.candidates(i));
    stats[i * lists.width + 1] = 1;
  });
  return stats;
}

}  // namespace hopefear
