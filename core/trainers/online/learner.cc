#include "trainers/online/learner.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <ctime>
#include <limits>

#include "forest/expectations.h"
#include "forest/kbest.h"
#include "hope_fear/linear_bleu.h"
#include "util/parallel.h"

namespace hopefear {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

template <class Value>
Value by_name(const std::string& what, const std::string& name, std::initializer_list<std::pair<const char*, Value>> known) {
  std::string all;
  for (const auto& [known_name, value] : known) {
    if (name == known_name) return value;
    all += (all.empty() ? "" : ", ") + std::string(known_name);
  }
  throw InputError(what + " must be one of " + all + ", not " + name);
}

/// CPU seconds of this thread.
double cpu() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

Objective objective_by_name(const std::string& name) {
  return by_name<Objective>("objective", name,
                            {{"hinge", Objective::hinge},
                             {"perceptron", Objective::perceptron},
                             {"risk", Objective::risk},
                             {"secant", Objective::secant}});
}
Algorithm algorithm_by_name(const std::string& name) {
  return by_name<Algorithm>("algorithm", name, {{"sgd", Algorithm::sgd}, {"mira", Algorithm::mira}, {"arow", Algorithm::arow}});
}
Target target_by_name(const std::string& name) {
  return by_name<Target>(
      "reference", name,
      {{"hope", Target::hope}, {"local", Target::local}, {"max-bleu", Target::max_bleu}, {"bold", Target::bold}});
}

// ---- messages

namespace {

template <class T>
void put(std::string& bytes, const T* values, size_t count) {
  bytes.append(reinterpret_cast<const char*>(values), count * sizeof(T));
}

struct Taker {
  std::string_view bytes;
  template <class T>
  void take(T* values, size_t count) {
    if (bytes.size() / sizeof(T) < count) throw InputError("a working set was cut short");
    if (count) std::memcpy(values, bytes.data(), count * sizeof(T));
    bytes.remove_prefix(count * sizeof(T));
  }
};

}  // namespace

std::string serialized(const Message& message) {
  std::string bytes;
  const auto count = static_cast<uint32_t>(message.constraints.size());
  put(bytes, &message.sentence, 1);
  put(bytes, &count, 1);
  for (const auto& c : message.constraints) {
    const auto size = static_cast<uint32_t>(c.ids.size());
    put(bytes, &c.loss, 1);
    put(bytes, &size, 1);
    put(bytes, c.ids.data(), size);
    put(bytes, c.values.data(), size);
  }
  return bytes;
}

Message deserialized(std::string_view bytes, int32_t features) {
  Taker from{bytes};
  Message message;
  uint32_t count = 0;
  from.take(&message.sentence, 1);
  from.take(&count, 1);
  for (uint32_t c = 0; c < count; ++c) {
    Message::Constraint one;
    uint32_t size = 0;
    from.take(&one.loss, 1);
    from.take(&size, 1);
    if (size > from.bytes.size()) throw InputError("a working set was cut short");
    one.ids.resize(size);
    one.values.resize(size);
    from.take(one.ids.data(), size);
    from.take(one.values.data(), size);
    for (int32_t j : one.ids)
      if (j < 0 || j >= features) throw InputError("a working set is over other features");
    message.constraints.push_back(std::move(one));
  }
  return message;
}

// ---- the learner

Learner::Learner(LearnerOptions options, std::vector<double> w, std::vector<double> sigma)
    : options_(options),
      w_(std::move(w)),
      sigma_(std::move(sigma)),
      averager_(static_cast<int32_t>(w_.size())),
      document_(4, options.decay),
      difference_(static_cast<int32_t>(w_.size()), Bounds{}) {
  if (!sigma_.empty() && sigma_.size() != w_.size()) throw InputError("one variance for each weight");
  if (options_.algorithm == Algorithm::arow && sigma_.empty()) sigma_.assign(w_.size(), options_.eta);
  if (options_.algorithm != Algorithm::arow) sigma_.clear();
  const bool soft = options_.objective == Objective::risk || options_.objective == Objective::secant;
  if (soft && options_.approximation == Approximation::forest)
    throw InputError("expectations need B on every edge: take approximation linear or kbest with objective risk or secant");
  if (options_.objective == Objective::risk && !(options_.temperature > 0)) throw InputError("risk needs a temperature above 0");
}

void Learner::move_to(std::span<const double> w) {
  for (size_t j = 0; j < w_.size(); ++j) {
    if (w[j] != w_[j]) averager_.changed(static_cast<int32_t>(j), w[j] - w_[j]);
    w_[j] = w[j];
  }
}

std::vector<double> Learner::sum() const {
  std::vector<double> s(w_.size());
  for (size_t j = 0; j < s.size(); ++j) s[j] = static_cast<double>(averager_.t()) * w_[j] - averager_.u()[j];
  return s;
}

Learner::State Learner::state() const {
  return {w_, averager_.u(), sigma_, {document_.counts().begin(), document_.counts().end()}, averager_.t(), inbox_};
}

void Learner::restore(State state) {
  if (state.w.size() != w_.size() || state.u.size() != w_.size() || state.sigma.size() != sigma_.size())
    throw InputError("the state of a learner over other features");
  w_ = std::move(state.w);
  sigma_ = std::move(state.sigma);
  averager_.restore(std::move(state.u), state.t);
  document_.set_counts(state.document);
  inbox_ = std::move(state.inbox);
}

Learnt Learner::learn(const Examples& examples, size_t i, double mu) {
  Learnt learnt;
  learnt.sentence = static_cast<int64_t>(i);
  learnt.heard = static_cast<int64_t>(inbox_.size());
  const double begun = cpu();
  if (steps()) {  // asynchronous SGD: updates of others are summed
    for (const Message& message : inbox_)
      for (const auto& c : message.constraints) take_step(c.x());
    inbox_.clear();
  }
  const double heard = cpu();
  const Forest forest = examples.decode(i, w_.data(), options_.edges_per_word);
  learnt.decoding = cpu() - heard;

  const References& references = examples.references(i);
  HopeFear search(forest, references, w_.data(), document_, options_.approximation, options_.k);
  const Rated best = search.find(0.0);
  learnt.b = best.b;
  learnt.best = best.gain;
  learnt.hope = learnt.fear = learnt.loss = kNone;

  bool found = true;
  if (options_.objective == Objective::risk || (options_.objective == Objective::secant && options_.temperature > 0)) {
    const SparseVector x = options_.objective == Objective::risk ? risk_gradient(forest, search) : secant(forest, search, mu);
    take_step(x);
    say(i, {x}, {0.0});
  } else {
    const Rated hope = reference_derivation(search, forest, references, mu, found);
    learnt.hope = hope.gain;
    if (!found) {
      learnt.skipped = true;
    } else if (steps()) {  // (5)
      const Rated fear =
          options_.objective == Objective::perceptron ? best : search.find(options_.objective == Objective::secant ? -mu : 1.0);
      const SparseVector x = difference(forest, hope.derivation, fear.derivation);
      learnt.fear = fear.gain;
      learnt.loss = hope.gain - fear.gain - x.dot(w_.data());
      learnt.constraints = x.ids.empty() ? 0 : 1;
      take_step(x);
      say(i, {x}, {0.0});
    } else {
      optimize_sets(forest, search, hope, learnt);
    }
  }
  averager_.next();
  if (!learnt.skipped) document_.update(best.b.data());
  learnt.learning = cpu() - begun - learnt.decoding;
  return learnt;
}

/// Section 4.
Rated Learner::reference_derivation(HopeFear& search, const Forest& forest, const References& references, double mu,
                                    bool& found) {
  switch (options_.target) {
    case Target::hope: return search.find(mu);
    case Target::local: return HopeFear(forest, references, w_.data(), document_, Approximation::kbest, options_.k).max_bleu();
    default: break;
  }
  Rated top = search.max_bleu();
  if (options_.target == Target::bold) {
    const auto words = yield(forest, top.derivation.edges);
    found = std::ranges::any_of(references, [&](const auto& reference) { return std::ranges::equal(reference, words); });
  }
  return top;
}

/// h(plus) - h(minus).
SparseVector Learner::difference(const Forest& forest, const Derivation& plus, const Derivation& minus) {
  for (int32_t e : plus.edges) difference_.add(forest, e, 1.0);
  for (int32_t e : minus.edges) difference_.add(forest, e, -1.0);
  return difference_.take();
}

/// w += eta x, or Sigma x.
void Learner::take_step(const SparseVector& x) {
  const Rates rate = rates();
  for (size_t k = 0; k < x.ids.size(); ++k) {
    const double change = rate[x.ids[k]] * x.values[k];
    w_[x.ids[k]] += change;
    averager_.changed(x.ids[k], change);
  }
  shrink_sigma(x);
}

/// Algorithm 3, line 10.
void Learner::shrink_sigma(const SparseVector& x) {
  if (sigma_.empty()) return;
  for (size_t k = 0; k < x.ids.size(); ++k) {
    double& sigma = sigma_[x.ids[k]];
    sigma /= 1 + options_.lambda * x.values[k] * x.values[k] * sigma;
  }
}

void Learner::say(size_t i, const std::vector<SparseVector>& x, const std::vector<double>& loss) {
  if (!options_.broadcast) return;
  Message message;
  message.sentence = static_cast<int64_t>(i);
  for (size_t d = 0; d < x.size(); ++d)
    if (!x[d].ids.empty()) message.constraints.push_back({loss[d], x[d].ids, {x[d].values.begin(), x[d].values.end()}});
  outbox_.push_back(std::move(message));
}

/// Algorithm 4, UPDATEWEIGHTS; with an empty inbox it is algorithm 2.
void Learner::optimize_sets(const Forest& forest, HopeFear& search, const Rated& hope, Learnt& learnt) {
  const Rates rate = rates();
  std::vector<WorkingSet> sets(1);
  for (const Message& message : inbox_) {
    sets.emplace_back();
    for (const auto& c : message.constraints) sets.back().add(c.x(), c.loss, rate);
  }
  inbox_.clear();
  const auto add = [&](const Rated& d) {
    SparseVector x = difference(forest, hope.derivation, d.derivation);
    if (!x.ids.empty()) sets[0].add(std::move(x), hope.gain - d.gain, rate);
  };
  const auto optimize = [&] { hopefear::optimize_sets(sets, w_.data(), rate, options_.epsilon, options_.max_iterations); };

  if (options_.constraints > 1) {
    for (const Rated& d : candidates_of_2008(forest, search, hope)) {
      learnt.fear = std::isnan(learnt.fear) ? d.gain : std::min(learnt.fear, d.gain);
      add(d);
    }
    learnt.loss = sets[0].max_violation(w_.data());
    optimize();
  } else {
    bool heard = sets.size() > 1;
    const bool perceptron = options_.objective == Objective::perceptron;
    for (int plane = 0; plane < (perceptron ? 1 : options_.max_planes); ++plane) {
      const Rated fear = search.find(perceptron ? 0.0 : 1.0);  // line 20
      const double v = hope.gain - fear.gain - (hope.derivation.score - fear.derivation.score);
      if (plane == 0) {
        learnt.fear = fear.gain;
        learnt.loss = std::max(0.0, v);
      }
      const bool again = v > sets[0].max_violation(w_.data()) + options_.epsilon;  // line 21
      if (again) add(fear);
      if (again || heard) optimize();
      if (!again && !heard) break;
      heard = false;
      search.reweigh();
    }
  }
  learnt.constraints = static_cast<int64_t>(sets[0].size()) - 1;

  // What the optimiser did to w, set by set: x = sum_d alpha_d (h(d_i) - h(d)).
  std::vector<SparseVector> moved;
  for (const WorkingSet& set : sets) {
    for (size_t d = 1; d < set.size(); ++d)
      if (set.alpha(d) > 0)
        for (size_t k = 0; k < set.x(d).ids.size(); ++k) difference_.put(set.x(d).ids[k], set.alpha(d) * set.x(d).values[k]);
    moved.push_back(difference_.take());
    for (size_t k = 0; k < moved.back().ids.size(); ++k)
      averager_.changed(moved.back().ids[k], rate[moved.back().ids[k]] * moved.back().values[k]);
  }
  for (const SparseVector& x : moved) shrink_sigma(x);
  if (options_.broadcast) {
    std::vector<SparseVector> x;
    std::vector<double> loss;
    for (size_t d = 1; d < sets[0].size(); ++d) {
      x.push_back(sets[0].x(d));
      loss.push_back(sets[0].loss(d));
    }
    say(static_cast<size_t>(learnt.sentence), x, loss);
  }
}

int optimize_sets(std::span<WorkingSet> sets, double* w, const Rates& rates, double epsilon, int max_iterations) {
  if (sets.size() == 1) return sets[0].optimize(w, rates, epsilon, max_iterations);
  int sweeps = 0;
  for (bool again = true; again && sweeps < max_iterations; ++sweeps) {
    again = false;
    for (WorkingSet& set : sets)
      if (set.optimize(w, rates, epsilon, 1) > 0) again = true;
  }
  return sweeps;
}

/// The union of the n best, hope and fear derivations (Chiang et al. 2008); on forests hope and fear are found by linear BLEU.
std::vector<Rated> Learner::candidates_of_2008(const Forest& forest, HopeFear& search, const Rated& hope) {
  const int n = options_.constraints;
  std::vector<std::vector<Derivation>> lists{kbest(forest, search.scores(), n, false)};
  std::vector<double> lambda(static_cast<size_t>(document_.size()));
  document_.linear(lambda.data());
  const auto gains = linear_gains(forest, search.automaton(), lambda, search.scores()).gains;
  for (double sign : {1.0, -1.0}) {
    std::vector<double> scores = search.scores();
    for (size_t e = 0; e < scores.size(); ++e) scores[e] += sign * gains[e];
    lists.push_back(kbest(forest, std::move(scores), n, false));
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

/// What stands in dense_ after a pass over the edges of a forest, as a sparse vector; clears it.
SparseVector Learner::gathered(const Forest& forest) {
  const auto take = [&](int32_t j, double& value) {
    if (value != 0) difference_.put(j, value);
    value = 0;
  };
  for (int32_t j = 0; j < forest.dense_width; ++j) take(j, dense_[j]);
  for (int32_t j : forest.sparse_ids) take(j, dense_[j]);
  return difference_.take();
}

/// (22), uphill in B: 1/T (E[Bh] - E[B] E[h]).
SparseVector Learner::risk_gradient(const Forest& forest, HopeFear& search) {
  if (options_.approximation == Approximation::kbest) return kbest_gradient(forest, search, 0.0, false);
  std::vector<double> lambda(static_cast<size_t>(document_.size())), scores = search.scores();
  document_.linear(lambda.data());
  const auto gains = linear_gains(forest, search.automaton(), lambda, scores).gains;
  for (double& score : scores) score /= options_.temperature;
  Expectations expected;
  expectations(forest, scores, gains, expected);
  dense_.resize(w_.size());
  for (int32_t e = 0; e < forest.edges(); ++e)
    add_features(forest, e, expected.covariance[e] / options_.temperature, dense_.data());
  return gathered(forest);
}

/// A.2: (E_-mu[h] - E_mu[h]) / mu, mu > 0, with P_mu(d) proportional to exp 1/T (w.h(d) - mu B(d)).
SparseVector Learner::secant(const Forest& forest, HopeFear& search, double mu) {
  mu = std::abs(mu);
  if (options_.approximation == Approximation::kbest) return kbest_gradient(forest, search, mu, true);
  std::vector<double> lambda(static_cast<size_t>(document_.size()));
  document_.linear(lambda.data());
  const auto gains = linear_gains(forest, search.automaton(), lambda, search.scores()).gains;
  dense_.resize(w_.size());
  for (double sign : {1.0, -1.0}) {
    std::vector<double> scores = search.scores();
    for (size_t e = 0; e < scores.size(); ++e) scores[e] = (scores[e] + sign * mu * gains[e]) / options_.temperature;
    Expectations expected;
    posteriors(forest, scores, expected);
    for (int32_t e = 0; e < forest.edges(); ++e) add_features(forest, e, sign * expected.edge[e] / mu, dense_.data());
  }
  return gathered(forest);
}

/// Both over the k best with their exact B.
SparseVector Learner::kbest_gradient(const Forest& forest, HopeFear& search, double mu, bool secant) {
  std::vector<Rated> all;
  for (Derivation& d : kbest(forest, search.scores(), options_.k, false)) all.push_back(search.rate(std::move(d)));
  const auto probabilities = [&](double gain) {  // proportional to exp 1/T (w.h + gain B)
    std::vector<double> p;
    double top = -std::numeric_limits<double>::infinity(), sum = 0;
    for (const Rated& d : all)
      p.push_back((d.derivation.score + gain * d.gain) / options_.temperature), top = std::max(top, p.back());
    for (double& each : p) sum += each = std::exp(each - top);
    for (double& each : p) each /= sum;
    return p;
  };
  std::vector<double> factor(all.size(), 0.0);
  if (secant) {
    const auto hope = probabilities(mu), fear = probabilities(-mu);
    for (size_t d = 0; d < all.size(); ++d) factor[d] = (hope[d] - fear[d]) / mu;
  } else {
    const auto p = probabilities(0.0);
    double mean = 0;
    for (size_t d = 0; d < all.size(); ++d) mean += p[d] * all[d].gain;
    for (size_t d = 0; d < all.size(); ++d) factor[d] = p[d] * (all[d].gain - mean) / options_.temperature;
  }
  for (size_t d = 0; d < all.size(); ++d)
    for (int32_t e : all[d].derivation.edges) difference_.add(forest, e, factor[d]);
  return difference_.take();
}

// ---- several learners in one process

std::vector<std::vector<Learnt>> learn(std::span<Learner* const> learners, const Examples& examples,
                                       const std::vector<std::vector<int64_t>>& work, double mu, int jobs) {
  std::vector<std::vector<Learnt>> all(learners.size());
  parallel_for(learners.size(), jobs, [&](size_t k, int) {
    for (int64_t i : work[k]) {
      try {
        all[k].push_back(learners[k]->learn(examples, static_cast<size_t>(i), mu));
      } catch (const InputError& error) {
        throw InputError("sentence " + examples.id(static_cast<size_t>(i)) + ": " + error.what());
      }
    }
  });
  return all;
}

void exchange(std::span<Learner* const> learners) {
  for (size_t k = 0; k < learners.size(); ++k)
    for (const Message& message : learners[k]->take_outbox())
      for (size_t other = 0; other < learners.size(); ++other)
        if (other != k) learners[other]->hear(message);
}

}  // namespace hopefear
