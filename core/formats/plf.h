// Lattices in Moses' PLF, one per line: for each node in topological order its arcs, each with a word, scores and the distance
// to the node where it ends:
//
//   ((('einen',1.0,1),),(('wettbewerbs',0.25,1),('wettbewerb',0.25,1),),(('sturz',1.0,1),),)
//
// Score k becomes feature Feature_k, as in cdec. An arc with a word and one number only (a confusion network) has distance 1.
// '*EPS*' and '' are arcs without a word.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "formats/pool_builder.h"

namespace hopefear {

/// Reads one lattice; the caller ends the sentence.
void read_plf(PoolBuilder& builder, std::string_view text, const std::string& file, int64_t line);

}  // namespace hopefear
