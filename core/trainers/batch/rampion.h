// RAMPION: Gimpel and Smith (2012), algorithm 1, lines 4 to 15 (the decoder's loop is outside), for every loss in losses.h.
//
// CCCP: the concave part (-up) is replaced by its tangent at the weights of the iteration's start, then T'' passes of
// stochastic subgradient descent go over the convex rest. The l2 term (line 11) pulls towards theta_0; it is applied to
// a weight when its feature next occurs and at the end of a pass: the result is the same, at the cost of the features touched.
#pragma once
#include "trainers/batch/gains.h"
#include "trainers/batch/losses.h"
#include "trainers/bounds.h"
#include "trainers/epoch.h"

namespace hopefear {

struct RampionOptions {
  std::string loss;
  double eta;
  double C;    // l2
  double l1;   // towards theta_0 too, by truncation
  int cccp;    // T'
  int passes;  // T''
  uint64_t seed;
  bool shuffle;  // the paper goes through the sentences in order
  int jobs;
};

/// One cost per row, for example 10 (1 - BLEU+1), around the weights that a CCCP iteration begins with.
using CostsAt = std::function<const double*(const std::vector<double>& w)>;

/// Costs alpha (1 - gain).
std::vector<double> rampion(const Lists& lists, const GainOptions& gain, double alpha, const double* initial,
                            const double* theta_0, const Bounds& bounds, const RampionOptions& options, const OnEpoch& on_epoch);

/// Goes from `initial` and is pulled towards `theta_0`. Reports after each CCCP iteration; returns the weights it ends with.
std::vector<double> rampion(const Lists& lists, const CostsAt& costs_at, const double* initial, const double* theta_0,
                            const Bounds& bounds, const RampionOptions& options, const OnEpoch& on_epoch);

}  // namespace hopefear
