// Scores of the candidates of lists by a language model.
#pragma once
#include <vector>

#include "forest/pool.h"
#include "lm/language_model.h"

namespace hopefear {

/// For every row of a pool of lists: ln p of its words and of </s> after <s>, and the number of words that the model does not know.
std::vector<double> lm_columns(const Pool& pool, const LanguageModel& model, int jobs);

}  // namespace hopefear
