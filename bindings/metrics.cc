#include "common.h"
#include "metric.h"

namespace hopefear {

void init_metrics(nb::module_& m) {
  nb::class_<Metric>(m, "Metric", "Additive statistics and a function of their sum.")
      .def_prop_ro("name", &Metric::name)
      .def_prop_ro("size", &Metric::size, "How many statistics a candidate has.")
      .def_prop_ro("higher_is_better", &Metric::higher_is_better)
      .def("score", [](const Metric& metric, In<double> stats) {
        if (stats.size() != static_cast<size_t>(metric.size())) throw nb::value_error("wrong number of statistics");
        return metric.score(stats.data());
      }, "stats"_a, "The score of a document, as the field prints it.")
      .def("gain", [](const Metric& metric, In<double> stats) {
        if (stats.size() != static_cast<size_t>(metric.size())) throw nb::value_error("wrong number of statistics");
        return metric.gain(stats.data());
      }, "stats"_a, "Larger is better, about 0 to 1.");
}

}  // namespace hopefear
