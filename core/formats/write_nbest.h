// Writes candidate lists as text. Numbers have the fewest digits that read back as the same double.
#pragma once
#include <string>

#include "forest/pool.h"

namespace hopefear {

enum class NbestFormat { moses, cdec, jsonl };

/// Adds the lines of one sentence. `w`: for the score at the end of a line, or null (the score is then 0). `first`: the number of
/// the pool's first sentence, for pools that are pieces of a list.
void append_nbest(std::string& out, const Pool& pool, size_t sentence, NbestFormat format, const double* w, size_t first = 0);

}  // namespace hopefear
