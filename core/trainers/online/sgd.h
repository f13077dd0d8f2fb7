// Stochastic gradient descent: Chiang (2012), algorithm 1, eq. (5).
//
// UPDATEWEIGHTS is w += eta x, where x = - grad L_i(w) depends on the objective:
//
// hinge        (5): x = h(d_i) - h(d+), with the fear derivation d+ (line 10)
// perceptron   3.1: the same with D(f_i) cut down to the 1-best, which then is d+
// secant, T=0  A.2: the same with the fear derivation at -mu, opposite to the hope derivation at mu
// risk, secant appendix A: risk.h
//
// Under AROW the step is Sigma x. What is sent to other learners is x, and they take the same step at once:
// asynchronous SGD (section 6), updates summed.
#pragma once
#include <functional>

#include "trainers/online/update.h"

namespace hopefear {

/// x = - grad L_i(w) of one example.
using Descent = std::function<SparseVector(const Example& example, Model& model, Learnt& learnt)>;

class Sgd final : public Update {
 public:
  explicit Sgd(Descent descent) : descent_(std::move(descent)) {}
  void hear(std::vector<Message>& inbox, Model& model) override;
  std::vector<Constraint> update(const Example& example, std::vector<Message>& inbox, Model& model, Learnt& learnt) override;

 private:
  Descent descent_;
};

/// (5).
SparseVector hinge_descent(const LearnerOptions& options, const Example& example, Model& model, Learnt& learnt);

}  // namespace hopefear
