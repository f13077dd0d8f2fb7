#include "hope_fear/hope_fear.h"

#include <algorithm>
#include <cmath>

#include "forest/each_sentence.h"
#include "forest/kbest.h"
#include "forest/viterbi.h"

namespace hopefear {

Approximation approximation_by_name(const std::string& name) {
  if (name == "forest") return Approximation::forest;
  if (name == "linear") return Approximation::linear;
  if (name == "kbest") return Approximation::kbest;
  throw InputError("approximation must be forest, linear or kbest, not " + name);
}

HopeFear::HopeFear(const Forest& forest, const References& references, const double* w, const OracleDocument& document,
                   Approximation approximation, int k)
    : forest_(forest),
      document_(document),
      automaton_(at_least_one(references), document.max_order()),
      counter_(automaton_.ngrams(), document.max_order(), ReferenceLength::closest),
      approximation_(approximation),
      k_(k),
      w_(w),
      scores_(forest.edges()) {
  edge_scores(forest, w, scores_.data());
  if (approximation == Approximation::linear) {
    linear_.resize(document.size());
    document.linear(linear_.data());
  }
}

void HopeFear::reweigh() {
  edge_scores(forest_, w_, scores_.data());
  kbest_.clear();
}

double HopeFear::gain_of(const double* b) const {
  if (linear_.empty()) return document_.B(b);
  double gain = 0.0;
  for (size_t i = 0; i < linear_.size(); ++i) gain += linear_[i] * b[i];
  return gain;
}

Rated HopeFear::rate(Derivation&& derivation) {
  Rated rated;
  rated.b.resize(document_.size());
  counter_.stats(yield(forest_, derivation.edges), rated.b.data());
  rated.gain = document_.B(rated.b.data());
  rated.derivation = std::move(derivation);
  return rated;
}

Rated HopeFear::search(double model, double gain) {
  if (model == 1.0 && gain == 0.0) {
    Viterbi result;
    viterbi(forest_, [this](int32_t e) { return scores_[e]; }, result);
    return rate(viterbi_derivation(forest_, result));
  }
  if (approximation_ == Approximation::kbest) return search_kbest(model, gain);
  if (forest_.is_list() && approximation_ == Approximation::forest) return search_list(model, gain);
  return search_forest(model, gain);
}

Rated HopeFear::search_list(double model, double gain) {
  if (forest_.edges() == 0) throw InputError("the list has no candidate");
  const auto size = document_.size();
  if (list_stats_.empty()) {
    list_stats_.resize(forest_.edges() * size);
    for (int32_t e = 0; e < forest_.edges(); ++e) counter_.stats(forest_.edge_words(e), list_stats_.data() + e * size);
  }
  size_t best = 0;
  double best_phi = kLogZero;
  for (size_t e = 0; e < scores_.size(); ++e) {
    const double phi = model * scores_[e] + gain * gain_of(list_stats_.data() + e * size);
    if (phi > best_phi || (phi == best_phi && scores_[e] > scores_[best])) {
      best = e;
      best_phi = phi;
    }
  }
  return rate({scores_[best], {static_cast<int32_t>(best)}});
}

Rated HopeFear::search_kbest(double model, double gain) {
  if (kbest_.empty()) kbest_ = kbest(forest_, w_, k_, false);
  if (kbest_.empty()) throw_no_derivation();
  std::optional<Rated> best;
  double best_phi = kLogZero;
  for (const Derivation& derivation : kbest_) {  // by descending w.h: the first of several equal ones has the highest
    Rated rated = rate(Derivation(derivation));
    const double phi = model * derivation.score + gain * rated.gain;
    if (best && !(phi > best_phi)) continue;
    best_phi = phi;
    best = std::move(rated);
  }
  return *best;
}

/// rho of every node, eq. (19): the share |f(v)| / |f| of the average reference length.
void HopeFear::share_source() {
  const size_t nodes = forest_.nodes();
  const double rho = automaton_.average_length();
  rho_.assign(nodes, rho);
  if (forest_.source_length() > 0) {
    for (size_t v = 0; v < nodes; ++v)
      rho_[v] = rho * (forest_.spans[2 * v + 1] - forest_.spans[2 * v]) / forest_.source_length();
    return;
  }
  // Without spans: words below the node over all words, in the best derivation that uses it.
  std::vector<double> below(nodes, 0.0), above(nodes, 0.0), outside(nodes, kLogZero);
  const auto own = [&](int32_t e) {
    const auto words = forest_.edge_words(e).size();
    return static_cast<double>(words - forest_.edge_tails(e).size());
  };
  Viterbi inside;
  viterbi(forest_, [this](int32_t e) { return scores_[e]; }, inside);
  for (size_t v = 0; v < nodes; ++v) {
    if (inside.back[v] < 0) continue;
    below[v] = own(inside.back[v]);
    for (int32_t tail : forest_.edge_tails(inside.back[v])) below[v] += below[tail];
  }
  outside[nodes - 1] = 0.0;
  for (int32_t v = forest_.goal(); v >= 0; --v) {
    if (outside[v] == kLogZero) continue;
    for (int32_t e = forest_.edge_begin[v]; e < forest_.edge_begin[v + 1]; ++e) {
      double score = outside[v] + scores_[e], length = above[v] + own(e);
      for (int32_t tail : forest_.edge_tails(e)) {
        score += inside.best[tail];
        length += below[tail];
      }
      if (score == kLogZero) continue;
      for (int32_t tail : forest_.edge_tails(e)) {
        if (score - inside.best[tail] > outside[tail]) {
          outside[tail] = score - inside.best[tail];
          above[tail] = length - below[tail];
        }
      }
    }
  }
  for (size_t v = 0; v < nodes; ++v)
    if (below[v] + above[v] > 0.0) rho_[v] = rho * below[v] / (below[v] + above[v]);
}

/// The dynamic program of 5.2.
Rated HopeFear::search_forest(double model, double gain) {
  if (rho_.empty()) share_source();
  const size_t nodes = forest_.nodes();
  const int K = document_.max_order();
  std::vector<double> score(nodes, kLogZero);  // w.h of vderiv(v)
  std::vector<double> matches(nodes * K, 0.0);
  std::vector<Boundary> state(nodes);
  std::vector<int32_t> back(nodes, -1);
  std::vector<double> b(document_.size());
  double* n = b.data() + K;
  for (int32_t v = 0; v < forest_.nodes(); ++v) {
    double best_phi = kLogZero;
    for (int32_t e = forest_.edge_begin[v]; e < forest_.edge_begin[v + 1]; ++e) {
      const auto tails = forest_.edge_tails(e);
      double s = scores_[e];
      std::fill_n(b.begin(), K, 0.0);
      bool alive = true;
      for (int32_t tail : tails) {
        alive = alive && back[tail] >= 0;
        s += score[tail];
        const double* below = matches.data() + size_t(tail) * K;
        for (int k = 0; k < K; ++k) b[k] += below[k];
      }
      if (!alive) continue;
      BoundaryJoin join(automaton_, b.data());
      for (int32_t word : forest_.edge_words(e)) {
        if (word >= 0)
          join.add(word);
        else
          join.add(state[tails[slot_tail(word)]]);
      }
      for (int k = 0; k < K; ++k) n[k] = ngram_count(join.state().length, k);
      n[K] = rho_[v];
      const double phi = model * s + gain * gain_of(b.data());
      if (phi > best_phi || (phi == best_phi && s > score[v])) {
        best_phi = phi;
        back[v] = e;
        score[v] = s;
        state[v] = join.state();
        std::copy_n(b.begin(), K, matches.data() + size_t(v) * K);
      }
    }
  }
  return rate(viterbi_derivation(forest_, Viterbi{std::move(score), std::move(back)}));
}

std::vector<HopeFearTriple> hope_fear(const Pool& pool, const double* w, const OracleDocument& document, double mu,
                                      Approximation approximation, int k, int jobs) {
  std::vector<HopeFearTriple> all(pool.size());
  each_sentence(pool, jobs, [&](size_t i, const Sentence& s) {
    HopeFear search(s.forest, s.references, w, document, approximation, k);
    all[i] = {search.find(mu), search.find(0.0), search.find(1.0)};
  });
  return all;
}

std::vector<Rated> max_bleu(const Pool& pool, const double* w, const OracleDocument& document, Approximation approximation, int k,
                            int jobs) {
  std::vector<Rated> all(pool.size());
  each_sentence(pool, jobs, [&](size_t i, const Sentence& s) {
    all[i] = HopeFear(s.forest, s.references, w, document, approximation, k).max_bleu();
  });
  return all;
}

}  // namespace hopefear
