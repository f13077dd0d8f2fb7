// Moses' text hypergraph, one file per sentence:
//
//   # target ||| features ||| source-covered
//   NODES EDGES
//   then for each node: how many edges, and each edge as `words and [tails] ||| name=value ... ||| covered`
//
// The last node is the goal. Lines that begin with # between the nodes are comments. Moses puts <s> and </s> around every
// sentence; they are dropped. Only the number of source words below a node is known: its span is [0, covered).
#pragma once
#include <string>
#include <string_view>

#include "formats/pool_builder.h"

namespace hopefear {

/// Reads the whole text of one sentence; the caller ends the sentence.
void read_moses_hypergraph(PoolBuilder& builder, std::string_view text, const std::string& file);

}  // namespace hopefear
