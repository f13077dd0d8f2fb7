#include "trainers/batch/kbmira.h"

#include "task.h"
#include "trainers/batch/forest_mira.h"

namespace hopefear {

void init_kbmira(nb::module_& m) {
  m.def(
      "kbmira",
      [](const Pool& pool, In2<double> stats, const Metric& metric, In<double> initial, In<double> lower, In<double> upper,
         double C, const std::string& gain, double decay, int passes, const std::string& average, bool competes, int constraints,
         double epsilon, uint64_t seed, const Places& places, int jobs, nb::object on_epoch) {
        Task task(pool, stats, metric, initial, lower, upper);
        set_places(task, places);
        const KbmiraOptions options{.mira = {.C = C,
                                             .decay = decay,
                                             .passes = passes,
                                             .average = average_by_name(average),
                                             .competes = competes,
                                             .seed = seed,
                                             .jobs = jobs},
                                    .gain = gain_by_name(gain),
                                    .constraints = constraints,
                                    .epsilon = epsilon};
        return trained([&] { return kbmira(task.lists, task.initial, task.bounds, options, reporter(on_epoch)); });
      },
      "pool"_a, "stats"_a, "metric"_a, "initial"_a, "lower"_a, "upper"_a, nb::kw_only(), "C"_a, "gain"_a, "decay"_a, "passes"_a,
      "average"_a, "competes"_a, "constraints"_a, "epsilon"_a, "seed"_a, "places"_a.none(), "jobs"_a, "on_epoch"_a.none());
  m.def(
      "forest_mira",
      [](const Pool& pool, const Metric& metric, In<double> initial, In<double> lower, In<double> upper, double C, double decay,
         int passes, const std::string& average, bool competes, const std::string& approximation, uint64_t seed, int jobs,
         nb::object on_epoch) {
        Task task(pool, std::nullopt, metric, initial, lower, upper);
        const Approximation how = approximation_by_name(approximation);
        const BatchMiraOptions options{.C = C,
                                       .decay = decay,
                                       .passes = passes,
                                       .average = average_by_name(average),
                                       .competes = competes,
                                       .seed = seed,
                                       .jobs = jobs};
        return trained([&] { return forest_mira(task.lists, task.initial, task.bounds, options, how, reporter(on_epoch)); });
      },
      "pool"_a, "metric"_a, "initial"_a, "lower"_a, "upper"_a, nb::kw_only(), "C"_a, "decay"_a, "passes"_a, "average"_a,
      "competes"_a, "approximation"_a, "seed"_a, "jobs"_a, "on_epoch"_a.none());
}

}  // namespace hopefear
