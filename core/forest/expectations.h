// Posteriors and expectations of B, h and Bh over a forest: Chiang 2012, appendix A, in the renormalised form of A.4.
//
// The model is P(d) = exp s(d) / Z with s(d) the sum of edge scores: s(e) = w.h(e) / T for a temperature T (A.1), and
// s(e) = (w.h(e) + mu B(e)) / T for the loss-augmented model of A.2 (where the paper prints exp 1/mu, 1/T is meant).
//
// One pass up computes inside(v) in log space, the conditional p(e|v) = inside(e) / inside(v), and expect_B(v) by
// (23) and (24). One pass down computes the expected number of uses of every node and edge,
//     E[#v] = sum over places where v is a tail of E[#e],     E[#e] = E[#v] p(e|v),
// and with it C(v), the covariance of B(d) with the uses of v that lies outside those uses:
//     C(goal) = -E[B],     C(tail) += p(e|v) (C(v) + E[#v] (expect_B(e) - expect_B(tail))),     a term for each place,
// so that  Cov(B, #e) = p(e|v) (C(v) + E[#v] expect_B(e))  and
//     E[h]                  = sum over e of E[#e] h(e)
//     E[Bh] - E[B] E[h]     = sum over e of Cov(B, #e) h(e)           (the bracket of (22))
// which is what the second-order semiring of A.4 computes with a vector at each node; here there are only scalars. All
// intermediate values are of the size of B: nothing can overflow, whatever the scores.
#pragma once
#include <span>
#include <vector>

#include "forest/forest.h"
#include "forest/pool.h"

namespace hopefear {

struct Expectations {
  double log_z = 0.0;
  double gain = 0.0;                   // E[B]
  std::vector<double> inside;          // log inside(v); -inf where there is no derivation
  std::vector<double> conditional;     // p(e|v); 0 where v has no derivation
  std::vector<double> node;            // E[#v]: a probability, unless a derivation can use a node twice
  std::vector<double> edge;            // E[#e]
  std::vector<double> expected_below;  // expect_B(v), (23)
  std::vector<double> outer;           // C(v)
  std::vector<double> covariance;      // Cov(B, #e)
};

/// inside and conditional only: enough for log_z and for sampling. Throws InputError when the goal has no derivation.
void log_inside(const Forest& forest, std::span<const double> scores, Expectations& result);

/// Also node and edge.
void posteriors(const Forest& forest, std::span<const double> scores, Expectations& result);

/// All fields. gains holds B(e).
void expectations(const Forest& forest, std::span<const double> scores, std::span<const double> gains, Expectations& result);

/// Adds E[h] to `features` and, unless null, E[Bh] - E[B] E[h] to `covariance`: one pass over the features.
void add_expected_features(const Forest& forest, const Expectations& x, double* features, double* covariance);

/// (w.h(e) + mu B(e)) / T for every edge; without gains, w.h(e) / T.
void model_scores(const Forest& forest, const double* w, std::span<const double> gains, double temperature, double mu,
                  std::vector<double>& scores);

/// The results for one forest, as vectors over all features.
struct ForestExpectations {
  double log_z = 0.0, gain = 0.0;                 // gain: E[B]
  std::vector<double> features, gain_features;    // E[h], E[Bh]
  std::vector<double> gradient;                   // of E[B] in w, (22)
  std::vector<double> nodes, edges, covariances;  // E[#v], E[#e], Cov(B, #e)
};

/// P(d) is proportional to exp ((w.h(d) + mu B(d)) / T). `gains` holds B(e), or is empty: B is then 0.
ForestExpectations expectations(const Forest& forest, const double* w, std::span<const double> gains, double temperature,
                                double mu);

/// The results for a whole pool.
struct PoolExpectations {
  std::vector<double> log_z, gain;  // of each sentence; gain is empty without gains
  std::vector<double> features;     // E[h] summed over sentences
  std::vector<double> gradient;     // of the sum of E[B] in w, (22); empty without gains
};

/// P(d) is proportional to exp ((w.h(d) + mu B(d)) / T). `gains` holds B(e) of all edges of the pool, sentence after
/// sentence, or is empty. Sums run in an order that does not depend on jobs.
PoolExpectations expectations(const Pool& pool, const double* w, std::span<const double> gains, double temperature, double mu,
                              int jobs);

}  // namespace hopefear
