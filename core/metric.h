// A metric is additive statistics plus a function of their sum.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace hopefear {

/// The non-linear half: what the inner loops of trainers need. Statistics of one candidate are `size()` doubles that are
/// whole numbers wherever the metric counts; those of a document are the sum.
struct Metric {
  virtual ~Metric() = default;
  virtual std::string name() const = 0;             // "bleu"
  virtual int size() const = 0;
  virtual double score(const double* stats) const = 0;   // of a document, as the field prints it: BLEU 0 to 100
  virtual bool higher_is_better() const { return true; }
  /// Larger is better, about 0 to 1: what trainers maximise. BLEU/100, 1 - TER/100.
  virtual double gain(const double* stats) const { return (higher_is_better() ? score(stats) : 100.0 - score(stats)) / 100.0; }
  /// gain() of one sentence in its smoothed form (BLEU+1); the metrics that need no smoothing keep this.
  virtual double sentence_gain(const double* stats) const { return gain(stats); }
};

}  // namespace hopefear
