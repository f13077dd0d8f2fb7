#include "metrics/bleu.h"

#include <cstdlib>

#include "util/error.h"

namespace hopefear {

ReferenceLength reference_length_by_name(const std::string& name) {
  if (name == "closest") return ReferenceLength::closest;
  if (name == "shortest") return ReferenceLength::shortest;
  if (name == "average") return ReferenceLength::average;
  throw InputError("reference_length must be closest, shortest or average, not " + name);
}

double reference_length(std::span<const int32_t> lengths, int32_t n, ReferenceLength kind) {
  if (lengths.empty()) return 0;
  if (kind == ReferenceLength::average) {
    double sum = 0;
    for (int32_t length : lengths) sum += length;
    return sum / static_cast<double>(lengths.size());
  }
  int32_t best = lengths[0];
  for (int32_t length : lengths) {
    const int32_t gap = std::abs(length - n), best_gap = std::abs(best - n);
    if (kind == ReferenceLength::shortest ? length < best : gap < best_gap || (gap == best_gap && length < best))
      best = length;  // eq. (2)
  }
  return best;
}

void BleuCounter::stats(std::span<const int32_t> words, double* b) {
  const int K = max_order_;
  const auto length = static_cast<int32_t>(words.size());
  int32_t matches[Bleu::kLargestOrder] = {};
  for (int32_t i = 0; i < length; ++i) {
    int32_t node = ReferenceNgrams::kRoot;
    const int32_t orders = std::min(K, length - i);
    for (int32_t k = 0; k < orders; ++k) {
      node = ngrams_.child(node, words[i + k]);
      if (node < 0) break;
      if (count_[node] == 0) touched_.push_back(node);
      matches[k] += count_[node]++ < ngrams_.clip(node);  // eq. (1)
    }
  }
  for (int32_t node : touched_) count_[node] = 0;
  touched_.clear();
  for (int k = 0; k < K; ++k) {
    b[k] = matches[k];
    b[K + k] = std::max(0, length - k);
  }
  b[2 * K] = reference_length(ngrams_.lengths(), length, kind_);
}

Bleu::Bleu(int max_order, ReferenceLength kind) : max_order_(max_order), kind_(kind) {
  if (max_order < 1 || max_order > kLargestOrder)
    throw InputError("max_order of BLEU must be 1 to " + std::to_string(kLargestOrder) + ", not " + std::to_string(max_order));
}

static double brevity_penalty(double n, double rho) { return n >= rho ? 1 : std::exp(1 - rho / n); }

double Bleu::score(const double* b) const {
  const int K = max_order_;
  const double *m = b, *n = b + K, rho = b[2 * K];
  bool any = false;
  double precision = 1, smoothing = 1;
  for (int k = 0; k < K; ++k) {
    if (n[k] <= 0) return 0;
    any = any || m[k] > 0;
    precision *= m[k] > 0 ? m[k] / n[k] : 1 / ((smoothing *= 2) * n[k]);
  }
  return any ? 100 * kth_root(precision, K) * brevity_penalty(n[0], rho) : 0;
}

double Bleu::sentence_gain(const double* b) const {
  const int K = max_order_;
  const double *m = b, *n = b + K, rho = b[2 * K];
  if (n[0] <= 0 || m[0] <= 0) return 0;
  double precision = m[0] / n[0];
  for (int k = 1; k < K; ++k) precision *= (m[k] + 1) / (n[k] + 1);
  return kth_root(precision, K) * brevity_penalty(n[0], rho);
}

void Bleu::context_gains(const double* context, const double* b, size_t rows, double* gains) const {
  const int K = max_order_;
  for (size_t r = 0; r < rows; ++r, b += 2 * K + 1) {
    double matches = 1, ngrams = 1;
    for (int k = 0; k < K; ++k) {
      matches *= context[k] + b[k];
      ngrams *= context[K + k] + b[K + k];
    }
    const double rho = context[2 * K] + b[2 * K], n = context[K] + b[K];
    gains[r] = ngrams > 0 ? rho * kth_root(matches / ngrams, K) * brevity_penalty(n, rho) : 0;
  }
}

namespace {

struct BleuScorer final : Scorer {
  BleuScorer(const References& references, int max_order, ReferenceLength kind)
      : ngrams(at_least_one(references), max_order), counter(ngrams, max_order, kind) {}
  void stats(std::span<const int32_t> words, double* b) override { counter.stats(words, b); }

  ReferenceNgrams ngrams;
  BleuCounter counter;
};

}  // namespace

std::unique_ptr<Scorer> Bleu::scorer(const Vocab&, const References& references) const {
  return std::make_unique<BleuScorer>(references, max_order_, kind_);
}

}  // namespace hopefear
