// The reference derivation d_i: Chiang (2012), section 4; and the fear derivation d+ that it is compared with.
//
// hope      eq. (12): argmax_d w.h(d) + mu loss(d)
// local     4.2: of the k best derivations the one with the highest B
// max-bleu  4.1: the highest B of all
// bold      4.1: a derivation of a reference; where there is none, the example is skipped
//
// Where the paper is silent: a reference counts as reachable if the search for max-BLEU finds it.
#pragma once
#include "trainers/online/update.h"

namespace hopefear {

/// d_i. Records its B, and whether the example must be skipped.
Rated reference_derivation(const LearnerOptions& options, const Example& example, const Model& model, Learnt& learnt);

/// d+: the worst violator (3.1); for the perceptron the 1-best; for the secant of A.2 at T = 0 the opposite of the hope, at -mu.
Rated fear_derivation(Objective objective, const Example& example);

}  // namespace hopefear
