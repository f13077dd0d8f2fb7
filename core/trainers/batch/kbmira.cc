#include "trainers/batch/kbmira.h"

#include <algorithm>
#include <numeric>

#include "trainers/batch/batch_mira.h"

namespace hopefear {
namespace {

/// The c largest values' indices joined to `into`, without repeats.
void join_top(const std::vector<double>& values, int c, std::vector<int32_t>& scratch, std::vector<int32_t>& into) {
  scratch.resize(values.size());
  std::iota(scratch.begin(), scratch.end(), 0);
  const size_t n = std::min(values.size(), static_cast<size_t>(c));
  std::partial_sort(scratch.begin(), scratch.begin() + static_cast<ptrdiff_t>(n), scratch.end(),
                    [&](int32_t a, int32_t b) { return values[a] != values[b] ? values[a] > values[b] : a < b; });
  for (size_t k = 0; k < n; ++k)
    if (std::find(into.begin(), into.end(), scratch[k]) == into.end()) into.push_back(scratch[k]);
}

/// The quadratic program of the c best, c hope and c fear candidates against the hope.
class ManyConstraints {
 public:
  int64_t step(const Forest& list, const std::vector<double>& model, const std::vector<double>& gain, int32_t hope,
               const KbmiraOptions& options, const Bounds& bounds, std::vector<double>& w, Difference& difference,
               Averager& averager) {
    chosen_.clear();
    hope_score_.resize(model.size());
    fear_score_.resize(model.size());
    for (size_t e = 0; e < model.size(); ++e) {
      hope_score_[e] = model[e] + gain[e];
      fear_score_[e] = model[e] - gain[e];
    }
    join_top(model, options.constraints, scratch_, chosen_);
    join_top(hope_score_, options.constraints, scratch_, chosen_);
    join_top(fear_score_, options.constraints, scratch_, chosen_);
    const Rates rates{options.C, nullptr};
    WorkingSet set;
    for (int32_t e : chosen_) {
      if (e == hope) continue;
      difference.add(list, hope, 1);
      difference.add(list, e, -1);
      set.add(difference.take(), gain[hope] - gain[e], rates);
    }
    const int64_t updates = set.optimize(w.data(), rates, options.epsilon, 1000);
    for (size_t d = 1; d < set.size(); ++d)
      for (size_t k = 0; k < set.x(d).ids.size(); ++k) difference.put(set.x(d).ids[k], set.alpha(d) * set.x(d).values[k]);
    const SparseVector moved = difference.take();
    for (size_t k = 0; k < moved.ids.size(); ++k) {  // w has moved by C * sum alpha x: keep the bounds, tell the average
      double& weight = w[moved.ids[k]];
      const double before = weight - options.C * moved.values[k];
      weight = bounds.clip(moved.ids[k], weight);
      averager.changed(moved.ids[k], weight - before);
    }
    return updates;
  }

 private:
  std::vector<double> hope_score_, fear_score_;
  std::vector<int32_t> scratch_, chosen_;
};

}  // namespace

std::vector<double> kbmira(const Lists& lists, const double* initial, const Bounds& bounds, const KbmiraOptions& options,
                           const OnEpoch& on_epoch) {
  Difference difference(lists.features(), bounds);
  ManyConstraints many;
  std::vector<double> background(lists.width, 1.0);  // b: starts with pseudo-counts of one
  std::vector<double> model, gain;
  return mira_passes(lists, initial, options, on_epoch, [&](size_t i, std::vector<double>& w, Averager& averager) -> int64_t {
    const Forest& list = lists.list(i);
    const int32_t count = list.edges();
    model.resize(static_cast<size_t>(count));
    gain.resize(model.size());
    edge_scores(list, w.data(), model.data());
    lists.metric.context_gains(background.data(), lists.row_stats(i, 0), static_cast<size_t>(count), gain.data());
    int32_t hope = 0, fear = 0;
    for (int32_t e = 1; e < count; ++e) {
      if (model[e] + gain[e] > model[hope] + gain[hope]) hope = e;
      if (model[e] - gain[e] > model[fear] - gain[fear]) fear = e;
    }
    int64_t updates = 0;
    if (options.constraints > 1) {
      updates = many.step(list, model, gain, hope, options, bounds, w, difference, averager);
    } else if (gain[hope] > gain[fear]) {
      difference.add(list, hope, 1);
      difference.add(list, fear, -1);
      updates = mira_step(w, difference.take(), gain[hope] - gain[fear], model[hope] - model[fear], options.C, bounds, averager);
    }
    const double* stats = lists.row_stats(i, hope);
    for (size_t s = 0; s < lists.width; ++s) background[s] = options.decay * background[s] + stats[s];
    return updates;
  });
}

}  // namespace hopefear
