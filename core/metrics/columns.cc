#include "metrics/columns.h"

#include <algorithm>
#include <cmath>

namespace hopefear {

size_t number_column(const Pool& pool, const Forest& list, const std::string& name) {
  const auto& names = pool.number_names;
  const auto column = static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  if (column == names.size() || column >= static_cast<size_t>(list.number_width)) {
    std::string known;
    for (const auto& other : names) known += (known.empty() ? "" : ", ") + other;
    throw InputError("the candidates have no number called " + name +
                     (known.empty() ? ", nor any other" : ". There is: " + known));
  }
  return column;
}

double number_of(const Forest& list, int32_t candidate, size_t column, const std::string& name) {
  const double value = list.numbers[static_cast<size_t>(candidate) * static_cast<size_t>(list.number_width) + column];
  if (!std::isfinite(value))
    throw InputError("candidate " + std::to_string(candidate) + " has no finite " + name + ". Give every candidate one");
  return value;
}

}  // namespace hopefear
