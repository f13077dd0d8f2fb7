#include "trainers/lists.h"

#include "task.h"
#include "trainers/batch/gains.h"

namespace hopefear {

void init_lists(nb::module_& m) {
  m.def(
      "one_best",
      [](const Pool& pool, std::optional<In2<double>> stats, const Metric& metric, In<double> w, int jobs, const Places& places) {
        Task task(pool, stats, metric, w);
        set_places(task, places);
        OneBest best = without_gil([&] { return one_best(task.lists, w.data(), jobs); });
        return std::make_pair(give(std::move(best.candidate)), give(std::move(best.stats)));
      },
      "pool"_a, "stats"_a.none(), "metric"_a, "w"_a, "jobs"_a, "places"_a.none(),
      "The best candidate of each list (of equals the one with the first place; -1: an empty list), and the document's "
      "statistics.");
  m.def(
      "row_gains",
      [](const Pool& pool, In2<double> stats, const Metric& metric, In<double> w, const std::string& gain, double decay, int jobs,
         const Places& places) {
        Task task(pool, stats, metric, w);
        set_places(task, places);
        const GainOptions options{.kind = gain_by_name(gain), .decay = decay};
        return give(without_gil([&] {
          SentenceGains gains(task.lists, options, jobs);
          return std::vector<double>(gains.at(row_scores(task.lists, w.data(), jobs)));
        }));
      },
      "pool"_a, "stats"_a, "metric"_a, "w"_a, "gain"_a, "decay"_a, "jobs"_a, "places"_a.none(),
      "What each candidate is worth to its sentence around these weights: plus1, linear or background.");
  m.def(
      "order_stats",
      [](const Pool& pool, std::optional<In2<double>> stats, const RankMetric& metric, In<double> w, int jobs) {
        Task task(pool, stats, metric, w);
        return give(without_gil([&] { return order_stats(task.lists, metric, w.data(), jobs); }), 2);
      },
      "pool"_a, "stats"_a, "metric"_a, "w"_a, "jobs"_a, "The statistics of the order of each list under w.");
}

}  // namespace hopefear
