// The losses of Gimpel and Smith (2012), figure 2 and section 3.4, declared.
//
// Every loss of one sentence is  - up + down  with two terms of one shape,
//     max or log-sum-exp, over a set of derivations d, of   score(d) + c * cost(d),
// so a loss is two rows of a table: which set, which c, hard or soft. Bayes risk, E[cost], is the one exception.
// A (sub)gradient is a coefficient for each edge: gradient = sum_e coefficient_e h(e). On a list, edges are candidates and
// costs are exact; on lattices and forests costs are additive over edges (linear BLEU).
#pragma once
#include <string>
#include <vector>

#include "forest/forest.h"
#include "trainers/lists.h"

namespace hopefear {

enum class Over {
  all,      // every derivation
  oracle,   // one derivation of lowest cost: the surrogate for y^(i); the first of equal ones
  oracles,  // all derivations of lowest cost
};

struct Term {
  Over over;
  double cost;  // c: -1 cost-diminished, 0 model, +1 cost-augmented
  bool soft;
};

struct Loss {
  std::string name;
  std::string equation;
  Term up, down;
  bool risk = false;  // E_p[cost] instead of the two terms
};

/// ramp1 ramp2 ramp3 softramp1 softramp2 softramp3 perceptron latentperceptron hinge log latentlog risk jensen.
const std::vector<Loss>& losses();
const Loss& loss_by_name(const std::string& name);

/// The value of one term; factor * d(term)/d(score of e) is added to coefficients[e].
double term(const Forest& forest, const double* scores, const double* costs, const Term& term, double factor,
            double* coefficients);

/// The value of a loss on one forest; its coefficients are added to `coefficients`.
double loss_value(const Forest& forest, const double* scores, const double* costs, const Loss& loss, double* coefficients);

/// A loss at w and its (sub)gradient; `costs` has one number per edge or row.
struct LossAt {
  double value = 0;
  std::vector<double> gradient;
};
LossAt forest_loss(const Forest& forest, const double* costs, const double* w, const Loss& loss);
/// The sum over all sentences.
LossAt pool_loss(const Lists& lists, const double* costs, const double* w, const Loss& loss, int jobs);

}  // namespace hopefear
