// A metric is additive statistics plus a function of their sum.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "util/vocab.h"

namespace hopefear {

struct Pool;
struct Sentence;

using References = std::vector<std::vector<int32_t>>;

/// Counts the candidates of one sentence; its references are processed once. Not thread-safe.
struct Scorer {
  virtual ~Scorer() = default;
  virtual void stats(std::span<const int32_t> words, double* stats) = 0;
};

/// The function of the sum, which the inner loops of trainers need. Statistics of one candidate are `size()` doubles that are
/// whole numbers wherever the metric counts; those of a document are the sum.
struct Metric {
  virtual ~Metric() = default;
  virtual std::string name() const = 0;  // "bleu"
  virtual int size() const = 0;
  virtual double score(const double* stats) const = 0;  // of a document, in the usual units: BLEU 0 to 100
  virtual bool higher_is_better() const { return true; }
  /// Trainers maximise this, about 0 to 1: BLEU/100, 1 - TER/100.
  virtual double gain(const double* stats) const { return (higher_is_better() ? score(stats) : 100.0 - score(stats)) / 100.0; }
  /// gain() of one sentence in its smoothed form (BLEU+1); the metrics that need no smoothing keep this.
  virtual double sentence_gain(const double* stats) const { return gain(stats); }

  /// A scorer of one sentence's candidates; throws InputError if the metric cannot be computed from words.
  virtual std::unique_ptr<Scorer> scorer(const Vocab& vocab, const References& references) const;
  /// Statistics of every candidate of a list: size() numbers per edge.
  virtual void list_stats(const Pool& pool, const Sentence& sentence, double* rows) const;
  /// For each of `rows` candidates of one sentence, its gain in the context of a document, which hope adds and fear subtracts.
  /// BLEU: size times BLEU of the context with the candidate added (Chiang et al. 2008); the others: sentence_gain.
  virtual void context_gains(const double* context, const double* stats, size_t rows, double* gains) const {
    (void)context;
    for (size_t r = 0; r < rows; ++r) gains[r] = sentence_gain(stats + r * size());
  }
};

/// One line of statistics for each row of a pool of lists.
std::vector<double> pool_stats(const Metric& metric, const Pool& pool, int jobs);

/// The references themselves; throws InputError if there are none.
const References& at_least_one(const References& references);

}  // namespace hopefear
