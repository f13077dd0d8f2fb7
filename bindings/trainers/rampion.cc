#include "trainers/batch/rampion.h"

#include "task.h"

namespace hopefear {

void init_rampion(nb::module_& m) {
  m.def(
      "rampion",
      [](const Pool& pool, std::optional<In2<double>> stats, const Metric& metric, std::optional<In<double>> costs,
         In<double> initial, In<double> theta_0, In<double> lower, In<double> upper, const std::string& gain, double decay,
         double alpha, const std::string& loss, double eta, double C, double l1, int cccp, int passes, uint64_t seed,
         bool shuffle, const Places& places, int jobs, nb::object on_epoch) {
        Task task(pool, stats, metric, initial, lower, upper);
        set_places(task, places);
        if (theta_0.size() != initial.size()) throw nb::value_error("theta_0 must have one number for each feature");
        if (costs) rows_of(task, *costs);
        if (!costs && !stats) throw nb::value_error("forests need costs");
        const RampionOptions options{.loss = loss,
                                     .eta = eta,
                                     .C = C,
                                     .l1 = l1,
                                     .cccp = cccp,
                                     .passes = passes,
                                     .seed = seed,
                                     .shuffle = shuffle,
                                     .jobs = jobs};
        const auto fixed = [&](const std::vector<double>&) { return costs->data(); };
        const OnEpoch report = reporter(on_epoch);
        if (costs)
          return trained([&] { return rampion(task.lists, fixed, task.initial, theta_0.data(), task.bounds, options, report); });
        const GainOptions kind{.kind = gain_by_name(gain), .decay = decay};
        return trained(
            [&] { return rampion(task.lists, kind, alpha, task.initial, theta_0.data(), task.bounds, options, report); });
      },
      "pool"_a, "stats"_a.none(), "metric"_a, "costs"_a.none(), "initial"_a, "theta_0"_a, "lower"_a, "upper"_a, nb::kw_only(),
      "gain"_a, "decay"_a, "alpha"_a, "loss"_a, "eta"_a, "C"_a, "l1"_a, "cccp"_a, "passes"_a, "seed"_a, "shuffle"_a,
      "places"_a.none(), "jobs"_a, "on_epoch"_a.none());
}

}  // namespace hopefear
