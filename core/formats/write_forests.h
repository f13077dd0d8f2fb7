// Writes forests in the formats of other decoders. Nodes and edges that are in no derivation are left out, since those
// formats have no place for them; derivations, their words and features stay the same.
#pragma once
#include <string>

#include "forest/pool.h"

namespace hopefear {

/// Each appends the text of one sentence, and throws InputError for what the format cannot express.
void append_cdec_forest(std::string& out, const Pool& pool, size_t sentence);
void append_travatar_forest(std::string& out, const Pool& pool, size_t sentence);
void append_cicada_forest(std::string& out, const Pool& pool, size_t sentence);
void append_moses_hypergraph(std::string& out, const Pool& pool, size_t sentence);
void append_plf(std::string& out, const Pool& pool, size_t sentence);

}  // namespace hopefear
