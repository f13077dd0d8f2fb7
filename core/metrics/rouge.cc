#include "metrics/rouge.h"

#include <algorithm>
#include <utility>

#include "util/error.h"
#include "util/id_map.h"

namespace hopefear {

RougeS::RougeS(int skip, double beta) : skip_(skip), beta_(beta) {
  if (skip < 0) throw InputError("skip of ROUGE-S must not be negative");
  if (!(beta > 0 && beta < 1e6)) throw InputError("beta of ROUGE-S must be above 0");
}

namespace {

class RougeScorer final : public Scorer {
 public:
  RougeScorer(const References& references, int skip, double beta)
      : references_(at_least_one(references)), width_(references_.size()), skip_(skip), factor_(beta * beta) {
    for (size_t r = 0; r < width_; ++r) {
      totals_.push_back(0);
      each_pair(references_[r], [&](uint64_t pair) {
        const size_t id = pairs_.add(pair);
        if (counts_.size() < (id + 1) * width_) counts_.resize((id + 1) * width_, 0);
        ++counts_[id * width_ + r];
        ++totals_[r];
      });
    }
    count_.assign(pairs_.size(), 0);
    matches_.resize(width_);
  }

  void stats(std::span<const int32_t> words, double* stats) override {
    int64_t total = 0;
    each_pair(words, [&](uint64_t pair) {
      ++total;
      const int32_t id = pairs_.find(pair);
      if (id >= 0 && count_[id]++ == 0) seen_.push_back(id);
    });
    std::fill(matches_.begin(), matches_.end(), 0);
    for (int32_t id : seen_) {
      const int64_t n = std::exchange(count_[id], 0);
      for (size_t r = 0; r < width_; ++r) matches_[r] += std::min(n, counts_[id * width_ + r]);
    }
    seen_.clear();
    stats[3] = -1;
    for (size_t r = 0; r < width_; ++r) {
      const double F = f_measure(matches_[r], total, totals_[r], std::ranges::equal(words, references_[r]));
      if (F <= stats[3]) continue;
      stats[0] = static_cast<double>(matches_[r]);
      stats[1] = static_cast<double>(total);
      stats[2] = static_cast<double>(totals_[r]);
      stats[3] = F;
    }
    stats[4] = 1;
  }

 private:
  template <class Each>
  void each_pair(std::span<const int32_t> words, Each&& each) const {
    for (size_t i = 0; i < words.size(); ++i)
      for (size_t j = i + 1; j < words.size() && j - i - 1 <= skip_; ++j)
        each(pair_key(static_cast<uint32_t>(words[i]), static_cast<uint32_t>(words[j])));
  }
  double f_measure(int64_t matches, int64_t candidate, int64_t reference, bool equal) const {
    if (candidate == 0 && reference == 0) return equal ? 1 : 0;
    if (matches == 0) return 0;
    const double precision = static_cast<double>(matches) / static_cast<double>(candidate);
    const double recall = static_cast<double>(matches) / static_cast<double>(reference);
    return (1 + factor_) * precision * recall / (factor_ * precision + recall);  // eq. (9)
  }

  References references_;
  size_t width_, skip_;
  double factor_;
  IdMap pairs_;
  std::vector<int64_t> counts_, totals_;  // counts_: a row of width_ per pair
  std::vector<int64_t> count_, matches_;
  std::vector<int32_t> seen_;
};

}  // namespace

std::unique_ptr<Scorer> RougeS::scorer(const Vocab&, const References& references) const {
  return std::make_unique<RougeScorer>(references, skip_, beta_);
}

}  // namespace hopefear
