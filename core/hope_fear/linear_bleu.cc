#include "hope_fear/linear_bleu.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "forest/each_sentence.h"
#include "forest/reachable.h"
#include "forest/semiring.h"

namespace hopefear {
namespace {

/// The sides on which a node can be next to other words: only there do its ends matter.
struct Sides {
  std::vector<uint8_t> left, right;
};

Sides open_sides(const Forest& forest, const Reachable& used) {
  const size_t nodes = forest.nodes();
  Sides open{std::vector<uint8_t>(nodes, 0), std::vector<uint8_t>(nodes, 0)};
  for (int32_t v = forest.goal(); v >= 0; --v)
    for (int32_t e = forest.edge_begin[v]; e < forest.edge_begin[v + 1]; ++e) {
      if (!used.edge[e]) continue;
      const auto words = forest.edge_words(e);
      for (size_t i = 0; i < words.size(); ++i) {
        if (words[i] >= 0) continue;
        const int32_t tail = forest.edge_tails(e)[slot_tail(words[i])];
        open.left[tail] |= i > 0 || open.left[v];
        open.right[tail] |= i + 1 < words.size() || open.right[v];
      }
    }
  return open;
}

/// The relevant part of a state: all lengths of K and more are equivalent for counts of n-grams.
Boundary reduced(Boundary state, bool left, bool right, int K) {
  if (!left) state.left = BoundaryAutomaton::kRoot;
  if (!right) state.right = BoundaryAutomaton::kRoot;
  state.length = left || right ? std::min(state.length, static_cast<double>(K)) : 0.0;
  return state;
}

bool operator==(const Boundary& a, const Boundary& b) { return a.length == b.length && a.left == b.left && a.right == b.right; }

/// Joins the words of an edge and the states of its tails.
template <class TailState>
Boundary join_edge(const Forest& forest, int32_t e, const BoundaryAutomaton& automaton, double* matches, TailState&& tail_state) {
  BoundaryJoin join(automaton, matches);
  for (int32_t word : forest.edge_words(e)) {
    if (word >= 0)
      join.add(word);
    else
      join.add(tail_state(slot_tail(word)));
  }
  return join.state();
}

}  // namespace

EdgeGains linear_gains(const Forest& forest, const BoundaryAutomaton& automaton, std::span<const double> lambda,
                       std::span<const double> scores) {
  const int K = automaton.max_order();
  const size_t nodes = forest.nodes();
  const Reachable used = reachable(forest, [](int32_t) { return true; });
  const Sides open = open_sides(forest, used);
  EdgeGains out;
  out.gains.assign(forest.edges(), 0.0);
  std::vector<Boundary> state(nodes);
  std::vector<double> best(nodes, kLogZero), matches(K);
  for (int32_t v = 0; v < forest.nodes(); ++v) {
    bool first = true;
    Boundary common;
    for (int32_t e = forest.edge_begin[v]; e < forest.edge_begin[v + 1]; ++e) {
      if (!used.edge[e]) continue;
      const auto tails = forest.edge_tails(e);
      std::fill(matches.begin(), matches.end(), 0.0);
      const Boundary joined = join_edge(forest, e, automaton, matches.data(), [&](size_t t) { return state[tails[t]]; });
      double gain = 0.0, score = scores[e];
      for (int32_t tail : tails) score += best[tail];
      for (int k = 0; k < K; ++k) {
        double n = ngram_count(joined.length, k);
        for (int32_t tail : tails) n -= ngram_count(state[tail].length, k);
        gain += lambda[k] * matches[k] + lambda[K + k] * n;
      }
      out.gains[e] = gain;
      const Boundary here = reduced(joined, open.left[v], open.right[v], K);
      out.exact = out.exact && (first || here == common);
      common = here;
      if (first || score > best[v]) {
        best[v] = score;
        state[v] = joined;
        state[v].length = std::min(joined.length, static_cast<double>(K));
      }
      first = false;
    }
  }
  return out;
}

namespace {

/// Moves to the next combination of variants of these tails; false after the last.
bool next_choice(std::vector<int32_t>& choice, std::span<const int32_t> tails,
                 const std::vector<std::vector<int32_t>>& variants) {
  for (size_t t = tails.size(); t-- > 0;) {
    if (++choice[t] < static_cast<int32_t>(variants[tails[t]].size())) return true;
    choice[t] = 0;
  }
  return false;
}

}  // namespace

Split split_by_ngrams(const Forest& forest, const BoundaryAutomaton& automaton, int64_t max_edges) {
  const int K = automaton.max_order();
  const Reachable used = reachable(forest, [](int32_t) { return true; });
  const Sides open = open_sides(forest, used);
  const size_t nodes = forest.nodes();
  ForestBuilder builder(forest.vocab, forest.features, forest.dense_width, forest.number_width);
  Split out;
  struct NewEdge {
    size_t variant;
    int32_t edge;
    size_t tails;  // where they begin in new_tails
  };
  std::vector<Boundary> states;                       // of new nodes
  std::vector<std::vector<int32_t>> variants(nodes);  // the new nodes of an old one
  std::vector<double> scratch(K);
  std::vector<int32_t> new_tails, choice;
  std::vector<NewEdge> edges;
  for (int32_t v = 0; v < forest.nodes(); ++v) {
    if (!used.node[v]) continue;
    std::map<std::tuple<double, int32_t, int32_t>, size_t> known;  // places in boundaries
    std::vector<Boundary> boundaries;
    edges.clear();
    new_tails.clear();
    for (int32_t e = forest.edge_begin[v]; e < forest.edge_begin[v + 1]; ++e) {
      if (!used.edge[e]) continue;
      const auto tails = forest.edge_tails(e);
      choice.assign(tails.size(), 0);
      for (bool more = true; more;) {  // every combination of variants of the tails
        if (static_cast<int64_t>(out.origin.size() + edges.size()) >= max_edges)
          throw InputError("a forest of " + std::to_string(forest.edges()) + " edges has more than " + std::to_string(max_edges) +
                           " after splitting its nodes by n-grams. Prune it first");
        const auto chosen = [&](size_t t) { return variants[tails[t]][choice[t]]; };
        const Boundary state =
            reduced(join_edge(forest, e, automaton, scratch.data(), [&](size_t t) { return states[chosen(t)]; }), open.left[v],
                    open.right[v], K);
        const auto [it, added] = known.emplace(std::make_tuple(state.length, state.left, state.right), boundaries.size());
        if (added) boundaries.push_back(state);
        edges.push_back({it->second, e, new_tails.size()});
        for (size_t t = 0; t < tails.size(); ++t) new_tails.push_back(chosen(t));
        more = next_choice(choice, tails, variants);
      }
    }
    std::stable_sort(edges.begin(), edges.end(), [](const NewEdge& a, const NewEdge& b) { return a.variant < b.variant; });
    size_t i = 0;
    for (size_t variant = 0; variant < boundaries.size(); ++variant) {
      variants[v].push_back(builder.copy_node(forest, v));
      states.push_back(boundaries[variant]);
      for (; i < edges.size() && edges[i].variant == variant; ++i) {
        const size_t arity = forest.edge_tails(edges[i].edge).size();
        builder.copy_edge(forest, edges[i].edge, {new_tails.data() + edges[i].tails, arity});
        out.origin.push_back(edges[i].edge);
      }
    }
  }
  if (states.empty()) builder.add_node();  // no derivation, but there is always a goal
  out.forest = builder.finish();
  return out;
}

EdgeGains linear_gains(const Pool& pool, const double* w, int max_order, std::span<const double> lambda, int jobs) {
  std::vector<EdgeGains> each(pool.size());
  each_sentence(pool, jobs, [&](size_t i, const Sentence& s) {
    std::vector<double> scores(s.forest.edges());
    edge_scores(s.forest, w, scores.data());
    each[i] = linear_gains(s.forest, BoundaryAutomaton(at_least_one(s.references), max_order), lambda, scores);
  });
  EdgeGains all;
  for (const EdgeGains& one : each) {
    all.gains.insert(all.gains.end(), one.gains.begin(), one.gains.end());
    all.exact = all.exact && one.exact;
  }
  return all;
}

Pool split_by_ngrams(const Pool& pool, int max_order, int64_t max_edges, int jobs) {
  Pool out = pool;
  each_sentence(pool, jobs, [&](size_t i, const Sentence& s) {
    const BoundaryAutomaton automaton(at_least_one(s.references), max_order);
    out.sentences[i].forest = split_by_ngrams(s.forest, automaton, max_edges).forest;
  });
  return out;
}

}  // namespace hopefear
