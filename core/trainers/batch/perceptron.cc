#include "trainers/batch/perceptron.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>

#include "trainers/difference.h"

namespace hopefear {
namespace {

/// r of eq. (5) for the features of one list.
class Ranges {
 public:
  explicit Ranges(const Forest& list) : dense_(static_cast<size_t>(list.dense_width), 0.01) {
    for (int32_t e = 0; e < list.edges(); ++e) {
      const double* row = list.dense.data() + static_cast<size_t>(e) * list.dense_width;
      for (size_t j = 0; j < dense_.size(); ++j) dense_[j] = std::max(dense_[j], std::abs(row[j]));
      if (list.sparse_begin.empty()) continue;
      for (int32_t k = list.sparse_begin[e]; k < list.sparse_begin[e + 1]; ++k) {
        double& r = sparse_.emplace(list.sparse_ids[k], 0.01).first->second;
        r = std::max(r, std::abs(list.sparse_values[k]));
      }
    }
  }
  double operator[](int32_t j) const { return static_cast<size_t>(j) < dense_.size() ? dense_[j] : sparse_.at(j); }

 private:
  std::vector<double> dense_;
  std::unordered_map<int32_t, double> sparse_;
};

/// S of each row, and the score of weights by it.
class Objective {
 public:
  Objective(const Lists& lists, const double* given, const PerceptronOptions& options)
      : lists_(lists), jobs_(options.jobs), rows_(given) {
    if (!given) gains_.emplace(lists, options.gain, options.jobs);
  }
  /// Computes S around the weights that a pass begins with.
  void begin_pass(const std::vector<double>& w) {
    if (gains_) rows_ = gains_->at(row_scores(lists_, w.data(), jobs_)).data();
  }
  const double* operator[](size_t i) const { return rows_ + lists_.row_begin[i]; }
  /// The mean over the lists of S of the top candidates, or the metric if S depends on the weights and so cannot measure them.
  double mean(const std::vector<double>& w) const {
    const OneBest top = one_best(lists_, w.data(), jobs_);
    if (gains_ && !gains_->fixed()) return lists_.metric.gain(top.stats.data());
    double sum = 0;
    for (size_t i = 0; i < lists_.sentences(); ++i)
      if (top.candidate[i] >= 0) sum += (*this)[i][top.candidate[i]];
    return sum / static_cast<double>(std::max<size_t>(1, lists_.sentences()));
  }

 private:
  const Lists& lists_;
  const int jobs_;
  const double* rows_;
  std::optional<SentenceGains> gains_;
};

}  // namespace

std::vector<double> perceptron(const Lists& lists, const double* objective, const double* initial, const Bounds& bounds,
                               const PerceptronOptions& options, const OnEpoch& on_epoch) {
  std::vector<double> w(initial, initial + lists.features()), scores;
  Objective of_rows(lists, objective, options);
  of_rows.begin_pass(w);
  auto best = BestWeights::from(of_rows.mean(w), w);
  Difference difference(w.size(), bounds);
  Averaging averaging(options.average, w.size());
  int64_t updates = 0;
  const auto learn = [&](size_t i) {
    const Forest& list = lists.list(i);
    const double* S = of_rows[i];
    const int32_t oracle = arg_max(S, list.edges());
    scores.resize(static_cast<size_t>(list.edges()));
    edge_scores(list, w.data(), scores.data());
    const int32_t top1 = lists.best(i, scores.data());
    const double loss = S[oracle] - S[top1];  // (7)
    if (loss <= 0) return;
    SparseVector x = difference.between(list, oracle, top1);
    if (options.normalize) {  // (4)
      const Ranges r(list);
      for (size_t k = 0; k < x.ids.size(); ++k) x.values[k] /= r[x.ids[k]] * r[x.ids[k]];
    }
    // (3), (2). A first-order gain may be negative, but a rate may not: then the gain of the sentence alone is used.
    const double rate = objective ? S[oracle] : lists.metric.sentence_gain(lists.row_stats(i, oracle));
    double delta = options.scaled ? rate : 1.0;
    if (options.passive_aggressive) delta = loss / (x.squared_norm() + 1 / (2 * options.C));  // (8)
    step(w, x, delta, bounds, &averaging.averager());                                         // (6)
    ++updates;
  };
  for (int iteration = 1; iteration <= options.iterations; ++iteration) {
    if (iteration > 1) of_rows.begin_pass(w);
    for (size_t i = 0; i < lists.sentences(); ++i) {
      if (lists.candidates(i) == 0) continue;
      learn(i);
      averaging.averager().next();
    }
    const std::vector<double> ended = averaging.end_pass(w);
    const double now = of_rows.mean(ended);
    best.offer(now, ended);
    if (!on_epoch({iteration, now, ended, updates})) break;
  }
  return best.w;
}

}  // namespace hopefear
