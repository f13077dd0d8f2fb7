// The score that decoding by block sequences maximises: eq. (1) of Tillmann and Zhang 2006, for block_search.h.
#pragma once
#include <array>
#include <cstdint>

#include "blocks/block_search.h"
#include "blocks/block_weights.h"

namespace hopefear {

/// L language models have weights.
template <size_t L>
class ModelScorer {
 public:
  struct State {
    int32_t c, d;  // the last two target words
    std::array<LmContext, L> lm;
  };

  ModelScorer(const BlockModel& model, const BlockWeights& w) : m_(model), w_(w), which_(model.which()) {}

  State start() const {
    State state{kNothing, kBosWord, {}};
    for (size_t l = 0; l < L; ++l) state.lm[l] = m_.lm(l).begin_sentence();
    return state;
  }

  void option(BlockOption& option) const {
    if (w_.inside() && !option.copy) {
      option.score = w_.inside()[option.rule];
    } else {
      option.view.target_hash = m_.target_hash(option.view.target);
      option.score = w_.inside(m_, option.view, option.rule, option.copy);
    }
    option.rank = option.score;
    for (size_t l = 0; l < L; ++l) {  // the words of the block alone
      LmContext out;
      option.rank += w_.real(kLm + l) * kLn10 * m_.lm_score(l, {}, option.view.target, out);
    }
  }

  double extend(double score, const State& state, const BlockOption* before, const BlockOption& option, Orientation o,
                int32_t jump, int32_t, State& next) const {
    double sum = score + option.score;
    uint64_t keys[16];
    int n = 0;
    KeySink sink{[&](uint64_t key) {
      w_.table().prefetch(key);
      keys[n++] = key;
    }};
    FeatureEmitter<BlockModel, decltype(sink)>(m_, which_, sink)
        .between(before ? &before->view : nullptr, state.c, state.d, option.view, o, jump);
    if (o == Orientation::left) sum += w_.real(kSwap);
    const auto target = option.view.target;
    next.c = target.size() > 1 ? target[target.size() - 2] : state.d;
    next.d = target.back();
    for (size_t l = 0; l < L; ++l) sum += w_.real(kLm + l) * kLn10 * m_.lm_score(l, state.lm[l], target, next.lm[l]);
    for (int k = 0; k < n; ++k) sum += w_.table().get(keys[k]);
    return sum;
  }

  double finish(double score, const State& state, const BlockOption* before) const {
    if (!before) return score;  // an empty sentence
    KeySink sink{[&](uint64_t key) { score += w_.table().get(key); }};
    FeatureEmitter<BlockModel, decltype(sink)>(m_, which_, sink).end(&before->view, state.c, state.d);
    for (size_t l = 0; l < L; ++l) {
      LmContext out;
      score += w_.real(kLm + l) * kLn10 * m_.lm(l).score(state.lm[l], kEos, out).prob;
    }
    return score;
  }

  uint64_t hash(const State& state, const BlockOption& option) const {
    uint64_t h = 0;
    if (which_.phrase) h = option.copy ? ~static_cast<uint64_t>(option.view.target[0]) : option.rule;
    if (which_.word)
      h = mix_key(h + static_cast<uint64_t>(static_cast<uint32_t>(state.c)) * 0x9fb21c651e98df25ULL) +
          static_cast<uint32_t>(state.d);
    for (size_t l = 0; l < L; ++l) h = state.lm[l].hash(h);
    return h;
  }
  bool same(const State& a, const BlockOption& of_a, const State& b, const BlockOption& of_b) const {
    if (which_.phrase && (of_a.copy != 0) != (of_b.copy != 0)) return false;
    if (which_.phrase && (of_a.copy ? of_a.view.target[0] != of_b.view.target[0] : of_a.rule != of_b.rule)) return false;
    if (which_.word && (a.c != b.c || a.d != b.d)) return false;
    for (size_t l = 0; l < L; ++l)
      if (!(a.lm[l] == b.lm[l])) return false;
    return true;
  }

 private:
  const BlockModel& m_;
  const BlockWeights& w_;
  const BlockFeatures which_;
};

/// body(search) with the scorer that these weights need.
template <class Body>
auto with_search(const BlockModel& model, const BlockWeights& w, Body&& body) {
  const auto run = [&](auto scorer) {
    BlockSearch<decltype(scorer)> search(model, scorer);
    return body(search);
  };
  if (model.lms() == 2) return run(ModelScorer<2>(model, w));
  if (model.lms() == 1) return run(ModelScorer<1>(model, w));
  return run(ModelScorer<0>(model, w));
}

}  // namespace hopefear
