// Batch MIRA: Cherry and Foster (2012), algorithm 1, for any space in which hope and fear are searched: k-best lists in kbmira.h,
// lattices and forests in forest_mira.h.
#pragma once
#include <functional>
#include <vector>

#include "trainers/batch/averaging.h"
#include "trainers/bounds.h"
#include "trainers/epoch.h"
#include "trainers/lists.h"

namespace hopefear {

struct BatchMiraOptions {
  double C;      // cap of the step; the learning rate eta of the QP with many constraints
  double decay;  // gamma, of the background corpus
  int passes;    // J
  Average average;
  bool competes;  // the initial weights
  uint64_t seed;
  int jobs;
};

/// Line 8: w moves by min(C, (delta_gain - margin) / ||x||^2) along x = h(hope) - h(fear), where the margin is too small.
/// Returns whether it moved.
bool mira_step(std::vector<double>& w, const SparseVector& x, double delta_gain, double margin, double C, const Bounds& bounds,
               Averager& averager);

/// Learns from sentence i and returns how often w was moved.
using LearnSentence = std::function<int64_t(size_t i, std::vector<double>& w, Averager& averager)>;

/// J passes over the sentences in random order, the weights of each averaged over the pass. Returns the average with the highest gain
/// over the lists (the initial weights count as pass 0 if they compete and are not all zero). `begin` hears the weights each pass begins with.
std::vector<double> mira_passes(const Lists& lists, const double* initial, const BatchMiraOptions& options,
                                const OnEpoch& on_epoch, const LearnSentence& learn,
                                const std::function<void(const std::vector<double>&)>& begin = {});

}  // namespace hopefear
