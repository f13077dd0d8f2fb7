// Batch MIRA on k-best lists: Cherry and Foster (2012), algorithm 1; with constraints > 1 the batch form of Chiang, Marton and
// Resnik (2008) that Tan et al. (2013) call MIRA_1: the union of the c best, c hope and c fear candidates, solved by SMO.
//
// Where the paper is silent: the background corpus starts with pseudo-counts of one. The other gains of gains.h are those around the
// weights that a pass begins with, in the units of the background's, words.
#pragma once
#include "trainers/batch/batch_mira.h"
#include "trainers/batch/gains.h"

namespace hopefear {

struct KbmiraOptions {
  BatchMiraOptions mira;
  Gain gain;        // background: algorithm 1
  int constraints;  // c; 1: algorithm 1
  double epsilon;   // of SMO
};

std::vector<double> kbmira(const Lists& lists, const double* initial, const Bounds& bounds, const KbmiraOptions& options,
                           const OnEpoch& on_epoch);

}  // namespace hopefear
