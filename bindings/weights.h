// Weights as users pass them: an array indexed by feature id, or a mapping from names.
#pragma once
#include <cmath>

#include "common.h"
#include "util/error.h"
#include "util/vocab.h"

namespace hopefear {

class Weights {
 public:
  /// One weight for each feature. A mapping may have other features too (a weights file of a larger model); features that
  /// it does not have get 0.
  const double* over(const Vocab& features) {
    const size_t count = features.size();
    if (is_mapping) {
      values.assign(count, 0.0);
      for (const auto& [name, value] : named)
        if (const int32_t id = features.find(name); id >= 0) values[id] = value;
    }
    const double* w = array ? array->data() : values.data();
    const size_t size = array ? array->size() : values.size();
    if (size < count)
      throw InputError("the weight vector has " + std::to_string(size) + " numbers for " + std::to_string(count) + " features");
    for (size_t j = 0; j < count; ++j)
      if (!std::isfinite(w[j]))
        throw InputError("the weight of " + features[static_cast<int32_t>(j)] + " is not a finite number");
    return w;
  }

  bool is_mapping = false;
  std::optional<In<double>> array;
  std::vector<double> values;
  std::vector<std::pair<std::string, double>> named;
};

}  // namespace hopefear

namespace nanobind::detail {

template <>
struct type_caster<hopefear::Weights> {
  NB_TYPE_CASTER(hopefear::Weights, const_name("collections.abc.Mapping[str, float] | numpy.typing.ArrayLike"))

  bool from_python(handle source, uint8_t, cleanup_list*) noexcept {
    try {
      if (hopefear::In<double> array; try_cast(source, array)) {
        value.array = array;
        return true;
      }
      if (PyMapping_Check(source.ptr()) && hasattr(source, "items")) {
        value.is_mapping = true;
        for (handle item : source.attr("items")()) value.named.push_back(nanobind::cast<std::pair<std::string, double>>(item));
        return true;
      }
      return try_cast(source, value.values);
    } catch (...) {
      PyErr_Clear();
      return false;
    }
  }
  static handle from_cpp(const hopefear::Weights&, rv_policy, cleanup_list*) noexcept { return {}; }
};

}  // namespace nanobind::detail
