// Tamed structured perceptrons: Brown (2011), sections 3 to 5.
#pragma once
#include "trainers/batch/averaging.h"
#include "trainers/batch/gains.h"
#include "trainers/bounds.h"
#include "trainers/epoch.h"

namespace hopefear {

struct PerceptronOptions {
  bool passive_aggressive;  // PA-II, (6) to (8); otherwise (2)
  bool scaled;              // (3): the update is multiplied by the objective of the pseudo-oracle
  bool normalize;           // (4), (5): each feature's difference is divided by its squared range in the list
  double C;                 // aggressiveness, (8)
  Average average;          // the paper's is none
  GainOptions gain;         // where the objective is the metric
  int iterations;
  int jobs;
};

/// objective: S of each row (for example sentence-level ROUGE-S); a null pointer: the gain of the metric, around the weights that a pass
/// begins with. An iteration is one pass over the lists, in order. The reported score is the mean objective of the top
/// candidates under the weights it ends with, and the best iteration's weights are returned.
std::vector<double> perceptron(const Lists& lists, const double* objective, const double* initial, const Bounds& bounds,
                               const PerceptronOptions& options, const OnEpoch& on_epoch);

}  // namespace hopefear
