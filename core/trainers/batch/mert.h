// Minimum error rate training: Och (2003), on lists, lattices and forests.
//
// From each start, ascent along axes and random mixtures of them, each line searched exactly (line_search.h).
//
// Differences from the paper:
// - The axes are given: Och's coordinates, or the principal axes of the feature differences.
// - The best end is linked to the ends of the other starts, and then kicked at random, each kick with an ascent, until a number of
//   consecutive rounds gained nothing. Small lists are rough and cheap: there the number is larger, there are four independent chains
//   of kicks, and a pass has random lines in addition to the axes.
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
  int kick_rounds;    // consecutive rounds of four kicks, each with an ascent, without gain before it ends; see patience()
  double kick_share;  // a kick changes about this share of the sentences, on small lists up to six times as much
  bool thorough;      // search small lists, whose surface is rough and whose lines take little time, more thoroughly
  uint64_t seed;
  int jobs;
  std::function<void(int, double)>
      on_ascent;  // after each ascent, from any thread, one at a time: the number done, the best gain
  std::function<void()>
      on_line;  // before each line, from any thread: an ascent may take minutes. May throw, and then should always
};

/// The number of consecutive rounds of kicks without gain after which the search ends: kick_rounds for kManyRows candidates or more; for
/// smaller lists as many as take the same time, up to kMostRounds times as many, or 8 times the number of axes. The time of a round grows
/// with the number of axes, so there are fewer rounds with more than kFewAxes; more would only fit the lists at hand.
inline constexpr size_t kManyRows = 400'000, kMostRounds = 100, kFewAxes = 32;
size_t patience(size_t rows, size_t axes, int kick_rounds);

struct MertStart {
  std::vector<double> initial, w;
  double gain = 0;
  int lines = 0;  // lines searched
};

/// axes: each has one number per feature. Start 0 begins at `initial`.
std::vector<MertStart> mert(const Lists& lists, const double* initial, const std::vector<std::vector<double>>& axes,
                            const Bounds& bounds, const MertOptions& options);

}  // namespace hopefear
