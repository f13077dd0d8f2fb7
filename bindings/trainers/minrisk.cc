#include "trainers/batch/minrisk.h"

#include "task.h"

namespace hopefear {

void init_minrisk(nb::module_& m) {
  m.def(
      "expected_gain",
      [](const Pool& pool, In2<double> stats, const Metric& metric, In<double> row_gain, In<double> w, double temperature,
         bool corpus, double entropy_weight, int jobs) {
        Task task(pool, stats, metric, w);
        const double* gains = rows_of(task, row_gain);
        const ExpectationOptions options{
            .temperature = temperature, .corpus = corpus, .entropy_weight = entropy_weight, .jobs = jobs};
        Expectation result = without_gil([&] { return expected_gain(task.lists, gains, w.data(), options); });
        return std::make_tuple(result.gain, result.entropy, give(std::move(result.gradient)));
      },
      "pool"_a, "stats"_a, "metric"_a, "row_gain"_a, "w"_a, "temperature"_a, "corpus"_a, "entropy_weight"_a, "jobs"_a,
      "Expected gain, mean entropy, and the gradient of gain + entropy_weight * entropy.");
}

}  // namespace hopefear
