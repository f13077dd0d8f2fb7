#include "trainers/batch/kbmira.h"

#include <algorithm>
#include <numeric>

#include "trainers/difference.h"
#include "trainers/smo.h"

namespace hopefear {
namespace {

/// The candidates of one list: their model scores and gains.
struct Scored {
  std::vector<double> model, gain;
  /// The first of those with the largest model + factor * gain.
  int32_t best(double factor) const {
    int32_t top = 0;
    for (int32_t e = 1; e < static_cast<int32_t>(model.size()); ++e)
      if (model[e] + factor * gain[e] > model[top] + factor * gain[top]) top = e;
    return top;
  }
  /// Adds the c largest of them to `into`, without duplicates.
  void join_best(double factor, int c, std::vector<int32_t>& into) const {
    std::vector<double> value(model.size());
    for (size_t e = 0; e < value.size(); ++e) value[e] = model[e] + factor * gain[e];
    std::vector<int32_t> order(value.size());
    std::iota(order.begin(), order.end(), 0);
    const size_t n = std::min(order.size(), static_cast<size_t>(c));
    std::partial_sort(order.begin(), order.begin() + static_cast<ptrdiff_t>(n), order.end(),
                      [&](int32_t a, int32_t b) { return value[a] != value[b] ? value[a] > value[b] : a < b; });
    for (size_t k = 0; k < n; ++k)
      if (std::find(into.begin(), into.end(), order[k]) == into.end()) into.push_back(order[k]);
  }
};

/// The quadratic program of the c best, c hope and c fear candidates against the hope. Returns the number of steps of SMO.
int64_t many_constraints(const Forest& list, const Scored& scored, int32_t hope, const KbmiraOptions& options,
                         const Bounds& bounds, std::vector<double>& w, Difference& difference, Averager& averager) {
  std::vector<int32_t> chosen;
  for (double factor : {0.0, 1.0, -1.0}) scored.join_best(factor, options.constraints, chosen);
  const double C = options.mira.C;
  const Rates rates{.eta = C, .sigma = nullptr};
  WorkingSet set;
  for (int32_t e : chosen)
    if (e != hope) set.add(difference.between(list, hope, e), scored.gain[hope] - scored.gain[e], rates);
  const int64_t steps = set.optimize(w.data(), rates, options.epsilon, kSmoIterations);
  const SparseVector x = set.sum(difference);
  for (size_t k = 0; k < x.ids.size(); ++k) {  // w has moved by C x: apply the bounds, update the average
    double& weight = w[x.ids[k]];
    const double before = weight - C * x.values[k];
    weight = bounds.clip(x.ids[k], weight);
    averager.changed(x.ids[k], weight - before);
  }
  return steps;
}

}  // namespace

std::vector<double> kbmira(const Lists& lists, const double* initial, const Bounds& bounds, const KbmiraOptions& options,
                           const OnEpoch& on_epoch) {
  Difference difference(static_cast<size_t>(lists.features()), bounds);
  std::vector<double> background(lists.width, 1.0);  // b
  const bool in_background = options.gain == Gain::background;
  SentenceGains gains(lists, {options.gain, options.mira.decay}, options.mira.jobs);
  const std::vector<double>* around = nullptr;
  const auto begin = [&](const std::vector<double>& w) {
    if (!in_background) around = &gains.at(row_scores(lists, w.data(), options.mira.jobs));
  };
  Scored scored;
  const auto learn = [&](size_t i, std::vector<double>& w, Averager& averager) -> int64_t {
    const Forest& list = lists.list(i);
    auto& [model, gain] = scored;
    model.resize(static_cast<size_t>(list.edges()));
    gain.resize(model.size());
    edge_scores(list, w.data(), model.data());
    if (in_background)
      lists.metric.context_gains(background.data(), lists.row_stats(i, 0), gain.size(), gain.data());
    else
      for (size_t e = 0; e < gain.size(); ++e) gain[e] = gains.words() * (*around)[lists.row_begin[i] + e];
    const int32_t hope = scored.best(1.0), fear = scored.best(-1.0);
    int64_t updates = 0;
    if (options.constraints > 1)
      updates = many_constraints(list, scored, hope, options, bounds, w, difference, averager);
    else if (gain[hope] > gain[fear])
      updates = mira_step(w, difference.between(list, hope, fear), gain[hope] - gain[fear], model[hope] - model[fear],
                          options.mira.C, bounds, averager);
    const double* stats = lists.row_stats(i, hope);
    for (size_t s = 0; s < lists.width; ++s) background[s] = options.mira.decay * background[s] + stats[s];
    return updates;
  };
  return mira_passes(lists, initial, options.mira, on_epoch, learn, begin);
}

}  // namespace hopefear
