#include "trainers/batch/cmira.h"

#include "task.h"

namespace hopefear {

void init_cmira(nb::module_& m) {
  m.def(
      "cmira",
      [](const Pool& pool, In2<double> stats, const Metric& metric, In<double> initial, In<double> lower, In<double> upper,
         double C, const std::string& gain, double decay, int epochs, int beam, int constraints, bool competes,
         const Places& places, int jobs, nb::object on_epoch) {
        Task task(pool, stats, metric, initial, lower, upper);
        set_places(task, places);
        const CmiraOptions options{.C = C,
                                   .gain = {.kind = gain_by_name(gain), .decay = decay},
                                   .epochs = epochs,
                                   .beam = beam,
                                   .competes = competes,
                                   .constraints = constraints,
                                   .jobs = jobs};
        return trained([&] { return cmira(task.lists, task.initial, task.bounds, options, reporter(on_epoch)); });
      },
      "pool"_a, "stats"_a, "metric"_a, "initial"_a, "lower"_a, "upper"_a, nb::kw_only(), "C"_a, "gain"_a, "decay"_a, "epochs"_a,
      "beam"_a, "constraints"_a, "competes"_a, "places"_a.none(), "jobs"_a, "on_epoch"_a.none());
  m.def("cmira_step", &cmira_step, "delta_gain"_a, "margin"_a, "norm"_a, "C"_a, "The step of algorithm 1, line 11.");
}

}  // namespace hopefear
