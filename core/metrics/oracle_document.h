// The oracle document and the per-sentence metric B (Chiang 2012, section 2.4), and linear BLEU (A.3).
//
// A sentence is scored by its effect on the BLEU of a document of earlier outputs, b-bar, which decays as it grows.
// The paper starts with an empty document, whose BLEU is undefined. Ours starts as one perfect sentence of K words:
// m_k = n_k = K + 1 - k and rho = K, which decays like everything else. These pseudo-counts replace the smoothing of BLEU.
//
// decay_and_add() is the other form of decay, that of the background corpus of Cherry and Foster (2012):
// with decay 0.999 and the hope's statistics.
#pragma once
#include <array>
#include <cmath>
#include <span>

#include "metrics/bleu.h"
#include "util/error.h"

namespace hopefear {

class OracleDocument {
 public:
  explicit OracleDocument(int max_order = 4, double decay = 0.9) : K_(max_order), decay_(decay) {
    if (K_ < 1 || K_ > Bleu::kLargestOrder)
      throw InputError("max_order of an oracle document must be 1 to " + std::to_string(Bleu::kLargestOrder));
    if (!(decay_ > 0 && decay_ <= 1)) throw InputError("decay of an oracle document must be above 0 and at most 1");
    for (int k = 0; k < K_; ++k) b_[k] = b_[K_ + k] = K_ - k;
    b_[2 * K_] = K_;
    refresh();
  }

  int max_order() const { return K_; }
  int size() const { return 2 * K_ + 1; }
  double decay() const { return decay_; }
  std::span<const double> counts() const { return {b_.data(), static_cast<size_t>(size())}; }
  void set_counts(std::span<const double> counts) {
    if (counts.size() != static_cast<size_t>(size()))
      throw InputError("an oracle document has " + std::to_string(size()) + " counts");
    for (double count : counts)
      if (!(std::isfinite(count) && count >= 0)) throw InputError("the counts of an oracle document are finite and not negative");
    std::copy(counts.begin(), counts.end(), b_.begin());
    refresh();
  }

  /// BLEU of the document, 0 to 1.
  double bleu() const { return bleu_; }
  /// BLEU(b-bar + b). A null pointer stands for zeros.
  double bleu(const double* b) const {
    const auto at = [&](int i) { return b ? b_[i] + b[i] : b_[i]; };
    double matches = 1, ngrams = 1;
    for (int k = 0; k < K_; ++k) {
      matches *= at(k);
      ngrams *= at(K_ + k);
    }
    const double n = at(K_), rho = at(2 * K_);
    double precision;
    if (matches > 1e-200 && matches < 1e200 && ngrams > 1e-200 && ngrams < 1e200) {
      precision = kth_root(matches / ngrams, K_);
    } else {  // the product is out of range or 0
      double sum = 0;
      for (int k = 0; k < K_; ++k) {
        if (at(k) <= 0 || at(K_ + k) <= 0) return 0;
        sum += std::log(at(k) / at(K_ + k));
      }
      precision = std::exp(sum / K_);
    }
    return n >= rho ? precision : precision * std::exp(1 - rho / n);
  }
  /// B(b), eq. (3).
  double B(const double* b) const { return b_[K_] * (bleu(b) - bleu_); }

  /// b-bar <- decay (b-bar + b): after each sentence, with the statistics of its 1-best.
  void update(const double* b) {
    for (int i = 0; i < size(); ++i) b_[i] = decay_ * (b_[i] + b[i]);
    refresh();
  }
  /// b-bar <- decay b-bar + b.
  void decay_and_add(const double* b) {
    for (int i = 0; i < size(); ++i) b_[i] = decay_ * b_[i] + b[i];
    refresh();
  }

  /// Linear BLEU (A.3): B(b) is about the product of b with these size() weights, n_1-bar times the gradient of BLEU at
  /// b-bar. That of rho is the same for all derivations of a sentence, as long as rho is.
  void linear(double* weights) const {
    const double *m = b_.data(), *n = m + K_, rho = b_[2 * K_];
    const double H = rho >= n[0] ? 1 : 0;  // at n_1 = rho the paper takes the side of the brevity penalty
    for (int k = 0; k < K_; ++k) {
      weights[k] = m[k] > 0 ? n[0] * bleu_ / (K_ * m[k]) : 0;
      weights[K_ + k] = n[k] > 0 ? -n[0] * bleu_ / (K_ * n[k]) : 0;
    }
    if (n[0] > 0) weights[K_] += H * bleu_ * rho / n[0];
    weights[2 * K_] = -H * bleu_;
  }

 private:
  void refresh() { bleu_ = bleu(nullptr); }

  int K_;
  double decay_;
  std::array<double, 2 * Bleu::kLargestOrder + 1> b_{};
  double bleu_ = 0;
};

}  // namespace hopefear
