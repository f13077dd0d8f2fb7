// A small generator whose stream is the same on every machine (std:: distributions are not).
#pragma once
#include <cmath>
#include <cstdint>

namespace hopefear {

/// SplitMix64: one 64-bit word of state, every seed is a good seed.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  /// An independent stream for the i-th task of a job, whatever thread runs it.
  Random(uint64_t seed, uint64_t stream) : state_(seed) {
    state_ = bits() ^ (stream * 0xda942042e4dd58b5ULL + 1);
    bits();
  }

  uint64_t bits() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  /// In [0, 1).
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1.0p-53; }
  /// In [0, n).
  uint64_t below(uint64_t n) { return static_cast<uint64_t>((static_cast<unsigned __int128>(bits()) * n) >> 64); }
  /// Standard normal, by Box and Muller.
  double normal() {
    const double u = 1.0 - uniform(), v = uniform();
    return std::sqrt(-2.0 * std::log(u)) * std::cos(6.283185307179586 * v);
  }

 private:
  uint64_t state_;
};

}  // namespace hopefear
