#include "grammar/rounding.h"

#include <cmath>

#include "util/error.h"

namespace hopefear {

RuleTable rounded(const RuleTable& rules, float step) {
  if (!(step > 0) || !std::isfinite(step)) throw InputError("a step above 0 is needed");
  RuleTable result = rules;
  for (float& value : result.columns) value = std::nearbyint(value / step) * step;
  return result;
}

}  // namespace hopefear
