// The algorithms on a forest, as methods of Forest.
#include "algorithms.h"
#include "forest/inside_outside.h"
#include "forest/kbest.h"
#include "forest/sample.h"
#include "forest/viterbi.h"
#include "hope_fear/linear_bleu.h"

namespace hopefear {
namespace {

using Texts = std::vector<std::string>;

std::vector<double> checked_scores(const Forest& forest, const double* w, double temperature, double mu = 0.0,
                                   std::span<const double> gains = {}) {
  check_temperature(temperature);
  std::vector<double> scores;
  model_scores(forest, w, gains, temperature, mu, scores);
  return scores;
}

std::span<const double> gains_of(const Forest& forest, const std::optional<In<double>>& gains, double scale) {
  const auto b = optional_view(gains);
  check_finite(b, "the gains");
  if (!std::isfinite(scale)) throw InputError("the scale of the gains must be a finite number");
  if (gains && b.size() != static_cast<size_t>(forest.edges()))
    throw InputError("there are " + std::to_string(b.size()) + " gains for " + std::to_string(forest.edges()) + " edges");
  return b;
}

nb::list bound(const Forest& forest, std::vector<Derivation>&& derivations) {
  nb::list all;
  for (Derivation& d : derivations) all.append(BoundDerivation{forest, std::move(d)});
  return all;
}

/// Words that the forest does not know can never match.
References reference_words(const Forest& forest, const Texts& texts) {
  References all;
  for (const std::string& text : texts) all.push_back(find_words(text, *forest.vocab));
  return all;
}

template <class Ask>
auto ask_hope_fear(const Forest& f, Weights& w, const Texts& references, const OracleDocument& document, double mu,
                   const std::string& approximation, int64_t k, Ask&& ask) {
  const double* weights = w.over(*f.features);
  const References words = reference_words(f, references);
  const Approximation how = approximation_by_name(approximation);
  check_k(k);
  check_mu(mu);
  Release release;
  HopeFear search(f, words, weights, document, how, static_cast<int>(k));
  return ask(search);
}

void bind_best(nb::class_<Forest>& forest) {
  forest
      .def(
          "viterbi",
          [](const Forest& f, Weights w, std::optional<In<double>> gains, double scale) {
            const double* weights = w.over(*f.features);
            const auto b = gains_of(f, gains, scale);
            Release release;
            if (b.empty()) return BoundDerivation{f, viterbi(f, weights)};
            const std::vector<double> scores = checked_scores(f, weights, 1.0, scale, b);
            Viterbi result;
            viterbi(f, [&](int32_t e) { return scores[e]; }, result);
            return BoundDerivation{f, viterbi_derivation(f, result)};
          },
          "w"_a, "gains"_a = nb::none(), "scale"_a = 1.0,
          "The best derivation by w.h(d), plus scale times the gains of its edges if they are given. Among equals the "
          "lowest edge index wins, at every node.\n\n"
          ">>> decoder = hf.Hiero(\"translator\")\n"
          ">>> forest = decoder.decode([\"Das Haus steht hier.\"])[0]\n"
          ">>> forest.viterbi(decoder.weights)\n"
          "<Derivation 3.951396: the house stands here .>")
      .def(
          "kbest",
          [](const Forest& f, Weights w, int64_t k, bool distinct, std::optional<In<double>> gains, double scale) {
            const double* weights = w.over(*f.features);
            const auto b = gains_of(f, gains, scale);
            std::vector<Derivation> best;
            {
              Release release;
              best = kbest(f, checked_scores(f, weights, 1.0, scale, b), k, distinct);
            }
            return DerivationList(bound(f, std::move(best)));
          },
          "w"_a, "k"_a, "distinct"_a = false, "gains"_a = nb::none(), "scale"_a = 1.0,
          "The k best derivations, best first, or all if there are fewer; with `distinct`, the best of each string. What "
          "counts is w.h(d), plus scale times the gains of the edges if they are given.\n\n"
          ">>> decoder = hf.Hiero(\"translator\")\n"
          ">>> forest = decoder.decode([\"Das Haus steht hier.\"])[0]\n"
          ">>> [each.text for each in forest.kbest(decoder.weights, 2, distinct=True)]\n"
          "['the house stands here .', 'the haus stands here .']")
      .def(
          "iter_kbest",
          [](const Forest& f, Weights w, bool distinct, std::optional<In<double>> gains, double scale) {
            const double* weights = w.over(*f.features);
            return KBest(f, checked_scores(f, weights, 1.0, scale, gains_of(f, gains, scale)), distinct);
          },
          "w"_a, "distinct"_a = false, "gains"_a = nb::none(), "scale"_a = 1.0,
          "As kbest, but one derivation at a time: stop whenever you have seen enough.")
      .def(
          "envelope",
          [](const Forest& f, Weights w, Weights direction) {
            const double* origin = w.over(*f.features);
            const double* along = direction.over(*f.features);
            Release release;
            return BoundEnvelope{f, envelope(f, origin, along)};
          },
          "w"_a, "direction"_a,
          "Which derivation is best under w + x * direction, for every x: the upper envelope of their lines.");
}

void bind_sums(nb::class_<Forest>& forest) {
  forest
      .def(
          "inside",
          [](const Forest& f, Weights w, double temperature) {
            const double* weights = w.over(*f.features);
            std::vector<double> node, edge;
            {
              Release release;
              const auto scores = checked_scores(f, weights, temperature);
              inside<Log>(f, [&](int32_t e) { return scores[e]; }, node, edge);
            }
            return give(std::move(node));
          },
          "w"_a, "temperature"_a = 1.0, "log inside(v) of every node; -inf where there is no derivation. The last is log Z.")
      .def(
          "outside",
          [](const Forest& f, Weights w, double temperature) {
            const double* weights = w.over(*f.features);
            std::vector<double> node, edge, out;
            {
              Release release;
              const auto scores = checked_scores(f, weights, temperature);
              const auto value = [&](int32_t e) { return scores[e]; };
              inside<Log>(f, value, node, edge);
              outside<Log>(f, value, node, out);
            }
            return give(std::move(out));
          },
          "w"_a, "temperature"_a = 1.0, "log outside(v) of every node; -inf for a node that the goal never uses.")
      .def(
          "log_z",
          [](const Forest& f, Weights w, double temperature) {
            const double* weights = w.over(*f.features);
            Expectations x;
            {
              Release release;
              log_inside(f, checked_scores(f, weights, temperature), x);
            }
            return x.log_z;
          },
          "w"_a, "temperature"_a = 1.0, "The logarithm of the sum of exp(w.h(d) / T) over all derivations.");
}

void bind_expectations(nb::class_<Forest>& forest) {
  forest
      .def(
          "posteriors",
          [](const Forest& f, Weights w, double temperature) {
            const double* weights = w.over(*f.features);
            Expectations x;
            {
              Release release;
              posteriors(f, checked_scores(f, weights, temperature), x);
            }
            return std::make_pair(give(std::move(x.node)), give(std::move(x.edge)));
          },
          "w"_a, "temperature"_a = 1.0,
          "How often a random derivation uses each node and each edge: a pair of arrays. These are probabilities, unless a "
          "derivation can use a node twice.")
      .def(
          "expectations",
          [](const Forest& f, Weights w, std::optional<In<double>> gains, double temperature, double mu) {
            const double* weights = w.over(*f.features);
            const auto b = gains_of(f, gains, mu);
            check_temperature(temperature);
            Release release;
            return expectations(f, weights, b, temperature, mu);
          },
          "w"_a, "gains"_a = nb::none(), "temperature"_a = 1.0, "mu"_a = 0.0,
          "E[B], E[h] and E[Bh] under P(d) proportional to exp((w.h(d) + mu B(d)) / T), where `gains` holds B(e) of every edge.");
}

void bind_hope_fear(nb::class_<Forest>& forest) {
  forest
      .def(
          "hope",
          [](const Forest& f, Weights w, const Texts& references, const OracleDocument& document, double mu,
             const std::string& approximation, int64_t k) {
            return ask_hope_fear(f, w, references, document, mu, approximation, k,
                                 [&](HopeFear& search) { return BoundRated(f, search.find(mu)); });
          },
          "w"_a, "references"_a, "document"_a, "mu"_a = kHopeMu, nb::kw_only(), "approximation"_a = kApproximation,
          "k"_a = kCandidates,
          "argmax of w.h(d) + mu loss(d): a good derivation of a good translation. `approximation`: forest (reranking), "
          "linear (BLEU) or kbest (derivations).")
      .def(
          "fear",
          [](const Forest& f, Weights w, const Texts& references, const OracleDocument& document, double mu,
             const std::string& approximation, int64_t k) {
            return ask_hope_fear(f, w, references, document, mu, approximation, k,
                                 [&](HopeFear& search) { return BoundRated(f, search.find(mu)); });
          },
          "w"_a, "references"_a, "document"_a, "mu"_a = 1.0, nb::kw_only(), "approximation"_a = kApproximation,
          "k"_a = kCandidates, "argmax of w.h(d) + mu loss(d): a bad translation that the model likes.")
      .def(
          "hope_fear",
          [](const Forest& f, Weights w, const Texts& references, const OracleDocument& document, double mu,
             const std::string& approximation, int64_t k) {
            return ask_hope_fear(f, w, references, document, mu, approximation, k, [&](HopeFear& search) {
              return BoundTriple{{f, search.find(mu)}, {f, search.find(0.0)}, {f, search.find(1.0)}};
            });
          },
          "w"_a, "references"_a, "document"_a, "mu"_a = kHopeMu, nb::kw_only(), "approximation"_a = kApproximation,
          "k"_a = kCandidates, "Hope, best and fear at once. `mu` is that of hope.")
      .def(
          "max_bleu",
          [](const Forest& f, Weights w, const Texts& references, const OracleDocument& document,
             const std::string& approximation, int64_t k) {
            return ask_hope_fear(f, w, references, document, 0.0, approximation, k,
                                 [&](HopeFear& search) { return BoundRated(f, search.max_bleu()); });
          },
          "w"_a, "references"_a, "document"_a, nb::kw_only(), "approximation"_a = kApproximation, "k"_a = kCandidates,
          "argmax of B; the weights only decide between equals.");
}

void bind_linear_bleu(nb::class_<Forest>& forest) {
  forest
      .def(
          "linear_gains",
          [](const Forest& f, Weights w, const Texts& references, const OracleDocument& document) {
            const auto scores = checked_scores(f, w.over(*f.features), 1.0);
            const BoundaryAutomaton automaton(at_least_one(reference_words(f, references)), document.max_order());
            EdgeGains gains = linear_gains(f, automaton, linear_weights(document), scores);
            return std::make_pair(give(std::move(gains.gains)), gains.exact);
          },
          "w"_a, "references"_a, "document"_a,
          "Linear BLEU as a gain on every edge, and whether it is exact: it is where nodes fix the words at their ends (see "
          "split_by_ngrams).")
      .def(
          "split_by_ngrams",
          [](const Forest& f, const Texts& references, int max_order, int64_t max_edges) {
            check_order(max_order);
            const BoundaryAutomaton automaton(at_least_one(reference_words(f, references)), max_order);
            Split split = split_by_ngrams(f, automaton, max_edges);
            return std::make_pair(std::move(split.forest), give(std::move(split.origin)));
          },
          "references"_a, "max_order"_a = kMaxOrder, "max_edges"_a = kMaxSplitEdges,
          "The same derivations over nodes that fix which n-grams of the references can grow from their ends: a forest, and "
          "the old edge of each of its edges.");
}

void bind_smaller(nb::class_<Forest>& forest) {
  forest
      .def(
          "sample",
          [](const Forest& f, Weights w, int64_t count, uint64_t seed, double temperature) {
            const double* weights = w.over(*f.features);
            check_count(count);
            check_temperature(temperature);
            std::vector<Derivation> drawn;
            {
              Release release;
              drawn = sample(f, weights, count, temperature, seed);
            }
            return DerivationList(bound(f, std::move(drawn)));
          },
          "w"_a, "count"_a, "seed"_a, "temperature"_a = 1.0,
          "Random derivations, drawn with probability proportional to exp(w.h(d) / T).")
      .def(
          "pruned",
          [](const Forest& f, Weights w, std::optional<double> beam, std::optional<double> posterior,
             std::optional<int64_t> max_edges, double temperature) {
            const double* weights = w.over(*f.features);
            const PruneOptions options = prune_options(beam, posterior, max_edges, temperature);
            Release release;
            return pruned(f, weights, options).forest;
          },
          "w"_a, nb::kw_only(), "beam"_a = nb::none(), "posterior"_a = nb::none(), "max_edges"_a = nb::none(),
          "temperature"_a = 1.0,
          "Without the edges whose best derivation is worse than the best score less `beam`, that a random derivation uses "
          "less often than `posterior`, or that are not among the best `max_edges`. The best derivation stays; what is in "
          "no derivation goes.")
      .def(
          "reachable", [](const Forest& f) { return restricted(f, reachable(f, [](int32_t) { return true; })).forest; },
          "Without nodes and edges that are in no derivation.")
      .def(
          "count_derivations",
          [](const Forest& f) {
            std::vector<double> node, edge;
            inside<Count>(f, [](int32_t) { return 1.0; }, node, edge);
            return node.back();
          },
          "The number of derivations: exact below 2^53, inf beyond 1e308.");
}

}  // namespace

void add_forest_methods(nb::class_<Forest>& forest) {
  bind_best(forest);
  bind_sums(forest);
  bind_expectations(forest);
  bind_hope_fear(forest);
  bind_linear_bleu(forest);
  bind_smaller(forest);
}

}  // namespace hopefear
