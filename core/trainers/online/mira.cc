#include "trainers/online/mira.h"

#include <algorithm>
#include <cmath>

#include "forest/kbest.h"
#include "trainers/online/reference.h"
#include "trainers/smo.h"

namespace hopefear {
namespace {

/// The constraint loss - w.x <= xi that a derivation makes, with x = h(d_i) - h(d). Violations are computed from w.x,
/// because the scores of the derivations belong to the weights they were found with.
struct Plane {
  SparseVector x;
  double loss;

  double violation(const std::vector<double>& w) const { return loss - x.dot(w.data()); }
};

/// One call of UPDATEWEIGHTS: S_i comes first, then the sets that were received.
class Problem {
 public:
  Problem(const LearnerOptions& options, const Example& example, const Rated& hope, const std::vector<Message>& heard,
          Model& model)
      : options_(options), example_(example), hope_(hope), model_(model), sets_(1) {
    for (const Message& message : heard) {
      sets_.emplace_back();
      for (const Constraint& c : message.constraints) sets_.back().add(c.x(), c.loss, model.sigma.rates());
    }
  }

  const WorkingSet& own() const { return sets_[0]; }
  double max_violation() const { return own().max_violation(model_.w.data()); }
  Plane plane(const Rated& d) {
    return {model_.difference.between(example_.forest, hope_.derivation, d.derivation), hope_.gain - d.gain};
  }
  void add(Plane&& plane) {
    if (!plane.x.ids.empty() || plane.loss > 0) sets_[0].add(std::move(plane.x), plane.loss, model_.sigma.rates());
  }
  void optimize() { optimize_sets(sets_, model_.w.data(), model_.sigma.rates(), options_.epsilon, kSmoIterations); }

  void cutting_planes(Learnt& learnt);
  void constraints_of_2008(Learnt& learnt);
  void finish();

 private:
  const LearnerOptions& options_;
  const Example& example_;
  const Rated& hope_;
  Model& model_;
  std::vector<WorkingSet> sets_;
};

/// Algorithm 4, lines 16 to 25; without sets of others it is algorithm 2.
void Problem::cutting_planes(Learnt& learnt) {
  const int max_planes = options_.objective == Objective::perceptron ? 1 : options_.max_planes;
  bool heard = sets_.size() > 1;
  for (int planes = 0; planes < max_planes; ++planes) {
    const Rated d = fear_derivation(options_.objective, example_);  // line 20
    Plane worst = plane(d);
    const double v = worst.violation(model_.w);
    if (planes == 0) {
      learnt.fear = d.gain;
      learnt.loss = std::max(0.0, v);
    }
    const bool again = v > max_violation() + options_.epsilon;  // line 21
    if (!again && !heard) break;
    if (again) add(std::move(worst));
    optimize();
    heard = false;
    example_.search.reweigh();
  }
}

/// The n best derivations, the n best hopes and the n best fears, d_i left out.
std::vector<Rated> candidates_of_2008(const Example& example, const Rated& hope, int n) {
  HopeFear& search = example.search;
  std::vector<std::vector<Derivation>> lists{kbest(example.forest, search.scores(), n, false)};
  const std::vector<double> gains = example.gains();
  for (double sign : {1.0, -1.0}) {
    std::vector<double> scores = search.scores();
    for (size_t e = 0; e < scores.size(); ++e) scores[e] += sign * gains[e];
    lists.push_back(kbest(example.forest, std::move(scores), n, false));
  }
  std::vector<std::vector<int32_t>> seen{hope.derivation.edges};
  std::vector<Rated> all;
  for (auto& list : lists) {
    for (Derivation& d : list) {
      if (std::ranges::find(seen, d.edges) != seen.end()) continue;
      seen.push_back(d.edges);
      all.push_back(search.rate(std::move(d)));
    }
  }
  return all;
}

void Problem::constraints_of_2008(Learnt& learnt) {
  for (const Rated& d : candidates_of_2008(example_, hope_, options_.constraints)) {
    learnt.fear = std::isnan(learnt.fear) ? d.gain : std::min(learnt.fear, d.gain);
    add(plane(d));
  }
  learnt.loss = max_violation();
  optimize();
}

/// Passes the changes of w by the QP, set by set, to the average and to Sigma (algorithm 3, lines 9 and 10).
void Problem::finish() {
  const Rates rate = model_.sigma.rates();
  std::vector<SparseVector> moved;
  for (const WorkingSet& set : sets_) {
    const SparseVector& x = moved.emplace_back(set.sum(model_.difference));
    for (size_t k = 0; k < x.ids.size(); ++k) model_.averager.changed(x.ids[k], rate[x.ids[k]] * x.values[k]);
  }
  for (const SparseVector& x : moved) model_.sigma.shrink(x);
}

}  // namespace

std::vector<Constraint> Mira::update(const Example& example, std::vector<Message>& inbox, Model& model, Learnt& learnt) {
  const Rated hope = reference_derivation(options_, example, model, learnt);
  if (learnt.skipped) return {};
  Problem problem(options_, example, hope, inbox, model);
  inbox.clear();
  if (options_.constraints > 1)
    problem.constraints_of_2008(learnt);
  else
    problem.cutting_planes(learnt);
  problem.finish();
  learnt.constraints = static_cast<int64_t>(problem.own().size()) - 1;
  std::vector<Constraint> S_i;
  for (size_t d = 1; d < problem.own().size(); ++d) S_i.emplace_back(problem.own().x(d), problem.own().loss(d));
  return S_i;
}

}  // namespace hopefear
