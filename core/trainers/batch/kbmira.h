// Batch MIRA: Cherry and Foster (2012), algorithm 1, on k-best lists; with constraints > 1 the batch form of Chiang, Marton
// and Resnik (2008) that Tan et al. (2013) call MIRA_1: the union of the c best, c hope and c fear candidates, solved by SMO.
#pragma once
#include <functional>

#include "trainers/lists.h"

namespace hopefear {

struct KbmiraOptions {
  double C = 0.01;       // cap of the step; the learning rate eta of the QP with many constraints
  double decay = 0.999;  // gamma, of the background corpus
  int passes = 60;       // J
  int constraints = 1;
  double epsilon = 0.01;
  uint64_t seed = 1;
  int jobs = 0;
};

/// After each epoch: weights, and the score of the best candidates under them (the perceptrons: their mean objective).
struct EpochReport {
  int epoch;
  double score;
  const std::vector<double>& average;
  int64_t updates;
};
using OnEpoch = std::function<bool(const EpochReport&)>;  // false stops

/// Returns the average with the highest gain over the lists (the initial weights count as pass 0).
std::vector<double> kbmira(const Lists& lists, const double* initial, const Bounds& bounds, const KbmiraOptions& options,
                           const OnEpoch& on_epoch);

}  // namespace hopefear
