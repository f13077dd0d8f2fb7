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
}

}  // namespace hopefear
