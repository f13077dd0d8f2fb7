#include "trainers/online/learner.h"

#include <ctime>

#include "util/error.h"

namespace hopefear {
namespace {

/// CPU seconds of this thread.
double cpu() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

Learnt Learner::learn(const Examples& examples, size_t i, double mu) {
  Learnt learnt;
  learnt.sentence = static_cast<int64_t>(i);
  learnt.heard = static_cast<int64_t>(inbox_.size());
  const double begun = cpu();
  update_->hear(inbox_, model_);

  const double heard = cpu();
  const Forest forest = examples.decode(i, model_.w.data(), options_.edges_per_word);
  learnt.decoding = cpu() - heard;

  const References& references = examples.references(i);
  HopeFear search(forest, references, model_.w.data(), document_, options_.approximation, options_.k);
  const Rated best = search.find(0.0);
  learnt.b = best.b;
  learnt.best = best.gain;

  std::vector<Constraint> S_i = update_->update({forest, references, document_, search, best, mu}, inbox_, model_, learnt);
  model_.averager.next();
  if (!learnt.skipped) {
    document_.update(best.b.data());
    if (options_.broadcast) outbox_.push_back({learnt.sentence, std::move(S_i)});
  }
  learnt.learning = cpu() - begun - learnt.decoding;
  return learnt;
}

void Learner::move_to(std::span<const double> w) {
  for (size_t j = 0; j < model_.w.size(); ++j) {
    if (w[j] != model_.w[j]) model_.averager.changed(static_cast<int32_t>(j), w[j] - model_.w[j]);
    model_.w[j] = w[j];
  }
}

Learner::State Learner::state() const {
  return {.w = model_.w,
          .u = model_.averager.u(),
          .sigma = model_.sigma.diagonal(),
          .document = {document_.counts().begin(), document_.counts().end()},
          .t = model_.averager.t(),
          .inbox = inbox_};
}

void Learner::restore(State state) {
  const size_t features = model_.w.size();
  if (state.w.size() != features || state.u.size() != features || state.sigma.size() != model_.sigma.diagonal().size())
    throw InputError("the state of a learner over other features");
  model_.w = std::move(state.w);
  model_.sigma.set_diagonal(std::move(state.sigma));
  model_.averager.restore(std::move(state.u), state.t);
  document_.set_counts(state.document);
  inbox_ = std::move(state.inbox);
}

}  // namespace hopefear
