#include "metrics/ratio.h"

#include "metrics/columns.h"

namespace hopefear {

Ratio::Ratio(std::string name, std::vector<std::string> columns, std::vector<double> above, std::vector<double> below,
             bool higher_is_better)
    : name_(std::move(name)),
      columns_(std::move(columns)),
      above_(std::move(above)),
      below_(std::move(below)),
      higher_is_better_(higher_is_better) {
  if (columns_.empty() || above_.size() != columns_.size() || below_.size() != columns_.size())
    throw InputError("a ratio needs two coefficients for each column");
}

double Ratio::score(const double* stats) const {
  double above = 0, below = 0;
  for (size_t j = 0; j < columns_.size(); ++j) {
    above += above_[j] * stats[j];
    below += below_[j] * stats[j];
  }
  if (below > 0) return above / below;
  // Errors against an empty reference: the worst value.
  return higher_is_better_ ? 1.0 : (above > 0 ? 1.0 : 0.0);
}

void Ratio::list_stats(const Pool& pool, const Sentence& sentence, double* rows) const {
  const Forest& f = sentence.forest;
  for (size_t j = 0; j < columns_.size(); ++j) {
    const size_t column = number_column(pool, f, columns_[j]);
    for (int32_t e = 0; e < f.edges(); ++e) {
      const double value = number_of(f, e, column, columns_[j]);
      if (value < 0)
        throw InputError("candidate " + std::to_string(e) + " has a negative " + columns_[j] + ". A ratio of sums needs counts");
      rows[static_cast<size_t>(e) * columns_.size() + j] = value;
    }
  }
}

}  // namespace hopefear
