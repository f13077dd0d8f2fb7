// Random derivations: P(d) proportional to exp(w.h(d) / T), drawn from the goal downwards by p(e|v).
#pragma once
#include <cstdint>
#include <vector>

#include "forest/derivation.h"
#include "forest/pool.h"

namespace hopefear {

/// `stream` is the number of the sentence: each has its own random stream of the seed. The score of a derivation is w.h(d).
std::vector<Derivation> sample(const Forest& forest, const double* w, int64_t count, double temperature, uint64_t seed,
                               uint64_t stream = 0);

/// `count` derivations of every sentence, as lists: sentence i has the stream i.
Pool sample(const Pool& pool, const double* w, int64_t count, double temperature, uint64_t seed, int jobs);

}  // namespace hopefear
