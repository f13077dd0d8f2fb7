// The interface between the loop of a learner and the update of its weights: the example, the model, and Update.
//
// Chiang (2012), algorithms 1 to 3, differ in the procedure UPDATEWEIGHTS only. An Update is one such procedure.
#pragma once
#include <cstdint>
#include <limits>
#include <vector>

#include "hope_fear/hope_fear.h"
#include "hope_fear/linear_bleu.h"
#include "metrics/oracle_document.h"
#include "trainers/averager.h"
#include "trainers/difference.h"
#include "trainers/online/arow.h"
#include "trainers/online/message.h"

namespace hopefear {

/// The state that a learner learns.
struct Model {
  Model(const LearnerOptions& options, std::vector<double> weights, std::vector<double> diagonal)
      : w(std::move(weights)),
        sigma(options, std::move(diagonal), w.size()),
        averager(w.size()),
        difference(w.size(), Bounds{}) {}

  std::vector<double> w;
  Sigma sigma;
  Averager averager;      // gets every change of w
  Difference difference;  // scratch
};

/// An example, as passed to an update.
struct Example {
  const Forest& forest;  // D(f_i)
  const References& references;
  const OracleDocument& document;
  HopeFear& search;
  const Rated& best;  // the 1-best derivation
  double mu;          // of the hope derivation (negative), eq. (12), and of the secant

  /// B of each edge, by linear BLEU (A.3).
  std::vector<double> gains() const {
    std::vector<double> lambda(document.counts().size());
    document.linear(lambda.data());
    return linear_gains(forest, search.automaton(), lambda, search.scores()).gains;
  }
};

/// A report on an example.
struct Learnt {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

  int64_t sentence = 0;
  bool skipped = false;                             // bold updating: no derivation of a reference
  double hope = kNone, best = kNone, fear = kNone;  // B of d_i, of the 1-best, of the first d+
  double loss = kNone;                              // L_i before the update: v of the first d+
  int64_t constraints = 0;                          // size of S_i, d_i not counted
  int64_t heard = 0;                                // working sets of others
  double decoding = 0, learning = 0;                // seconds of CPU time
  std::vector<double> b;                            // of the 1-best
};

class Update {
 public:
  virtual ~Update() = default;
  /// Before the example is decoded: an update that need not wait takes the working sets of others from the inbox.
  virtual void hear(std::vector<Message>& inbox, Model& model) = 0;
  /// UPDATEWEIGHTS. Takes the rest of the inbox, and returns the message for others. An example that it marks as skipped
  /// has changed nothing.
  virtual std::vector<Constraint> update(const Example& example, std::vector<Message>& inbox, Model& model, Learnt& learnt) = 0;
};

}  // namespace hopefear
