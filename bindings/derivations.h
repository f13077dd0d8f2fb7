// A derivation in Python: together with its forest, whose arrays it keeps alive.
#pragma once
#include "common.h"
#include "forest/derivation.h"
#include "forest/pool.h"
#include "hope_fear/hope_fear.h"
#include "util/words.h"

namespace hopefear {

// The defaults of methods that Forest and Pool share.
inline constexpr const char* kApproximation = "forest";
inline constexpr int kCandidates = 100;  // of the approximation kbest
inline constexpr double kHopeMu = -1.0;
inline constexpr int kMaxOrder = 4;
inline constexpr int kMaxSplitEdges = 1'000'000;

struct BoundDerivation {
  Forest forest;
  Derivation d;
};

struct BoundRated : BoundDerivation {
  BoundRated(const Forest& f, Rated&& rated)
      : BoundDerivation{f, std::move(rated.derivation)}, b(std::move(rated.b)), gain(rated.gain) {}
  std::vector<double> b;
  double gain;
};

void init_derivations(nb::module_& m);

}  // namespace hopefear
