#include "trainers/batch/mert.h"

#include "signals.h"
#include "task.h"
#include "trainers/batch/envelopes.h"

namespace hopefear {
namespace {

std::vector<std::vector<double>> rows(const In2<double>& matrix) {
  std::vector<std::vector<double>> out;
  for (size_t k = 0; k < matrix.shape(0); ++k)
    out.emplace_back(matrix.data() + k * matrix.shape(1), matrix.data() + (k + 1) * matrix.shape(1));
  return out;
}

/// The search along a line, as an axis if `axis` is true.
template <class Search>
auto on_line(const Lists& lists, const In<double>& w, const In<double>& direction, bool axis, Search&& search) {
  std::unique_ptr<AxisColumns> columns;
  if (axis) columns = std::make_unique<AxisColumns>(lists, std::vector<Direction>{{copied(direction), {1.0}}}, 1);
  return search(*envelopes_on_line(lists, w.data(), copied(direction), columns.get()));
}

void check_direction(const In<double>& direction, const In<double>& w) {
  if (direction.size() != w.size()) throw nb::value_error("the direction must have one number for each feature");
}

void bind_mert(nb::module_& m) {
  m.def(
      "mert",
      [](const Pool& pool, std::optional<In2<double>> stats, const Metric& metric, In<double> initial, In2<double> axes,
         In<double> lower, In<double> upper, int restarts, int random_directions, int max_passes, double min_gain,
         int kick_rounds, double kick_share, bool thorough, uint64_t seed, int jobs, nb::object on_ascent) {
        Task task(pool, stats, metric, initial, lower, upper);
        if (axes.shape(1) != initial.size()) throw nb::value_error("an axis must have one number for each feature");
        Signals signals;
        const MertOptions options{.restarts = restarts,
                                  .random_directions = random_directions,
                                  .max_passes = max_passes,
                                  .min_gain = min_gain,
                                  .kick_rounds = kick_rounds,
                                  .kick_share = kick_share,
                                  .thorough = thorough,
                                  .seed = seed,
                                  .jobs = jobs,
                                  .on_ascent =
                                      [&on_ascent](int done, double best) {
                                        nb::gil_scoped_acquire gil;
                                        if (!on_ascent.is_none()) on_ascent(done, best);
                                      },
                                  .on_line = [&signals] { signals.check(); }};
        std::vector<MertStart> starts =
            signals.run([&] { return mert(task.lists, task.initial, rows(axes), task.bounds, options); });
        std::vector<std::tuple<double, Out<double>, int>> out;
        for (MertStart& start : starts) out.emplace_back(start.gain, give(std::move(start.w)), start.lines);
        return out;
      },
      "pool"_a, "stats"_a.none(), "metric"_a, "initial"_a, "axes"_a, "lower"_a, "upper"_a, nb::kw_only(), "restarts"_a,
      "random_directions"_a, "max_passes"_a, "min_gain"_a, "kick_rounds"_a, "kick_share"_a, "thorough"_a, "seed"_a, "jobs"_a,
      "on_ascent"_a.none(), "Of each start: gain, weights, lines searched.");
}

void bind_line_search(nb::module_& m) {
  m.def(
      "error_surface",
      [](const Pool& pool, std::optional<In2<double>> stats, const Metric& metric, In<double> w, In<double> direction,
         bool axis) {
        Task task(pool, stats, metric, w);
        check_direction(direction, w);
        std::vector<double> x, gain;
        without_gil([&] {
          on_line(task.lists, w, direction, axis, [&](EnvelopeSource& source) { LineSearch().surface(source, metric, x, gain); });
        });
        return std::make_pair(give(std::move(x)), give(std::move(gain)));
      },
      "pool"_a, "stats"_a.none(), "metric"_a, "w"_a, "direction"_a, "axis"_a,
      "The gain along w + x*direction: where each piece begins, and the gain there.");
  m.def(
      "line_search",
      [](const Pool& pool, std::optional<In2<double>> stats, const Metric& metric, In<double> w, In<double> direction,
         double lower, double upper, bool axis) {
        Task task(pool, stats, metric, w);
        check_direction(direction, w);
        const LineOptimum best = on_line(task.lists, w, direction, axis, [&](EnvelopeSource& source) {
          return LineSearch().search(source, metric, lower, upper);
        });
        return std::make_tuple(best.x, best.gain, best.gain_at_zero);
      },
      "pool"_a, "stats"_a.none(), "metric"_a, "w"_a, "direction"_a, "lower"_a, "upper"_a, "axis"_a,
      "The best x on a line, the gain there, and the gain at 0.");
}

}  // namespace

void init_mert(nb::module_& m) {
  bind_mert(m);
  bind_line_search(m);
}

}  // namespace hopefear
