// Lines of text as a pool: one candidate per sentence. Whole documents are scored in this form.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "forest/pool.h"

namespace hopefear {

/// Sentence i has hypotheses[i] and the references[r][i] that are not missing; words are those of str.split().
/// The ids are line numbers, from 1.
Pool corpus_pool(const std::vector<std::string>& hypotheses,
                 const std::vector<std::vector<std::optional<std::string>>>& references);

/// The words of each string as ids of `vocab`, and offsets: the map for retokenized().
void split_all(const std::vector<std::string>& texts, Vocab& vocab, std::vector<int64_t>& begin, std::vector<int32_t>& words);

/// A pool of lists with other words: texts[row] for each candidate, and for each sentence its references.
Pool with_texts(const Pool& pool, const std::vector<std::string>& texts, const std::vector<std::vector<std::string>>& references);

/// Whether some word of the vocabulary has white space in it (such as U+00A0), at which Python would split it.
bool has_space(const Vocab& vocab);

}  // namespace hopefear
