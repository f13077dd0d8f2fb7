// MERT on lattices and forests: the envelope of all derivations (Macherey et al. 2008; Kumar et al. 2009), exactly.
#pragma once
#include "forest/derivation.h"
#include "forest/envelope.h"
#include "trainers/batch/mert.h"

namespace hopefear {

/// Edge scores under the origin and the direction are cached; the words of each piece of an envelope are counted as they come.
class ForestEnvelopes : public EnvelopeSource {
 public:
  /// The scorers are this object's own: it serves one thread.
  explicit ForestEnvelopes(const Pool& pool, const Metric& metric);
  size_t sentences() const override { return forests_.sentences(); }
  void set_origin(const double* w) override;
  void set_direction(const Direction& direction) override;
  void advance(double x) override;
  void envelope(size_t i, std::vector<Piece>& pieces) override;

 private:
  Lists forests_;
  std::vector<double> a_, b_;
  std::vector<std::vector<double>> counted_;  // of each sentence, the statistics of its pieces
  std::vector<int32_t> words_;
  YieldScratch scratch_;
};

}  // namespace hopefear
