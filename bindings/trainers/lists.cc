#include "trainers/lists.h"

#include "task.h"

namespace hopefear {

void init_lists(nb::module_& m) {
  m.def(
      "one_best",
      [](const Pool& pool, std::optional<In2<double>> stats, const Metric& metric, In<double> w, int jobs) {
        Task task(pool, stats, metric, w);
        OneBest best = without_gil([&] { return one_best(task.lists, w.data(), jobs); });
        return std::make_pair(give(std::move(best.candidate)), give(std::move(best.stats)));
      },
      "pool"_a, "stats"_a.none(), "metric"_a, "w"_a, "jobs"_a = 0,
      "The best candidate of each list (ties: the first; -1: an empty list), and the document's statistics.");
  m.def(
      "order_stats",
      [](const Pool& pool, std::optional<In2<double>> stats, const RankMetric& metric, In<double> w, int jobs) {
        Task task(pool, stats, metric, w);
        return give(without_gil([&] { return order_stats(task.lists, metric, w.data(), jobs); }), 2);
      },
      "pool"_a, "stats"_a, "metric"_a, "w"_a, "jobs"_a = 0, "The statistics of the order of each list under w.");
}

}  // namespace hopefear
