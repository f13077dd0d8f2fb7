// A derivation as Python holds it: together with its forest, whose arrays it keeps alive.
#pragma once
#include "common.h"
#include "forest/derivation.h"
#include "forest/pool.h"
#include "hope_fear/hope_fear.h"

namespace hopefear {

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

/// The words of a yield as text.
inline std::string text_of(const Vocab& vocab, std::span<const int32_t> words) {
  std::string text;
  for (int32_t word : words) {
    if (!text.empty()) text += ' ';
    text += vocab[word];
  }
  return text;
}

void init_derivations(nb::module_& m);

}  // namespace hopefear
