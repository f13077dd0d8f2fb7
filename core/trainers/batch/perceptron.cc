#include "trainers/batch/perceptron.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "trainers/averager.h"
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

/// S(d) of the top candidates, the mean over the lists.
double mean_objective(const Lists& lists, const double* objective, const std::vector<double>& w, int jobs) {
  const OneBest top = one_best(lists, w.data(), jobs);
  double sum = 0;
  for (size_t i = 0; i < lists.sentences(); ++i)
    if (top.candidate[i] >= 0) sum += objective[lists.row_begin[i] + top.candidate[i]];
  return sum / static_cast<double>(std::max<size_t>(1, lists.sentences()));
}

}  // namespace

std::vector<double> perceptron(const Lists& lists, const double* objective, const double* initial, const Bounds& bounds,
                               const PerceptronOptions& options, const OnEpoch& on_epoch) {
  std::vector<double> w(initial, initial + lists.features()), scores;
  BestWeights best{mean_objective(lists, objective, w, options.jobs), w};
  Difference difference(w.size(), bounds);
  int64_t updates = 0;
  for (int iteration = 1; iteration <= options.iterations; ++iteration) {
    for (size_t i = 0; i < lists.sentences(); ++i) {
      const Forest& list = lists.list(i);
      const int32_t count = list.edges();
      if (count == 0) continue;
      const double* S = objective + lists.row_begin[i];
      const int32_t oracle = arg_max(S, count);
      scores.resize(static_cast<size_t>(count));
      edge_scores(list, w.data(), scores.data());
      const int32_t top1 = arg_max(scores.data(), count);
      const double loss = S[oracle] - S[top1];  // (7)
      if (loss <= 0) continue;
      SparseVector x = difference.between(list, oracle, top1);
      if (options.normalize) {  // (4)
        const Ranges r(list);
        for (size_t k = 0; k < x.ids.size(); ++k) x.values[k] /= r[x.ids[k]] * r[x.ids[k]];
      }
      double delta = options.scaled ? S[oracle] : 1.0;                                          // (3), (2)
      if (options.passive_aggressive) delta = loss / (x.squared_norm() + 1 / (2 * options.C));  // (8)
      step(w, x, delta, bounds, nullptr);                                                       // (6)
      ++updates;
    }
    const double now = mean_objective(lists, objective, w, options.jobs);
    best.offer(now, w);
    if (!on_epoch({iteration, now, w, updates})) break;
  }
  return best.w;
}

}  // namespace hopefear
