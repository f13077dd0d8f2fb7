#include "forest/reparameterize.h"

#include "common.h"

namespace hopefear {

void init_reparameterize(nb::module_& m) {
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
      "centred", [](const Pool& pool, int jobs) { return centred(pool, jobs); }, "pool"_a, "jobs"_a,
      nb::call_guard<nb::gil_scoped_release>(), "Sparse features relative to the value that most candidates of a list share.");
  m.def(
      "within_variance", [](const Pool& pool) { return give(within_variance(pool)); }, "pool"_a,
      "Of each feature: its mean variance within a list.");
  m.def(
      "within_covariance",
      [](const Pool& pool, int jobs) { return give(within_covariance(pool, jobs), static_cast<size_t>(pool.dense_width)); },
      "pool"_a, "jobs"_a, "Of the dense features: their mean covariance within a list.");
}

}  // namespace hopefear
