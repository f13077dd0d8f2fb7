// BLEU (Papineni et al. 2002) as Chiang 2012, section 2.3, writes it, with the degenerate cases of sacreBLEU.
//
// Statistics: b = [m_1 .. m_K, n_1 .. n_K, rho]: clipped matches, k-grams, reference length.
//
// score()          sacreBLEU's corpus BLEU with smoothing "exp": an order without a match counts as 1 / 2^j matches, j
//                  being the number of such orders so far; 0 when nothing matches or when there is no k-gram of some order.
// sentence_gain()  BLEU+1 of Lin and Och (2004): one is added to m_k and n_k for k > 1, and to nothing else; the brevity
//                  penalty is that of the sentence. 0 for an empty candidate and for one without a matching word.
#pragma once
#include <cmath>

#include "metrics/metric.h"
#include "metrics/ngrams.h"

namespace hopefear {

/// rho with several references: the closest to the candidate (ties: the shorter), the shortest, or the mean of all,
/// which does not depend on the candidate and so decomposes onto hyperedges (section 5.1).
enum class ReferenceLength { closest, shortest, average };

ReferenceLength reference_length_by_name(const std::string& name);

/// rho for a candidate of n words.
double reference_length(std::span<const int32_t> lengths, int32_t n, ReferenceLength kind);

/// x^(1/K) for x > 0, without a logarithm for the usual K.
inline double kth_root(double x, int K) {
  if (K == 4) return std::sqrt(std::sqrt(x));
  if (K == 2) return std::sqrt(x);
  return K == 1 ? x : std::exp(std::log(x) / K);
}

/// Clipped counts of candidates, one after another, against the same references. Allocates only on growth.
class BleuCounter {
 public:
  explicit BleuCounter(const ReferenceNgrams& ngrams, int max_order, ReferenceLength kind)
      : ngrams_(ngrams), max_order_(max_order), kind_(kind), count_(ngrams.size(), 0) {}
  void stats(std::span<const int32_t> words, double* b);

 private:
  const ReferenceNgrams& ngrams_;
  int max_order_;
  ReferenceLength kind_;
  std::vector<int32_t> count_, touched_;
};

class Bleu final : public Metric {
 public:
  static constexpr int kLargestOrder = 16;

  explicit Bleu(int max_order = 4, ReferenceLength kind = ReferenceLength::closest);

  std::string name() const override { return "bleu"; }
  int size() const override { return 2 * max_order_ + 1; }
  double score(const double* b) const override;
  double sentence_gain(const double* b) const override;
  void context_gains(const double* context, const double* b, size_t rows, double* gains) const override;
  std::unique_ptr<Scorer> scorer(const Vocab& vocab, const References& references) const override;

  int max_order() const { return max_order_; }
  ReferenceLength reference_length() const { return kind_; }

 private:
  int max_order_;
  ReferenceLength kind_;
};

}  // namespace hopefear
