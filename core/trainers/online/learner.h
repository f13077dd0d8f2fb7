// One learner of online training on forests: the loop of Chiang (2012), algorithms 1, 3 and 4.
//
// At an example: receive the working sets of others, decode, find the 1-best, update the weights, add them to the average, add the
// 1-best to the oracle document (2.4). The loop knows neither the decoder (search/examples.h) nor the update (update.h), nor
// how learners are combined (team.h): it receives messages before an example and has one to send after it.
//
// Where the paper is silent: a sentence that is skipped (bold updating) counts as an example of the average, and is not added to the
// oracle document; working sets that wait for the QP then wait for the next example.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "search/examples.h"
#include "trainers/online/update.h"

namespace hopefear {

class Learner {
 public:
  /// `sigma` is AROW's initial diagonal, or empty: eta for all.
  Learner(const LearnerOptions& options, std::vector<double> w, std::vector<double> sigma, std::unique_ptr<Update> update)
      : options_(options),
        model_(options, std::move(w), std::move(sigma)),
        update_(std::move(update)),
        document_(4, options.decay) {}

  /// Algorithm 4, lines 7 to 12, for one example. mu is that of hope (negative), and of the secant.
  Learnt learn(const Examples& examples, size_t i, double mu);

  void hear(Message message) { inbox_.push_back(std::move(message)); }
  std::vector<Message> take_outbox() { return std::exchange(outbox_, {}); }

  const std::vector<double>& w() const { return model_.w; }
  /// Continues from another w, for example after mixing (6.1); the average takes this into account.
  void move_to(std::span<const double> w);
  /// The sum of the weights after each example, and the number of examples.
  std::vector<double> sum() const { return model_.averager.sum(model_.w); }
  int64_t t() const { return model_.averager.t(); }

  /// The state for continuing later with the same bits.
  struct State {
    std::vector<double> w, u, sigma, document;
    int64_t t;
    std::vector<Message> inbox;
  };
  State state() const;
  void restore(State state);

 private:
  LearnerOptions options_;
  Model model_;
  std::unique_ptr<Update> update_;
  OracleDocument document_;
  std::vector<Message> inbox_, outbox_;
};

}  // namespace hopefear
