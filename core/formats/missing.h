// Scores that some candidates of a sentence lack, and others have.
//
// A feature that a candidate does not name counts as 0. This is right for sparse features, but not for scores: 0
// is better than any log probability. A score is a feature of nine candidates in ten whose values are not whole numbers, or
// which is written even where it is 0, so that its absence does not mean 0. Programs that never write a zero may
// mean one: then a score that is left out is 0 where that is not far from what the other candidates of the sentence have.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hopefear {

enum class Missing { error, zero, mean };  // what to do with such a candidate

class MissingScores {
 public:
  explicit MissingScores(Missing policy) : policy_(policy) {}

  /// Call see() for the values of the list's first candidates, then decide(): the first `width` features are in nearly all candidates.
  void see(int32_t feature, double value);
  void decide(int32_t width) { width_ = width; }

  /// Candidates with the features `ids` from `begin` on, and a row of `dense` for each. `lacks` makes the
  /// error to throw from a candidate, a feature, and the number of candidates that have it.
  template <class Lacks>
  void complete(std::span<const size_t> begin, std::span<const int32_t> ids, std::span<double> dense, Lacks&& lacks) const {
    if (policy_ == Missing::zero || width_ == 0 || dense.empty()) return;
    for (const Gap& gap : gaps(begin, ids, dense)) {
      if (policy_ == Missing::error) throw lacks(gap.candidate, gap.feature, gap.others);
      dense[gap.candidate * width_ + gap.feature] = gap.mean;
    }
  }

 private:
  struct Seen {
    uint64_t values = 0, zeros = 0, fractions = 0;
  };
  struct Gap {
    size_t candidate;
    int32_t feature;
    size_t others;
    double mean;
  };
  bool is_score(int32_t feature) const;
  std::vector<Gap> gaps(std::span<const size_t> begin, std::span<const int32_t> ids, std::span<const double> dense) const;

  Missing policy_;
  int32_t width_ = 0;
  bool writes_zeros_ = false;
  std::vector<Seen> seen_;
};

}  // namespace hopefear
