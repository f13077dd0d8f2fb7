// MIRA: Chiang (2012), algorithm 2 and, with working sets of other learners, algorithm 4, UPDATEWEIGHTS.
//
// The QP (6) is solved over a working set S_i (smo.h), which is found
//   by cutting planes:   the fear derivation enters S_i as long as its violation exceeds all others by epsilon;
//   or as in 2008:       the union of the n best, the n best hope and the n best fear derivations at once (footnote 4; Chiang,
//                        Marton and Resnik 2008). On forests hope and fear are found by linear BLEU.
// The perceptron is the first plane only, with the 1-best as d+. AROW (arow.h) is the same update with Sigma in the place of eta.
//
// Differences from the paper:
// - Working sets that were received are optimised once even if the example itself has no violated constraint; algorithm 4,
//   line 24, would drop them.
// - At most max_planes constraints are found at one example; the paper has no limit.
#pragma once
#include "trainers/online/update.h"

namespace hopefear {

class Mira final : public Update {
 public:
  explicit Mira(const LearnerOptions& options) : options_(options) {}
  /// Working sets of others wait for the QP.
  void hear(std::vector<Message>&, Model&) override {}
  std::vector<Constraint> update(const Example& example, std::vector<Message>& inbox, Model& model, Learnt& learnt) override;

 private:
  LearnerOptions options_;
};

}  // namespace hopefear
