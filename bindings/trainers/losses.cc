#include "trainers/batch/losses.h"

#include "task.h"

namespace hopefear {

void init_losses(nb::module_& m) {
  m.def(
      "loss_names",
      []() {
        std::vector<std::pair<std::string, std::string>> names;
        for (const Loss& loss : losses()) names.emplace_back(loss.name, loss.equation);
        return names;
      },
      "Every declared loss and its equation in Gimpel and Smith (2012).");
  m.def(
      "forest_loss",
      [](const Forest& forest, const std::string& name, In<double> w, In<double> costs) {
        if (costs.size() != static_cast<size_t>(forest.edges())) throw nb::value_error("one cost for each edge is needed");
        if (w.size() != static_cast<size_t>(forest.features->size()))
          throw nb::value_error("one weight for each feature is needed");
        LossAt at = forest_loss(forest, costs.data(), w.data(), loss_by_name(name));
        return std::make_pair(at.value, give(std::move(at.gradient)));
      },
      "forest"_a, "loss"_a, "w"_a, "costs"_a,
      "The value of a loss on one forest and its (sub)gradient; costs are additive over edges.");
  m.def(
      "pool_loss",
      [](const Pool& pool, std::optional<In2<double>> stats, const Metric& metric, In<double> costs, In<double> w,
         const std::string& name, int jobs) {
        Task task(pool, stats, metric, w);
        const double* cost = rows_of(task, costs);
        const Loss& loss = loss_by_name(name);
        LossAt at = without_gil([&] { return pool_loss(task.lists, cost, w.data(), loss, jobs); });
        return std::make_pair(at.value, give(std::move(at.gradient)));
      },
      "pool"_a, "stats"_a.none(), "metric"_a, "costs"_a, "w"_a, "loss"_a, "jobs"_a,
      "A loss summed over the lists, and its (sub)gradient.");
}

}  // namespace hopefear
