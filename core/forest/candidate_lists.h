// Pools of candidate lists from elsewhere: many lists at once from flat arrays, and lists joined in the order they have.
#pragma once
#include "forest/pool.h"

namespace hopefear {

/// Lists with dense features only. The candidates of sentence i are rows row_begin[i] .. row_begin[i+1] of `dense` and `numbers`,
/// whose widths are the pool's number of features and of number_names. A candidate's words are those of its text; without
/// texts, its number in the list.
void append_lists(Pool& pool, const std::vector<std::string>& ids, std::span<const int64_t> row_begin, const double* dense,
                  const double* numbers, const std::vector<std::string>& texts,
                  const std::vector<std::vector<std::string>>& references);

/// merged(), but candidates stand in the order in which the pools have them: the first is what the first pool says first.
Pool merged_in_order(const std::vector<const Pool*>& pools);

/// merged() of one pool, and where its list has each of the rows.
std::pair<Pool, std::vector<int32_t>> canonical(const Pool& pool);

}  // namespace hopefear
