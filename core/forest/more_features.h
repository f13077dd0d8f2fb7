// The same candidates with more features.
#pragma once
#include "forest/pool.h"

namespace hopefear {

/// Lists with a feature more for each of `names`, whose values are the columns of a matrix with a line per row of the pool. The new
/// features stand among the sparse ones, whatever their values, so that pools with the same vocabulary of features stay comparable;
/// the names are added to the vocabulary. Throws InputError if a candidate already has one of the features.
Pool with_columns(const Pool& pool, const std::vector<std::string>& names, const double* values, int jobs);

}  // namespace hopefear
