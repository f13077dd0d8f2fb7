#include "trainers/smo.h"

#include "common.h"

namespace hopefear {
namespace {

SparseVector row_of(const In2<double>& matrix, size_t row) {
  SparseVector x;
  for (size_t j = 0; j < matrix.shape(1); ++j)
    if (matrix(row, j) != 0) {
      x.ids.push_back(static_cast<int32_t>(j));
      x.values.push_back(matrix(row, j));
    }
  return x;
}

}  // namespace

void init_smo(nb::module_& m) {
  m.def(
      "solve_working_set",
      [](In2<double> x, In<double> losses, In<double> w, In<double> sigma, double epsilon, int max_iterations) {
        if (losses.size() != x.shape(0) || w.size() != x.shape(1) || sigma.size() != x.shape(1))
          throw nb::value_error("the parts of the working set differ in size");
        std::vector<double> moved(w.data(), w.data() + w.size()), alpha;
        const Rates rates{.eta = 0, .sigma = sigma.data()};
        WorkingSet set;
        for (size_t d = 0; d < x.shape(0); ++d) set.add(row_of(x, d), losses(d), rates);
        set.optimize(moved.data(), rates, epsilon, max_iterations);
        for (size_t d = 0; d < set.size(); ++d) alpha.push_back(set.alpha(d));
        return std::make_pair(give(std::move(moved)), give(std::move(alpha)));
      },
      "x"_a, "losses"_a, "w"_a, "sigma"_a, "epsilon"_a, "max_iterations"_a,
      "The QP of a working set, rows x_d = h(d_i) - h(d): new weights, and alpha with that of d_i first.");
}

}  // namespace hopefear
