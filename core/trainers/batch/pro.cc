#include "trainers/batch/pro.h"

#include <algorithm>
#include <cmath>

#include "trainers/difference.h"
#include "util/parallel.h"
#include "util/random.h"

namespace hopefear {

namespace {

struct Pair {
  double difference;
  int32_t better, worse;
};

std::vector<Pair> sample(const Lists& lists, const double* gains, size_t i, const ProOptions& options) {
  const int32_t count = lists.candidates(i);
  if (count < 2) return {};  // nothing to compare
  const double* gain = gains + lists.row_begin[i];
  Random random(options.seed, i);
  std::vector<Pair> pairs;
  for (int s = 0; s < options.samples; ++s) {
    auto a = static_cast<int32_t>(random.below(static_cast<uint64_t>(count)));
    auto b = static_cast<int32_t>(random.below(static_cast<uint64_t>(count)));
    if (gain[a] < gain[b]) std::swap(a, b);
    const double difference = gain[a] - gain[b];
    if (difference >= options.threshold && difference > 0) pairs.push_back({difference, a, b});
  }
  std::stable_sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) { return a.difference > b.difference; });
  if (pairs.size() > static_cast<size_t>(options.keep)) pairs.resize(static_cast<size_t>(options.keep));
  pairs.shrink_to_fit();
  return pairs;
}

}  // namespace

PairMatrix sample_pairs(const Lists& lists, const double* gains, const ProOptions& options) {
  std::vector<std::vector<Pair>> kept(lists.sentences());
  parallel_for(lists.sentences(), options.jobs, [&](size_t i, int) { kept[i] = sample(lists, gains, i, options); });
  PairMatrix out;
  Difference difference(static_cast<size_t>(lists.features()), Bounds{});
  for (size_t i = 0; i < kept.size(); ++i)
    for (const Pair& pair : kept[i]) {
      const SparseVector x = difference.between(lists.list(i), pair.better, pair.worse);
      out.ids.insert(out.ids.end(), x.ids.begin(), x.ids.end());
      out.values.insert(out.values.end(), x.values.begin(), x.values.end());
      out.begin.push_back(static_cast<int64_t>(out.ids.size()));
      out.gain_difference.push_back(pair.difference);
      out.weight.push_back(options.weighted ? pair.difference : 1.0);
    }
  return out;
}

double pair_log_loss(const PairMatrix& pairs, const double* w, size_t features, double* gradient, int jobs) {
  // Blocks of fixed size are added in order, so that the sum does not depend on the number of threads. A pair and its mirror
  // image have the same loss, so each is counted once.
  constexpr size_t kBlock = 4096;
  const size_t blocks = (pairs.rows() + kBlock - 1) / kBlock;
  std::vector<double> value(blocks, 0.0), factor(pairs.rows());
  parallel_for(blocks, jobs, [&](size_t b, int) {
    for (size_t r = b * kBlock; r < std::min(pairs.rows(), (b + 1) * kBlock); ++r) {
      double margin = 0;
      for (int64_t k = pairs.begin[r]; k < pairs.begin[r + 1]; ++k) margin += pairs.values[k] * w[pairs.ids[k]];
      // log(1 + exp(-m)) without overflow
      value[b] += pairs.weight[r] * (margin > 0 ? std::log1p(std::exp(-margin)) : std::log1p(std::exp(margin)) - margin);
      factor[r] = -pairs.weight[r] / (1.0 + std::exp(margin));
    }
  });
  std::fill(gradient, gradient + features, 0.0);
  double total = 0;
  for (double v : value) total += v;
  for (size_t r = 0; r < pairs.rows(); ++r)
    for (int64_t k = pairs.begin[r]; k < pairs.begin[r + 1]; ++k) gradient[pairs.ids[k]] += factor[r] * pairs.values[k];
  double weights = 0;
  for (double weight : pairs.weight) weights += weight;
  const double scale = weights > 0 ? 1 / weights : 0.0;
  for (size_t j = 0; j < features; ++j) gradient[j] *= scale;
  return total * scale;
}

}  // namespace hopefear
