// The limits of hierarchical decoding.
#pragma once
#include <cstdint>

#include "util/error.h"

namespace hopefear {

struct HieroOptions {
  int64_t pop_limit;    // rule applications kept per span; 0: all
  int64_t max_options;  // target sides of one source side; 0: all
  int64_t max_span;     // source words below a rule with nonterminals
  // Which edges of the forest stay, by the best derivation that uses them (prune.h); the rest is never written out.
  int64_t max_edges;  // at most so many; 0: all
  double beam;        // those whose best derivation is worse than the best by at most this; below 0: all
  // Features that see more than one rule are added to the forest by cube pruning (rescore.h), if there are any.
  int64_t rescore_edges;  // so many edges of the forest take part; 0: all
  int64_t rescore_limit;  // edges kept per node then; 0: all

  void check() const {
    if (pop_limit < 0 || max_options < 0 || rescore_edges < 0 || rescore_limit < 0)
      throw InputError("pop_limit, max_options, rescore_edges and rescore_limit cannot be negative: 0 means no limit");
    if (max_span < 1) throw InputError("max_span must be at least 1");
    if (max_edges < 0) throw InputError("max_edges and beam cannot be negative");
  }
};

}  // namespace hopefear
