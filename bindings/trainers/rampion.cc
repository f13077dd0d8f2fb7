#include "trainers/batch/rampion.h"

#include "task.h"

namespace hopefear {

void init_rampion(nb::module_& m) {
  m.def(
      "rampion",
      [](const Pool& pool, std::optional<In2<double>> stats, const Metric& metric, In<double> costs, In<double> initial,
         In<double> lower, In<double> upper, const std::string& loss, double eta, double C, double l1, int cccp, int passes,
         uint64_t seed, bool shuffle, int jobs, nb::object on_epoch) {
        Task task(pool, stats, metric, initial, lower, upper);
        const double* cost = rows_of(task, costs);
        const RampionOptions options{.loss = loss,
                                     .eta = eta,
                                     .C = C,
                                     .l1 = l1,
                                     .cccp = cccp,
                                     .passes = passes,
                                     .seed = seed,
                                     .shuffle = shuffle,
                                     .jobs = jobs};
        return trained([&] { return rampion(task.lists, cost, task.initial, task.bounds, options, reporter(on_epoch)); });
      },
      "pool"_a, "stats"_a.none(), "metric"_a, "costs"_a, "initial"_a, "lower"_a, "upper"_a, nb::kw_only(), "loss"_a, "eta"_a,
      "C"_a, "l1"_a, "cccp"_a, "passes"_a, "seed"_a, "shuffle"_a, "jobs"_a = 0, "on_epoch"_a = nb::none());
}

}  // namespace hopefear
