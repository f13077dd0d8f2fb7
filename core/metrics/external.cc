#include "metrics/external.h"

#include <algorithm>
#include <cmath>

#include "forest/pool.h"

namespace hopefear {

External::External(std::string column, bool higher_is_better, double scale)
    : column_(std::move(column)), higher_is_better_(higher_is_better), scale_(scale) {
  if (!(scale > 0 && std::isfinite(scale))) throw InputError("scale of an external metric must be above 0");
}

void External::list_stats(const Pool& pool, const Sentence& sentence, double* rows) const {
  const auto& names = pool.number_names;
  const size_t column = std::find(names.begin(), names.end(), column_) - names.begin();
  const Forest& f = sentence.forest;
  if (column == names.size() || column >= static_cast<size_t>(f.number_width)) {
    std::string known;
    for (const auto& name : names) known += (known.empty() ? "" : ", ") + name;
    throw InputError("the candidates have no number called " + column_ +
                     (known.empty() ? ", nor any other" : ". There is: " + known));
  }
  for (int32_t e = 0; e < f.edges(); ++e) {
    const double value = f.number_row(e)[column];
    if (!std::isfinite(value))
      throw InputError("candidate " + std::to_string(e) + " has no finite " + column_ + ". Give every candidate one");
    rows[2 * e] = value;
    rows[2 * e + 1] = 1;
  }
}

}  // namespace hopefear
