// Numbers that the user gives for each candidate: the columns of Forest::numbers.
#pragma once
#include <string>

#include "forest/pool.h"

namespace hopefear {

/// The index of the column of this name; throws InputError if there is none.
size_t number_column(const Pool& pool, const Forest& list, const std::string& name);

/// The number of one candidate; throws InputError if it is not finite.
double number_of(const Forest& list, int32_t candidate, size_t column, const std::string& name);

}  // namespace hopefear
