// Pools of candidate lists: made from flat arrays, and merged without sorting.
#pragma once
#include "forest/pool.h"

namespace hopefear {

/// Lists with dense features only. The candidates of sentence i are rows row_begin[i] .. row_begin[i+1] of `dense` and `numbers`,
/// whose widths are the pool's number of features and of number_names. A candidate's words are those of its text; without
/// texts, its number in the list.
void append_lists(Pool& pool, const std::vector<std::string>& ids, std::span<const int64_t> row_begin, const double* dense,
                  const double* numbers, const std::vector<std::string>& texts,
                  const std::vector<std::vector<std::string>>& references);

/// merged(), but candidates keep the order of the pools: the first candidate is the first one of the first pool.
Pool merged_in_order(const std::vector<const Pool*>& pools);

/// merged() of one pool, and the place of each of its rows there.
std::pair<Pool, std::vector<int32_t>> canonical(const Pool& pool);

}  // namespace hopefear
