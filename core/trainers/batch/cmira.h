// Corpus-level MIRA: Tan, Xia, Wang and Zhou (2013), algorithm 1.
//
// Difference from the paper: lines 11 and 12 as printed agree only if Delta_H is fear minus hope. In words, and here: move from
// the fear corpus E' towards the hope corpus E* by min(C, (Delta_B - w.(H* - H')) / ||H* - H'||^2), and not at all if that is
// negative.
#pragma once
#include "trainers/batch/gains.h"
#include "trainers/bounds.h"
#include "trainers/epoch.h"

namespace hopefear {

struct CmiraOptions {
  double C;
  GainOptions gain;  // b' of lines 4 and 5; the paper's is plus1
  int epochs;        // T
  int beam;  // 0: join the sentences' hopes and fears (lines 3 to 8); else section 4.3: the stack size of a beam over the corpus
  bool competes;    // w_0 is among the weights of line 15
  int constraints;  // with a beam: this many corpus hypotheses, solved by SMO
  int jobs;
};

std::vector<double> cmira(const Lists& lists, const double* initial, const Bounds& bounds, const CmiraOptions& options,
                          const OnEpoch& on_epoch);

/// One closed-form step of line 11, exposed for the comparison with a QP solver.
double cmira_step(double delta_gain, double margin, double norm, double C);

}  // namespace hopefear
