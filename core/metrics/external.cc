#include "metrics/external.h"

#include <cmath>

#include "metrics/columns.h"

namespace hopefear {

External::External(std::string column, bool higher_is_better, double scale)
    : column_(std::move(column)), higher_is_better_(higher_is_better), scale_(scale) {
  if (!(scale > 0 && std::isfinite(scale))) throw InputError("scale of an external metric must be above 0");
}

void External::list_stats(const Pool& pool, const Sentence& sentence, double* rows) const {
  const Forest& f = sentence.forest;
  const size_t column = number_column(pool, f, column_);
  for (int32_t e = 0; e < f.edges(); ++e) {
    rows[2 * e] = number_of(f, e, column, column_);
    rows[2 * e + 1] = 1;
  }
}

}  // namespace hopefear
