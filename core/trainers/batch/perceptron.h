// Tamed structured perceptrons: Brown (2011), sections 3 to 5.
#pragma once
#include "trainers/batch/kbmira.h"

namespace hopefear {

struct PerceptronOptions {
  bool passive_aggressive = false;  // PA-II, (6) to (8); otherwise (2)
  bool scaled = true;               // (3): the update is multiplied by the objective of the pseudo-oracle
  bool normalize = false;           // (4), (5): each feature's difference is divided by its squared range in the list
  double C = 0.1;                   // aggressiveness, (8)
  int iterations = 18;
  int jobs = 0;
};

/// objective: S of each row (sentence-level ROUGE-S, say). One pass over the lists an iteration, in order; the report's gain is the mean
/// objective of the top candidates under the weights the iteration ended with, and the best iteration's weights are returned.
std::vector<double> perceptron(const Lists& lists, const double* objective, const double* initial, const Bounds& bounds,
                               const PerceptronOptions& options, const OnEpoch& on_epoch);

}  // namespace hopefear
