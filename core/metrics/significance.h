// Resampling tests over statistics matrices: paired bootstrap (Koehn 2004), approximate randomisation (Riezler and
// Maxwell 2005), both for single outputs and for several runs of each system (Clark et al. 2011).
//
// These functions return the resampled scores or differences; p-values are computed in hopefear.evaluation.significance.
// Sample number b has its own stream of random numbers, so the result does not depend on jobs.
#pragma once
#include <cstdint>
#include <vector>

#include "metrics/metric.h"

namespace hopefear {

/// The outputs of one system: runs x sentences x metric.size() statistics.
struct Runs {
  const double* stats;
  size_t runs, sentences;
};

/// The score of each run.
std::vector<double> run_scores(const Metric& metric, const Runs& system);

/// `samples` documents of as many sentences, drawn with replacement. The same sentences for all systems; out[b * systems + k].
/// Of a system with r > 1 runs, r - 1 are drawn with replacement as well: with this number the variance of the mean over
/// the draws is that of the mean over r runs, without bias.
std::vector<double> bootstrap(const Metric& metric, const std::vector<Runs>& systems, size_t samples, uint64_t seed, int jobs);

/// Differences of mean score after the outputs of each sentence have changed sides with probability one half. All runs
/// of a sentence change together, as they are not independent; both systems have the same number of runs.
std::vector<double> randomization(const Metric& metric, const Runs& a, const Runs& b, size_t samples, uint64_t seed, int jobs);

}  // namespace hopefear
