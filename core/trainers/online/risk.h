// Minimum risk: Chiang (2012), appendix A, eq. (22), and the secant of A.2.
//
// With P_T(d) proportional to exp 1/T w.h(d), the risk of an example is E_T[loss] = const - E_T[B], and downhill is
//     x = 1/T (E_T[Bh] - E_T[B] E_T[h]).                                                      (22)
// The secant replaces the derivative in mu by a difference: with P_mu(d) proportional to exp 1/T (w.h(d) - mu B(d)),
//     x = 1/mu (E_-mu[h] - E_mu[h]),   mu > 0.                                                A.2
// At T = 0 that is hope and fear: sgd.h.
//
// Expectations are over the whole forest with linear BLEU (A.3, A.4), or over the k best derivations with their exact B.
//
// Where the paper is silent: eta' of A.2 is 2 eta, so that w moves by eta x. There are no constraints: MIRA is the same as SGD.
#pragma once
#include "trainers/online/update.h"

namespace hopefear {

/// (22).
SparseVector risk_descent(const LearnerOptions& options, const Example& example, Model& model);

/// A.2, for T > 0.
SparseVector secant_descent(const LearnerOptions& options, const Example& example, Model& model);

}  // namespace hopefear
