#include "hope_fear/forest_consensus.h"

#include <algorithm>

#include "forest/expectations.h"
#include "forest/kbest.h"
#include "hope_fear/linear_bleu.h"
#include "metrics/consensus.h"

namespace hopefear {
namespace {

constexpr int kOrder = 4;

double gain(const BoundaryAutomaton& automaton, const ExpectedNgrams& expected, std::span<const int32_t> words) {
  std::vector<int32_t> seen;
  for (size_t i = 0; i < words.size(); ++i) {
    int32_t state = BoundaryAutomaton::kRoot;
    for (size_t j = i; j < words.size() && j < i + kOrder; ++j) seen.push_back(state = automaton.child(state, words[j]));
  }
  std::sort(seen.begin(), seen.end());
  double matches[kOrder] = {};
  for (auto it = seen.begin(); it != seen.end();) {
    const auto end = std::upper_bound(it, seen.end(), *it);
    matches[automaton.order(*it) - 1] += std::min(static_cast<double>(end - it), expected.count[*it]);
    it = end;
  }
  return sentence_bleu(matches, static_cast<double>(words.size()), expected.length);
}

}  // namespace

ExpectedNgrams expected_ngrams(const Forest& forest, const double* w, double scale, const BoundaryAutomaton& automaton,
                               int64_t max_edges) {
  const Split split = split_by_ngrams(forest, automaton, max_edges);
  const Forest& f = split.forest;
  std::vector<double> scores(split.origin.size());
  for (size_t e = 0; e < scores.size(); ++e) scores[e] = scale * forest.edge_score(split.origin[e], w);
  Expectations x;
  posteriors(f, scores, x);
  ExpectedNgrams out;
  out.count.assign(automaton.ngrams().size(), 0.0);
  std::vector<Boundary> state(f.nodes());
  for (int32_t v = 0; v < f.nodes(); ++v)
    for (int32_t e = f.edge_begin[v]; e < f.edge_begin[v + 1]; ++e) {
      const double p = x.edge[e];
      BoundaryJoinTo join(automaton, [&](int32_t at, int32_t first) {
        for (; automaton.order(at) >= first; at = automaton.suffix(at)) out.count[at] += p;
      });
      for (int32_t word : f.edge_words(e)) {
        if (word >= 0) {
          join.add(word);
          out.length += p;
        } else {
          join.add(state[f.edge_tails(e)[slot_tail(word)]]);
        }
      }
      state[v] = join.state();
      state[v].length = std::min(state[v].length, static_cast<double>(automaton.max_order()));
    }
  return out;
}

ConsensusCandidates forest_consensus(const Forest& forest, const double* w, double scale, int64_t k, int64_t max_edges) {
  ConsensusCandidates out;
  for (const Derivation& derivation : kbest(forest, w, k, true)) out.texts.push_back(yield(forest, derivation.edges));
  if (out.texts.empty()) return out;
  const BoundaryAutomaton automaton(out.texts, kOrder);
  const ExpectedNgrams expected = expected_ngrams(forest, w, scale, automaton, max_edges);
  for (const auto& words : out.texts) out.gains.push_back(gain(automaton, expected, words));
  return out;
}

}  // namespace hopefear
