// A trainer's report after each epoch, and the best weights so far.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

namespace hopefear {

/// Weights, and the score of the best candidates under them (for the perceptrons: their mean objective).
struct EpochReport {
  int epoch;
  double score;
  const std::vector<double>& weights;
  int64_t updates;  // since the beginning
};
using OnEpoch = std::function<bool(const EpochReport&)>;  // false stops

/// The weights with the highest gain so far; of equally good ones the first.
struct BestWeights {
  double gain;
  std::vector<double> w;
  /// Begins with the initial weights, if they compete. Weights that are all zero choose by the order of the lists: any learnt weights are
  /// better.
  static BestWeights from(double gain, const std::vector<double>& w, bool competes = true) {
    const bool nothing = !competes || std::all_of(w.begin(), w.end(), [](double weight) { return weight == 0; });
    return {nothing ? -INFINITY : gain, w};
  }
  void offer(double other_gain, const std::vector<double>& other) {
    if (!(other_gain > gain)) return;
    gain = other_gain;
    w = other;
  }
};

}  // namespace hopefear
