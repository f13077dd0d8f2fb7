// Minimum error rate training: Och (2003), on lists, lattices and forests.
//
// From each start, ascent along axes and random mixtures of them, each line searched exactly (line_search.h).
//
// Where we differ from the paper:
// - The axes are given: Och's coordinates, or the principal axes of the feature differences.
// - The best end is linked to the ends of the other starts, and kicked at random for some rounds, each kick with an ascent.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "trainers/bounds.h"
#include "trainers/lists.h"

namespace hopefear {

struct MertOptions {
  int restarts;           // from a random mixture of the axes, of either sign, after the start from the initial weights
  int random_directions;  // a pass tries them after the axes
  int max_passes;
  double min_gain;    // a line that improves by less gained nothing
  int kick_rounds;    // afterwards: times four random kicks from the best point, each with an ascent
  double kick_share;  // a kick changes about this share of the sentences
  uint64_t seed;
  int jobs;
  std::function<void(int)> on_ascent;  // after each ascent, from any thread, one at a time: how many are done
};

struct MertStart {
  std::vector<double> initial, w;
  double gain = 0;
  int lines = 0;  // searched
};

/// axes: each has one number per feature. Start 0 begins at `initial`.
std::vector<MertStart> mert(const Lists& lists, const double* initial, const std::vector<std::vector<double>>& axes,
                            const Bounds& bounds, const MertOptions& options);

}  // namespace hopefear
