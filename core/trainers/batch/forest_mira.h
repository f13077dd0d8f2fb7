// Batch MIRA on lattices and forests: Cherry and Foster (2012), section 3.3, with hope and fear searched in the whole forest
// (Chiang 2012, section 5) in place of their lattice search.
#pragma once
#include "hope_fear/hope_fear.h"
#include "trainers/batch/batch_mira.h"

namespace hopefear {

/// B is n_1-bar times the rise of BLEU by the sentence, eq. (3) of Chiang (2012), over the decaying background of hope derivations.
std::vector<double> forest_mira(const Lists& forests, const double* initial, const Bounds& bounds,
                                const BatchMiraOptions& options, Approximation approximation, const OnEpoch& on_epoch);

}  // namespace hopefear
