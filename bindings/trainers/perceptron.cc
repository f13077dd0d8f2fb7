#include "trainers/batch/perceptron.h"

#include "task.h"

namespace hopefear {

void init_perceptron(nb::module_& m) {
  m.def(
      "perceptron",
      [](const Pool& pool, In2<double> stats, const Metric& metric, std::optional<In<double>> objective, In<double> initial,
         In<double> lower, In<double> upper, bool passive_aggressive, bool scaled, bool normalize, double C,
         const std::string& average, const std::string& gain, double decay, int iterations, const Places& places, int jobs,
         nb::object on_epoch) {
        Task task(pool, stats, metric, initial, lower, upper);
        set_places(task, places);
        const double* S = objective ? rows_of(task, *objective) : nullptr;
        const PerceptronOptions options{.passive_aggressive = passive_aggressive,
                                        .scaled = scaled,
                                        .normalize = normalize,
                                        .C = C,
                                        .average = average_by_name(average),
                                        .gain = {.kind = gain_by_name(gain), .decay = decay},
                                        .iterations = iterations,
                                        .jobs = jobs};
        return trained([&] { return perceptron(task.lists, S, task.initial, task.bounds, options, reporter(on_epoch)); });
      },
      "pool"_a, "stats"_a, "metric"_a, "objective"_a.none(), "initial"_a, "lower"_a, "upper"_a, nb::kw_only(),
      "passive_aggressive"_a, "scaled"_a, "normalize"_a, "C"_a, "average"_a, "gain"_a, "decay"_a, "iterations"_a,
      "places"_a.none(), "jobs"_a, "on_epoch"_a.none());
}

}  // namespace hopefear
