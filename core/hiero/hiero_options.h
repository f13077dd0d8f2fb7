// The limits of hierarchical decoding.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "util/error.h"

namespace hopefear {

struct HieroOptions {
  int64_t pop_limit;    // rule applications kept of X over kWords words, see pops(); 0: all
  int64_t max_options;  // target sides of one source side; 0: all
  int64_t max_span;     // source words below a rule with nonterminals
  // Which edges of the forest stay, by the best derivation that uses them (prune.h).
  int64_t max_edges;  // at most this many; 0: all
  double beam;        // those whose best derivation is worse than the best by at most this; below 0: all
  // Features that see more than one rule are added to the forest by cube pruning (rescore.h), if there are any.
  int64_t rescore_edges;  // this many edges of the forest take part; 0: all
  int64_t rescore_limit;  // edges kept per node in this step; 0: all

  // Every derivation goes through the glue cells, and a wide span has more to choose from than a narrow one.
  static constexpr double kWords = 10;
  static constexpr int64_t kGlue = 3;
  int64_t glue_pops() const { return kGlue * pop_limit; }
  int64_t pops(int32_t words) const {
    return pop_limit == 0 ? 0 : std::max<int64_t>(1, std::llround(static_cast<double>(pop_limit) * std::sqrt(words / kWords)));
  }

  void check() const {
    if (pop_limit < 0 || max_options < 0 || rescore_edges < 0 || rescore_limit < 0)
      throw InputError("pop_limit, max_options, rescore_edges and rescore_limit cannot be negative: 0 means no limit");
    if (max_span < 1) throw InputError("max_span must be at least 1");
    if (max_edges < 0) throw InputError("max_edges and beam cannot be negative");
  }
};

}  // namespace hopefear
