// One learner of online large-margin training on forests: Chiang (2012), algorithms 1 to 4 and appendix A.
//
// At an example: decode, search d_i (section 4) and d+ (section 5) in its forest, update, remember the sum of weights, let the
// oracle document grow by the 1-best (2.4). Four choices are independent of each other, as in the columns of Table 1:
//
// objective       hinge        L_i = max_d v_i(w, d, d_i), eq. (4)
//                 perceptron   the same with D(f_i) cut down to the 1-best (3.1)
//                 risk         E[loss] at a temperature T, gradient (22)
//                 secant       A.2: E_mu[h] - E_-mu[h] over mu in place of that gradient; T = 0 is hope and fear
// algorithm       sgd          (5): w += eta x
//                 mira         (6): algorithm 2, cutting planes and SMO; or, with n > 1 constraints, the form of 2008: the union of
//                              the n best, the n best hopes and the n best fears at once
//                 arow         algorithm 3: Sigma in place of eta, and Sigma^-1 += lambda diag(x^2) after each example
// approximation   of B on forests: forest reranking, linear BLEU, k-best (hope_fear.h)
// parallelisation none of the learner's business: it hears working sets of others before an example and has one to say after it
//                 (algorithm 4, lines 8 and 10). What a learner of risk, secant or sgd sends is its x, and who hears it takes the
//                 same step: asynchronous SGD, updates summed.
//
// Where the paper is silent:
// - risk and secant have a gradient and no constraints: mira is then the same as sgd, and arow steps by Sigma x.
// - Sets that were heard are optimised once even if the example itself has no violated constraint (algorithm 4, line 24, would
//   forget them), and in AROW each of them shrinks Sigma, as at home.
// - secant steps by eta/mu (E_-mu[h] - E_mu[h]): eta' of A.2 is 2 eta.
// - bold: the reference counts as reachable if the search for max-BLEU finds it. A sentence that is skipped changes nothing.
// - working sets travel with 32-bit numbers.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hope_fear/hope_fear.h"
#include "metrics/oracle_document.h"
#include "trainers/difference.h"
#include "trainers/examples.h"
#include "trainers/smo.h"

namespace hopefear {

enum class Objective { hinge, perceptron, risk, secant };
enum class Algorithm { sgd, mira, arow };
enum class Target { hope, local, max_bleu, bold };

Objective objective_by_name(const std::string& name);
Algorithm algorithm_by_name(const std::string& name);
Target target_by_name(const std::string& name);

struct LearnerOptions {
  Objective objective = Objective::hinge;
  Algorithm algorithm = Algorithm::mira;
  Target target = Target::hope;
  Approximation approximation = Approximation::forest;
  int k = 100;  // of the k-best approximation, and of local updating
  double eta = 0.01;
  double lambda = 0.01;        // of AROW
  double epsilon = 0.01;       // how much worse a violator must be to enter a working set
  double temperature = 1.0;    // of risk and secant
  double decay = 0.9;          // of the oracle document
  int constraints = 1;         // 1: cutting planes; n: the form of 2008
  int max_planes = 30;         // constraints that cutting planes find at one example, at most
  int max_iterations = 1000;   // of SMO
  int64_t edges_per_word = 0;  // hope and fear are searched for among so many edges a source word; 0: all
  bool broadcast = false;      // keep working sets for others
};

/// A working set on its way to other learners: S_i without d_i, whose x is 0. Algorithms that step have one x and no loss.
struct Message {
  struct Constraint {
    double loss = 0;
    std::vector<int32_t> ids;
    std::vector<float> values;
    SparseVector x() const { return {ids, {values.begin(), values.end()}}; }
  };
  int64_t sentence = 0;
  std::vector<Constraint> constraints;
};
std::string serialized(const Message& message);
/// Throws InputError when the bytes are no message over so many features.
Message deserialized(std::string_view bytes, int32_t features);

/// What happened at an example.
struct Learnt {
  int64_t sentence = 0;
  bool skipped = false;                 // bold: no derivation of a reference
  double hope = 0, best = 0, fear = 0;  // B of d_i, of the 1-best, of the first d+
  double loss = 0;                      // L_i before the update: v of the first d+
  int64_t constraints = 0;              // size of S_i, d_i not counted
  int64_t heard = 0;                    // working sets of others
  double decoding = 0, learning = 0;    // seconds of CPU time
  std::vector<double> b;                // of the 1-best
};

class Learner {
 public:
  /// `sigma` is AROW's initial diagonal, or empty: eta for all.
  Learner(LearnerOptions options, std::vector<double> w, std::vector<double> sigma);

  /// Algorithm 4, lines 7 to 12, for one example. mu is that of hope (negative), and of secant.
  Learnt learn(const Examples& examples, size_t i, double mu);

  void hear(Message message) { inbox_.push_back(std::move(message)); }
  std::vector<Message> take_outbox() { return std::exchange(outbox_, {}); }

  const LearnerOptions& options() const { return options_; }
  const std::vector<double>& w() const { return w_; }
  /// Another w from here on, as after mixing; the average knows of it.
  void move_to(std::span<const double> w);
  /// The sum of the weights after each example, and how many these were.
  std::vector<double> sum() const;
  int64_t t() const { return averager_.t(); }

  /// Everything that must be kept to go on later with the same bits.
  struct State {
    std::vector<double> w, u, sigma, document;
    int64_t t = 0;
    std::vector<Message> inbox;
  };
  State state() const;
  void restore(State state);

 private:
  Rates rates() const { return {options_.eta, sigma_.empty() ? nullptr : sigma_.data()}; }
  bool steps() const {
    return options_.algorithm == Algorithm::sgd || options_.objective == Objective::risk ||
           options_.objective == Objective::secant;
  }
  Rated reference_derivation(HopeFear& search, const Forest& forest, const References& references, double mu, bool& found);
  SparseVector difference(const Forest& forest, const Derivation& plus, const Derivation& minus);
  void optimize_sets(const Forest& forest, HopeFear& search, const Rated& hope, Learnt& learnt);
  void take_step(const SparseVector& x);
  void shrink_sigma(const SparseVector& x);
  SparseVector risk_gradient(const Forest& forest, HopeFear& search);
  SparseVector secant(const Forest& forest, HopeFear& search, double mu);
  SparseVector kbest_gradient(const Forest& forest, HopeFear& search, double mu, bool secant);
  SparseVector gathered(const Forest& forest);
  std::vector<Rated> candidates_of_2008(const Forest& forest, HopeFear& search, const Rated& hope);
  void say(size_t i, const std::vector<SparseVector>& x, const std::vector<double>& loss);

  LearnerOptions options_;
  std::vector<double> w_, sigma_;
  Averager averager_;
  OracleDocument document_;
  Difference difference_;
  std::vector<double> dense_;  // scratch over all features, zero between uses
  std::vector<Message> inbox_, outbox_;
};

/// Each learner goes through its own examples, in order; learners run side by side. The result does not depend on jobs.
std::vector<std::vector<Learnt>> learn(std::span<Learner* const> learners, const Examples& examples,
                                       const std::vector<std::vector<int64_t>>& work, double mu, int jobs);

/// Every learner hears what the others have said since the last time, in the order of the learners.
void exchange(std::span<Learner* const> learners);

/// Algorithm 4, OPTIMIZESETS: joint SMO over several working sets, a pair of each at a time. Returns the number of sweeps.
int optimize_sets(std::span<WorkingSet> sets, double* w, const Rates& rates, double epsilon, int max_iterations);

}  // namespace hopefear
