// The choices that make a learner. Four of them are independent of each other, as in the columns of Table 1 of Chiang (2012):
//
// objective       hinge        L_i = max_d v_i(w, d, d_i), eq. (4)
//                 perceptron   the same with D(f_i) cut down to the 1-best (3.1)
//                 risk         E[loss] at a temperature T, eq. (22)
//                 secant       A.2: between risk and hinge
// algorithm       sgd          algorithm 1 (sgd.h)
//                 mira         algorithm 2 (mira.h); where the objective has no constraints, the same as sgd
//                 arow         algorithm 3 (arow.h): mira with Sigma in the place of eta
// approximation   of B on forests: forest reranking, linear BLEU, k-best (hope_fear.h)
// reference       hope, local, max-bleu, bold (reference.h)
#pragma once
#include <cstdint>
#include <string>

#include "hope_fear/hope_fear.h"

namespace hopefear {

enum class Objective { hinge, perceptron, risk, secant };
enum class Algorithm { sgd, mira, arow };
enum class Target { hope, local, max_bleu, bold };

Objective objective_by_name(const std::string& name);
Algorithm algorithm_by_name(const std::string& name);
Target target_by_name(const std::string& name);

struct LearnerOptions {
  Objective objective;
  Algorithm algorithm;
  Target target;  // the reference derivation
  Approximation approximation;
  int k;  // of the k-best approximation, and of local updating
  double eta;
  double lambda;           // of AROW
  double epsilon;          // how much worse a violator must be to enter a working set
  double temperature;      // T of risk and secant
  double decay;            // of the oracle document
  int constraints;         // 1: cutting planes; n: the form of 2008
  int max_planes;          // constraints that cutting planes find at one example, at most
  int64_t edges_per_word;  // hope and fear are searched for among this many edges per source word; 0: all
  bool broadcast;          // keep working sets for others
};

}  // namespace hopefear
