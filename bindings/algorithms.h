// Shared by the methods of Forest and Pool: result types, checks of arguments.
#pragma once
#include <cmath>
#include <limits>

#include "derivations.h"
#include "forest/envelope.h"
#include "forest/expectations.h"
#include "forest/prune.h"
#include "hope_fear/hope_fear.h"
#include "weights.h"

namespace hopefear {

using Release = nb::gil_scoped_release;

inline std::span<const double> optional_view(const std::optional<In<double>>& array) {
  return array ? view(*array) : std::span<const double>{};
}

inline void check_finite(std::span<const double> values, const char* what) {
  for (double x : values)
    if (!std::isfinite(x)) throw InputError(std::string(what) + " hold NaN or infinity");
}

using DerivationList = nb::typed<nb::list, BoundDerivation>;

inline void check_k(int64_t k) {
  if (k < 1 || k > std::numeric_limits<int>::max()) throw InputError("k must be at least 1");
}

inline void check_mu(double mu) {
  if (!std::isfinite(mu)) throw InputError("mu must be a finite number");
}

inline void check_order(int max_order) {
  if (max_order < 1 || max_order > Bleu::kLargestOrder)
    throw InputError("max_order must be 1 to " + std::to_string(Bleu::kLargestOrder));
}

inline void check_temperature(double temperature) {
  if (!(temperature > 0.0) || !std::isfinite(temperature)) throw InputError("the temperature must be a positive number");
}

inline void check_count(int64_t count) {
  if (count < 0) throw InputError("the number of samples must not be negative");
}

inline PruneOptions prune_options(std::optional<double> beam, std::optional<double> posterior, std::optional<int64_t> max_edges,
                                  double temperature) {
  if (beam && !(*beam >= 0.0)) throw InputError("the beam must not be negative");
  if (posterior && !(*posterior >= 0.0)) throw InputError("the posterior must not be negative");
  if (max_edges && *max_edges < 0) throw InputError("max_edges must not be negative");
  check_temperature(temperature);
  return {beam, posterior, max_edges, temperature};
}

struct BoundTriple {
  BoundRated hope, best, fear;
};

struct BoundEnvelope {
  Forest forest;
  Envelope e;
};

/// Edge gains of linear BLEU in the context of a document: its weights.
inline std::vector<double> linear_weights(const OracleDocument& document) {
  std::vector<double> lambda(document.size());
  document.linear(lambda.data());
  return lambda;
}

void add_forest_methods(nb::class_<Forest>& forest);
void add_pool_methods(nb::class_<Pool>& pool);

}  // namespace hopefear
