#include "trainers/batch/pro.h"

#include "task.h"

namespace hopefear {

void init_pro(nb::module_& m) {
  nb::class_<PairMatrix>(m, "PairMatrix", "Pairs of candidates sampled for PRO.")
      .def("__len__", &PairMatrix::rows)
      .def_prop_ro(
          "gain_difference", [](const PairMatrix& p) { return give(std::vector<double>(p.gain_difference)); },
          nb::rv_policy::automatic)
      .def(
          "log_loss",
          [](const PairMatrix& p, In<double> w, int jobs) {
            std::vector<double> gradient(w.size());
            const double value = without_gil([&] { return pair_log_loss(p, w.data(), w.size(), gradient.data(), jobs); });
            return std::make_pair(value, give(std::move(gradient)));
          },
          "w"_a, "jobs"_a, "Mean logistic loss and its gradient.");
  m.def(
      "sample_pairs",
      [](const Pool& pool, In2<double> stats, const Metric& metric, In<double> gains, int samples, double threshold, int keep,
         bool weighted, uint64_t seed, int jobs) {
        const std::vector<double> zero(static_cast<size_t>(pool.features->size()), 0.0);
        Task task(pool, stats, metric, In<double>(zero.data(), {zero.size()}));
        const double* rows = rows_of(task, gains);
        const ProOptions options{
            .samples = samples, .threshold = threshold, .keep = keep, .weighted = weighted, .seed = seed, .jobs = jobs};
        return without_gil([&] { return sample_pairs(task.lists, rows, options); });
      },
      "pool"_a, "stats"_a, "metric"_a, "gains"_a, "samples"_a, "threshold"_a, "keep"_a, "weighted"_a, "seed"_a, "jobs"_a);
}

}  // namespace hopefear
