#include "trainers/batch/perceptron.h"

#include "task.h"

namespace hopefear {

void init_perceptron(nb::module_& m) {
  m.def(
      "perceptron",
      [](const Pool& pool, In2<double> stats, const Metric& metric, In<double> objective, In<double> initial, In<double> lower,
         In<double> upper, bool passive_aggressive, bool scaled, bool normalize, double C, int iterations, int jobs,
         nb::object on_epoch) {
        Task task(pool, stats, metric, initial, lower, upper);
        const double* S = rows_of(task, objective);
        const PerceptronOptions options{.passive_aggressive = passive_aggressive,
                                        .scaled = scaled,
                                        .normalize = normalize,
                                        .C = C,
                                        .iterations = iterations,
                                        .jobs = jobs};
        return trained([&] { return perceptron(task.lists, S, task.initial, task.bounds, options, reporter(on_epoch)); });
      },
      "pool"_a, "stats"_a, "metric"_a, "objective"_a, "initial"_a, "lower"_a, "upper"_a, nb::kw_only(), "passive_aggressive"_a,
      "scaled"_a, "normalize"_a, "C"_a, "iterations"_a, "jobs"_a = 0, "on_epoch"_a = nb::none());
}

}  // namespace hopefear
