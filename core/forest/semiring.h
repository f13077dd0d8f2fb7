// Semirings: what the one loop over a forest adds and multiplies (Goodman 1999).
//
// Each is a 4-tuple (plus, times, zero, one) and `sum`, which is plus over many values at once: the log semiring needs their
// maximum first.
#pragma once
#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>
#include <span>

namespace hopefear {

template <class S>
concept Semiring = requires(double a, std::span<const double> all) {
  { S::zero() } -> std::same_as<double>;
  { S::one() } -> std::same_as<double>;
  { S::plus(a, a) } -> std::same_as<double>;
  { S::times(a, a) } -> std::same_as<double>;
  { S::sum(all) } -> std::same_as<double>;
};

inline constexpr double kLogZero = -std::numeric_limits<double>::infinity();

/// (+, *, 0, 1): with every edge worth 1, the number of derivations. Exact below 2^53, infinite above 1e308.
struct Count {
  static double zero() { return 0.0; }
  static double one() { return 1.0; }
  static double plus(double a, double b) { return a + b; }
  static double times(double a, double b) { return a == 0.0 || b == 0.0 ? 0.0 : a * b; }  // 0 * infinity is 0 here
  static double sum(std::span<const double> all) {
    double total = 0.0;
    for (double a : all) total += a;
    return total;
  }
};

/// (max, +, -inf, 0): the score of the best derivation.
struct Tropical {
  static double zero() { return kLogZero; }
  static double one() { return 0.0; }
  static double plus(double a, double b) { return std::max(a, b); }
  static double times(double a, double b) { return a + b; }
  static double sum(std::span<const double> all) {
    double best = kLogZero;
    for (double a : all) best = std::max(best, a);
    return best;
  }
};

/// (logsumexp, +, -inf, 0): the logarithm of the summed weight of all derivations; its gradient is E[h].
struct Log {
  static double zero() { return kLogZero; }
  static double one() { return 0.0; }
  static double plus(double a, double b) {
    if (a < b) std::swap(a, b);
    return b == kLogZero ? a : a + std::log1p(std::exp(b - a));
  }
  static double times(double a, double b) { return a + b; }
  static double sum(std::span<const double> all) {
    const double best = Tropical::sum(all);
    if (best == kLogZero) return kLogZero;
    double total = 0.0;
    for (double a : all) total += std::exp(a - best);
    return best + std::log(total);
  }
};

}  // namespace hopefear
