#include <nanobind/stl/function.h>

#include <memory>

#include "common.h"
#include "forest/reparameterize.h"
#include "trainers/batch/cmira.h"
#include "trainers/batch/forest_mert.h"
#include "trainers/batch/forest_mira.h"
#include "trainers/batch/kbmira.h"
#include "trainers/batch/losses.h"
#include "trainers/batch/mert.h"
#include "trainers/batch/minrisk.h"
#include "trainers/batch/perceptron.h"
#include "trainers/batch/pro.h"
#include "trainers/batch/rampion.h"
#include "trainers/smo.h"
#include "util/parallel.h"

namespace hopefear {
namespace {

/// What every trainer is given: lists with statistics, or forests without. Arrays are checked here, once.
struct Task {
  Task(const Pool& pool, std::optional<In2<double>> stats, const Metric& metric, In<double> initial, In<double> lower,
       In<double> upper)
      : lists(pool, stats ? stats->data() : nullptr, metric), initial(initial.data()), bounds{lower.data(), upper.data()} {
    if (stats && (stats->shape(0) != lists.rows() || stats->shape(1) != lists.width))
      throw nb::value_error("statistics do not fit the pool and the metric");
    const auto features = static_cast<size_t>(lists.features());
    if (initial.size() != features || lower.size() != features || upper.size() != features)
      throw nb::value_error("weights and bounds must have one number for each feature");
    for (size_t j = 0; j < features; ++j)
      if (!(lower.data()[j] <= this->initial[j] && this->initial[j] <= upper.data()[j]))
        throw nb::value_error("an initial weight is outside its bounds");
  }
  Lists lists;
  const double* initial;
  Bounds bounds;
};

/// on_epoch(epoch, score, weights, updates) -> whether to go on; a null object means: silent.
OnEpoch reporter(const nb::object& callback) {
  return [&callback](const EpochReport& report) {
    nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (callback.is_none()) return true;
    std::vector<double> weights = report.average;
    return nb::cast<bool>(callback(report.epoch, report.score, give(std::move(weights)), report.updates));
  };
}

std::unique_ptr<EnvelopeSource> envelopes_of(const Lists& lists, const AxisColumns* columns) {
  if (lists.stats) return std::make_unique<ListEnvelopes>(lists, columns);
  return std::make_unique<ForestEnvelopes>(lists.pool, lists.metric);
}

const double* rows_of(const Task& task, const In<double>& values) {
  if (values.size() != task.lists.rows()) throw nb::value_error("one number for each row is needed");
  return values.data();
}

}  // namespace

void init_trainers(nb::module_& m) {
  m.def(
      "reparameterized",
      [](const Pool& pool, In<int32_t> ids, In<double> factors, std::shared_ptr<Vocab> features, int32_t dense_width) {
        if (ids.size() != static_cast<size_t>(pool.features->size()) || factors.size() != ids.size())
          throw nb::value_error("one id and factor for each feature is needed");
        for (size_t j = 0; j < ids.size(); ++j)
          if (ids.data()[j] < 0 || ids.data()[j] >= features->size()) throw nb::value_error("a feature id is out of range");
        return reparameterized(pool, view(ids), view(factors), std::move(features), dense_width);
      },
      "pool"_a, "ids"_a, "factors"_a, "features"_a, "dense_width"_a, "The same candidates over scaled or tied features.");
  m.def(
      "centred", [](const Pool& pool, int jobs) { return centred(pool, jobs); }, "pool"_a, "jobs"_a = 0,
      nb::call_guard<nb::gil_scoped_release>(), "Sparse features relative to the value that most candidates of a list share.");
  m.def(
      "within_variance", [](const Pool& pool) { return give(within_variance(pool)); }, "pool"_a,
      "Of each feature: its mean variance within a list.");
  m.def(
      "within_covariance",
      [](const Pool& pool, int jobs) { return give(within_covariance(pool, jobs), static_cast<size_t>(pool.dense_width)); },
      "pool"_a, "jobs"_a = 0, "Of the dense features: their mean covariance within a list.");
  m.def(
      "one_best",
      [](const Pool& pool, std::optional<In2<double>> stats, const Metric& metric, In<double> w, int jobs) {
        Task task(pool, stats, metric, w, w, w);
        OneBest best;
        {
          nb::gil_scoped_release release;
          best = one_best(task.lists, w.data(), jobs);
        }
        return std::make_pair(give(std::move(best.candidate)), give(std::move(best.stats)));
      },
      "pool"_a, "stats"_a.none(), "metric"_a, "w"_a, "jobs"_a = 0,
      "The best candidate of each list (ties: the first; -1: an empty list), and the document's statistics.");

  m.def(
      "mert",
      [](const Pool& pool, std::optional<In2<double>> stats, const Metric& metric, In<double> initial, In2<double> axes,
         In<double> lower, In<double> upper, int restarts, int random_directions, int max_passes, double min_gain,
         int kick_rounds, double kick_share, uint64_t seed, int jobs, nb::object on_ascent) {
        Task task(pool, stats, metric, initial, lower, upper);
        if (axes.shape(1) != initial.size()) throw nb::value_error("an axis must have one number for each feature");
        std::vector<MertStart> starts;
        {
          nb::gil_scoped_release release;
          std::vector<Direction> directions;
          for (size_t k = 0; k < axes.shape(0); ++k) {
            directions.push_back({std::vector<double>(axes.data() + k * axes.shape(1), axes.data() + (k + 1) * axes.shape(1)),
                                  std::vector<double>(axes.shape(0), 0.0)});
            directions.back().mixture[k] = 1;
          }
          std::unique_ptr<AxisColumns> columns;
          if (stats) columns = std::make_unique<AxisColumns>(task.lists, directions, jobs);
          std::vector<std::unique_ptr<EnvelopeSource>> sources;
          std::vector<EnvelopeSource*> pointers;
          for (int t = 0; t < std::min(resolve_jobs(jobs), restarts + 1); ++t) {
            sources.push_back(envelopes_of(task.lists, columns.get()));
            pointers.push_back(sources.back().get());
          }
          const auto tell = [&on_ascent](int done) {
            nb::gil_scoped_acquire gil;
            if (!on_ascent.is_none()) on_ascent(done);
          };
          const MertOptions options{restarts, random_directions, max_passes, min_gain, kick_rounds, kick_share, seed, tell};
          starts = mert(pointers, metric, task.initial, directions, task.bounds, task.lists.features(), options);
        }
        std::vector<std::tuple<double, Out<double>, int>> out;
        for (MertStart& start : starts) out.emplace_back(start.gain, give(std::move(start.w)), start.lines);
        return out;
      },
      "pool"_a, "stats"_a.none(), "metric"_a, "initial"_a, "axes"_a, "lower"_a, "upper"_a, nb::kw_only(), "restarts"_a,
      "random_directions"_a, "max_passes"_a, "min_gain"_a, "kick_rounds"_a, "kick_share"_a, "seed"_a, "jobs"_a = 0,
      "on_ascent"_a = nb::none(), "Of each start: gain, weights, lines searched.");

  m.def(
      "error_surface",
      [](const Pool& pool, std::optional<In2<double>> stats, const Metric& metric, In<double> w, In<double> direction) {
        Task task(pool, stats, metric, w, w, w);
        if (direction.size() != w.size()) throw nb::value_error("the direction must have one number for each feature");
        std::vector<double> x, gain;
        {
          nb::gil_scoped_release release;
          const auto source = envelopes_of(task.lists, nullptr);
          source->set_origin(w.data());
          source->set_direction({std::vector<double>(direction.data(), direction.data() + direction.size()), {}});
          LineSearch().surface(*source, metric, x, gain);
        }
        return std::make_pair(give(std::move(x)), give(std::move(gain)));
      },
      "pool"_a, "stats"_a.none(), "metric"_a, "w"_a, "direction"_a,
      "The gain along w + x*direction: where each piece begins, and the gain there.");

  m.def(
      "line_search",
      [](const Pool& pool, std::optional<In2<double>> stats, const Metric& metric, In<double> w, In<double> direction,
         double lower, double upper) {
        Task task(pool, stats, metric, w, w, w);
        if (direction.size() != w.size()) throw nb::value_error("the direction must have one number for each feature");
        const auto source = envelopes_of(task.lists, nullptr);
        source->set_origin(w.data());
        source->set_direction({std::vector<double>(direction.data(), direction.data() + direction.size()), {}});
        const LineOptimum best = LineSearch().search(*source, metric, lower, upper);
        return std::make_tuple(best.x, best.gain, best.gain_at_zero);
      },
      "pool"_a, "stats"_a.none(), "metric"_a, "w"_a, "direction"_a, "lower"_a, "upper"_a,
      "The best x on a line, the gain there, and the gain at 0.");

  m.def(
      "kbmira",
      [](const Pool& pool, In2<double> stats, const Metric& metric, In<double> initial, In<double> lower, In<double> upper,
         double C, double decay, int passes, int constraints, double epsilon, uint64_t seed, int jobs, nb::object on_epoch) {
        Task task(pool, stats, metric, initial, lower, upper);
        std::vector<double> w;
        {
          nb::gil_scoped_release release;
          w = kbmira(task.lists, task.initial, task.bounds, {C, decay, passes, constraints, epsilon, seed, jobs},
                     reporter(on_epoch));
        }
        return give(std::move(w));
      },
      "pool"_a, "stats"_a, "metric"_a, "initial"_a, "lower"_a, "upper"_a, nb::kw_only(), "C"_a, "decay"_a, "passes"_a,
      "constraints"_a, "epsilon"_a, "seed"_a, "jobs"_a = 0, "on_epoch"_a = nb::none());

  m.def(
      "forest_mira",
      [](const Pool& pool, const Metric& metric, In<double> initial, In<double> lower, In<double> upper, double C, double decay,
         int passes, const std::string& approximation, uint64_t seed, int jobs, nb::object on_epoch) {
        Task task(pool, std::nullopt, metric, initial, lower, upper);
        const Approximation how = approximation_by_name(approximation);
        std::vector<double> w;
        {
          nb::gil_scoped_release release;
          KbmiraOptions options;
          options.C = C;
          options.decay = decay;
          options.passes = passes;
          options.seed = seed;
          options.jobs = jobs;
          w = forest_mira(task.lists, task.initial, task.bounds, options, how, reporter(on_epoch));
        }
        return give(std::move(w));
      },
      "pool"_a, "metric"_a, "initial"_a, "lower"_a, "upper"_a, nb::kw_only(), "C"_a, "decay"_a, "passes"_a, "approximation"_a,
      "seed"_a, "jobs"_a = 0, "on_epoch"_a = nb::none());

  m.def(
      "cmira",
      [](const Pool& pool, In2<double> stats, const Metric& metric, In<double> initial, In<double> lower, In<double> upper,
         double C, int epochs, int beam, int constraints, int jobs, nb::object on_epoch) {
        Task task(pool, stats, metric, initial, lower, upper);
        std::vector<double> w;
        {
          nb::gil_scoped_release release;
          w = cmira(task.lists, task.initial, task.bounds, {C, epochs, beam, constraints, jobs}, reporter(on_epoch));
        }
        return give(std::move(w));
      },
      "pool"_a, "stats"_a, "metric"_a, "initial"_a, "lower"_a, "upper"_a, nb::kw_only(), "C"_a, "epochs"_a, "beam"_a,
      "constraints"_a, "jobs"_a = 0, "on_epoch"_a = nb::none());
  m.def("cmira_step", &cmira_step, "delta_gain"_a, "margin"_a, "norm"_a, "C"_a, "The step of algorithm 1, line 11.");

  nb::class_<PairMatrix>(m, "PairMatrix", "Pairs of candidates sampled for PRO.")
      .def("__len__", &PairMatrix::rows)
      .def_prop_ro(
          "gain_difference", [](const PairMatrix& p) { return give(std::vector<double>(p.gain_difference)); },
          nb::rv_policy::automatic)
      .def(
          "log_loss",
          [](const PairMatrix& p, In<double> w, int jobs) {
            std::vector<double> gradient(w.size());
            double value;
            {
              nb::gil_scoped_release release;
              value = pair_log_loss(p, w.data(), w.size(), gradient.data(), jobs);
            }
            return std::make_pair(value, give(std::move(gradient)));
          },
          "w"_a, "jobs"_a = 0, "Mean logistic loss and its gradient.");
  m.def(
      "sample_pairs",
      [](const Pool& pool, In2<double> stats, const Metric& metric, int samples, double threshold, int keep, uint64_t seed,
         int jobs) {
        const std::vector<double> zero(static_cast<size_t>(pool.features->size()), 0.0);
        In<double> w(zero.data(), {zero.size()});
        Task task(pool, stats, metric, w, w, w);
        nb::gil_scoped_release release;
        return sample_pairs(task.lists, samples, threshold, keep, seed, jobs);
      },
      "pool"_a, "stats"_a, "metric"_a, "samples"_a, "threshold"_a, "keep"_a, "seed"_a, "jobs"_a = 0);

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
        std::vector<double> scores(costs.size()), coefficients(costs.size(), 0.0), gradient(w.size(), 0.0);
        edge_scores(forest, w.data(), scores.data());
        const double value = loss_value(forest, scores.data(), costs.data(), loss_by_name(name), coefficients.data());
        for (int32_t e = 0; e < forest.edges(); ++e)
          if (coefficients[e] != 0) add_features(forest, e, coefficients[e], gradient.data());
        return std::make_pair(value, give(std::move(gradient)));
      },
      "forest"_a, "loss"_a, "w"_a, "costs"_a,
      "The value of a loss on one forest and its (sub)gradient; costs are additive over edges.");
  m.def(
      "rampion",
      [](const Pool& pool, std::optional<In2<double>> stats, const Metric& metric, In<double> costs, In<double> initial,
         In<double> lower, In<double> upper, const std::string& loss, double eta, double C, double l1, int cccp, int passes,
         uint64_t seed, bool shuffle, int jobs, nb::object on_epoch) {
        Task task(pool, stats, metric, initial, lower, upper);
        const double* cost = rows_of(task, costs);
        std::vector<double> w;
        {
          nb::gil_scoped_release release;
          w = rampion(task.lists, cost, task.initial, task.bounds, {loss, eta, C, l1, cccp, passes, seed, shuffle, jobs},
                      reporter(on_epoch));
        }
        return give(std::move(w));
      },
      "pool"_a, "stats"_a.none(), "metric"_a, "costs"_a, "initial"_a, "lower"_a, "upper"_a, nb::kw_only(), "loss"_a, "eta"_a,
      "C"_a, "l1"_a, "cccp"_a, "passes"_a, "seed"_a, "shuffle"_a, "jobs"_a = 0, "on_epoch"_a = nb::none());
  m.def(
      "pool_loss",
      [](const Pool& pool, std::optional<In2<double>> stats, const Metric& metric, In<double> costs, In<double> w,
         const std::string& name, int jobs) {
        Task task(pool, stats, metric, w, w, w);
        const double* cost = rows_of(task, costs);
        const Loss& loss = loss_by_name(name);
        double value = 0;
        std::vector<double> gradient;
        {
          nb::gil_scoped_release release;
          const Lists& lists = task.lists;
          std::vector<double> values(lists.sentences(), 0.0), coefficients(lists.rows(), 0.0);
          parallel_for(lists.sentences(), jobs, [&](size_t i, int) {
            std::vector<double> scores(static_cast<size_t>(lists.candidates(i)));
            edge_scores(lists.list(i), w.data(), scores.data());
            values[i] = loss_value(lists.list(i), scores.data(), cost + lists.row_begin[i], loss,
                                   coefficients.data() + lists.row_begin[i]);
          });
          for (double v : values) value += v;
          gradient = weighted_features(lists, coefficients.data(), jobs);
        }
        return std::make_pair(value, give(std::move(gradient)));
      },
      "pool"_a, "stats"_a.none(), "metric"_a, "costs"_a, "w"_a, "loss"_a, "jobs"_a = 0,
      "A loss summed over the lists, and its (sub)gradient.");

  m.def(
      "expected_gain",
      [](const Pool& pool, In2<double> stats, const Metric& metric, In<double> row_gain, In<double> w, double temperature,
         bool corpus, double entropy_weight, int jobs) {
        Task task(pool, stats, metric, w, w, w);
        const double* gains = rows_of(task, row_gain);
        Expectation result;
        {
          nb::gil_scoped_release release;
          result = expected_gain(task.lists, gains, w.data(), temperature, corpus, entropy_weight, jobs);
        }
        return std::make_tuple(result.gain, result.entropy, give(std::move(result.gradient)));
      },
      "pool"_a, "stats"_a, "metric"_a, "row_gain"_a, "w"_a, "temperature"_a, "corpus"_a, "entropy_weight"_a = 0.0, "jobs"_a = 0,
      "Expected gain, mean entropy, and the gradient of gain + entropy_weight * entropy.");

  m.def(
      "perceptron",
      [](const Pool& pool, In2<double> stats, const Metric& metric, In<double> objective, In<double> initial, In<double> lower,
         In<double> upper, bool passive_aggressive, bool scaled, bool normalize, double C, int iterations, int jobs,
         nb::object on_epoch) {
        Task task(pool, stats, metric, initial, lower, upper);
        const double* S = rows_of(task, objective);
        std::vector<double> w;
        {
          nb::gil_scoped_release release;
          w = perceptron(task.lists, S, task.initial, task.bounds, {passive_aggressive, scaled, normalize, C, iterations, jobs},
                         reporter(on_epoch));
        }
        return give(std::move(w));
      },
      "pool"_a, "stats"_a, "metric"_a, "objective"_a, "initial"_a, "lower"_a, "upper"_a, nb::kw_only(), "passive_aggressive"_a,
      "scaled"_a, "normalize"_a, "C"_a, "iterations"_a, "jobs"_a = 0, "on_epoch"_a = nb::none());

  m.def(
      "solve_working_set",
      [](In2<double> x, In<double> losses, In<double> w, In<double> sigma, double epsilon, int max_iterations) {
        const size_t n = x.shape(0), features = x.shape(1);
        if (losses.size() != n || w.size() != features || sigma.size() != features)
          throw nb::value_error("the parts of the working set differ in size");
        std::vector<double> moved(w.data(), w.data() + features), alpha;
        const Rates rates{0, sigma.data()};
        WorkingSet set;
        for (size_t d = 0; d < n; ++d) {
          SparseVector row;
          for (size_t j = 0; j < features; ++j)
            if (x(d, j) != 0) {
              row.ids.push_back(static_cast<int32_t>(j));
              row.values.push_back(x(d, j));
            }
          set.add(std::move(row), losses(d), rates);
        }
        set.optimize(moved.data(), rates, epsilon, max_iterations);
        for (size_t d = 0; d < set.size(); ++d) alpha.push_back(set.alpha(d));
        return std::make_pair(give(std::move(moved)), give(std::move(alpha)));
      },
      "x"_a, "losses"_a, "w"_a, "sigma"_a, "epsilon"_a = 1e-9, "max_iterations"_a = 100000,
      "The QP of a working set, rows x_d = h(d_i) - h(d): new weights, and alpha with that of d_i first.");
}

}  // namespace hopefear
