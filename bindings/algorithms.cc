// The questions one can ask of a forest, as methods of Forest, and of all forests of a pool, as methods of Pool.
#include "derivations.h"
#include "envelope.h"
#include "expectations.h"
#include "hope_fear.h"
#include "inside_outside.h"
#include "kbest.h"
#include "linear_bleu.h"
#include "parallel.h"
#include "prune.h"
#include "sample.h"
#include "viterbi.h"
#include "weights.h"

namespace hopefear {
namespace {

using Release = nb::gil_scoped_release;

/// (w.h(e) + mu B(e)) / T for every edge.
std::vector<double> model_scores(const Forest& forest, const double* w, double temperature, double mu, std::span<const double> gains) {
  if (!(temperature > 0.0) || !std::isfinite(temperature)) throw InputError("the temperature must be a positive number");
  std::vector<double> scores(static_cast<size_t>(forest.edges()));
  edge_scores(forest, w, scores.data());
  for (size_t e = 0; e < scores.size(); ++e) scores[e] = (gains.empty() ? scores[e] : scores[e] + mu * gains[e]) / temperature;
  return scores;
}

std::span<const double> optional_view(const std::optional<In<double>>& array) {
  return array ? view(*array) : std::span<const double>{};
}

void check_finite(std::span<const double> values, const char* what) {
  for (double x : values)
    if (!std::isfinite(x)) throw InputError(std::string(what) + " hold NaN or infinity");
}

std::span<const double> gains_of(const Forest& forest, const std::optional<In<double>>& gains, double scale) {
  const auto b = optional_view(gains);
  check_finite(b, "the gains");
  if (!std::isfinite(scale)) throw InputError("the scale of the gains must be a finite number");
  if (gains && b.size() != static_cast<size_t>(forest.edges()))
    throw InputError("there are " + std::to_string(b.size()) + " gains for " + std::to_string(forest.edges()) + " edges");
  return b;
}

/// E[h] and E[Bh] of one forest, dense vectors over all features.
struct BoundExpectations {
  double log_z, gain;
  std::vector<double> features, gain_features, gradient, nodes, edges, covariances;
};

BoundExpectations forest_expectations(const Forest& forest, const double* w, std::span<const double> gains, double temperature, double mu) {
  const std::vector<double> scores = model_scores(forest, w, temperature, mu, gains);
  Expectations x;
  const std::vector<double> none(gains.empty() ? static_cast<size_t>(forest.edges()) : 0, 0.0);
  expectations(forest, scores, gains.empty() ? std::span<const double>(none) : gains, x);
  BoundExpectations out{x.log_z, x.gain, {}, {}, {}, {}, {}, {}};
  const auto width = static_cast<size_t>(forest.features->size());
  out.features.assign(width, 0.0);
  out.gradient.assign(width, 0.0);
  out.gain_features.assign(width, 0.0);
  add_expected_features(forest, x, out.features.data(), out.gradient.data());
  for (size_t j = 0; j < width; ++j) {
    out.gain_features[j] = out.gradient[j] + x.gain * out.features[j];
    out.gradient[j] /= temperature;  // (22)
  }
  out.nodes = std::move(x.node);
  out.edges = std::move(x.edge);
  out.covariances = std::move(x.covariance);
  return out;
}

nb::list bound(const Forest& forest, std::vector<Derivation>&& derivations) {
  nb::list all;
  for (Derivation& d : derivations) all.append(BoundDerivation{forest, std::move(d)});
  return all;
}

/// A property that looks into a vector of its object.
template <auto member>
struct Look;
template <class T, std::vector<double> T::*member>
struct Look<member> {
  static Out<const double> get(nb::handle_t<T> self) {
    const std::vector<double>& values = nb::cast<T&>(self).*member;
    return Out<const double>(values.data(), {values.size()}, self);
  }
};

using DerivationList = nb::typed<nb::list, BoundDerivation>;

/// References as text; words that the forest does not know can never match and all become -1.
References reference_words(const Forest& forest, const std::vector<std::string>& texts) {
  References all;
  for (const std::string& text : texts) {
    std::vector<int32_t>& words = all.emplace_back();
    for (size_t i = 0; (i = text.find_first_not_of(" \t", i)) != std::string::npos;) {
      const size_t j = std::min(text.find_first_of(" \t", i), text.size());
      words.push_back(forest.vocab->find(std::string_view(text).substr(i, j - i)));
      i = j;
    }
  }
  return all;
}

void check_k(int64_t k) {
  if (k < 1 || k > std::numeric_limits<int>::max()) throw InputError("k must be at least 1");
}

void check_mu(double mu) {
  if (!std::isfinite(mu)) throw InputError("mu must be a finite number");
}

void check_order(int max_order) {
  if (max_order < 1 || max_order > Bleu::kLargestOrder) throw InputError("max_order must be 1 to " + std::to_string(Bleu::kLargestOrder));
}

void check_sampling(int64_t count, double temperature) {
  if (count < 0) throw InputError("the number of samples must not be negative");
  if (!(temperature > 0.0) || !std::isfinite(temperature)) throw InputError("the temperature must be a positive number");
}

PruneOptions prune_options(std::optional<double> beam, std::optional<double> posterior, std::optional<int64_t> max_edges, double temperature) {
  if (beam && !(*beam >= 0.0)) throw InputError("the beam must not be negative");
  if (posterior && !(*posterior >= 0.0)) throw InputError("the posterior must not be negative");
  if (max_edges && *max_edges < 0) throw InputError("max_edges must not be negative");
  if (!(temperature > 0.0) || !std::isfinite(temperature)) throw InputError("the temperature must be a positive number");
  return {beam, posterior, max_edges, temperature};
}

template <class Ask>
auto ask_hope_fear(const Forest& f, Weights& w, const std::vector<std::string>& references, const OracleDocument& document, double mu,
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

struct BoundTriple {
  BoundRated hope, best, fear;
};

struct BoundEnvelope {
  Forest forest;
  Envelope e;
};

template <auto member>
Out<const double> look_envelope(nb::handle_t<BoundEnvelope> self) {
  const std::vector<double>& values = nb::cast<BoundEnvelope&>(self).e.*member;
  return Out<const double>(values.data(), {values.size()}, self);
}

void add_forest_methods(nb::class_<Forest>& forest) {
  forest
      .def("viterbi", [](const Forest& f, Weights w, std::optional<In<double>> gains, double scale) {
        const double* weights = w.over(*f.features);
        const auto b = gains_of(f, gains, scale);
        Release release;
        if (b.empty()) return BoundDerivation{f, viterbi(f, weights)};
        const std::vector<double> scores = model_scores(f, weights, 1.0, scale, b);
        Viterbi result;
        viterbi(f, [&](int32_t e) { return scores[static_cast<size_t>(e)]; }, result);
        return BoundDerivation{f, viterbi_derivation(f, result)};
      }, "w"_a, "gains"_a = nb::none(), "scale"_a = 1.0,
           "The best derivation by w.h(d), plus scale times the gains of its edges if they are given. Among equals the lowest edge "
           "index wins, at every node.")
      .def("kbest", [](const Forest& f, Weights w, int64_t k, bool distinct, std::optional<In<double>> gains, double scale) {
        const double* weights = w.over(*f.features);
        const auto b = gains_of(f, gains, scale);
        std::vector<Derivation> found;
        {
          Release release;
          found = kbest(f, model_scores(f, weights, 1.0, scale, b), k, distinct);
        }
        return DerivationList(bound(f, std::move(found)));
      }, "w"_a, "k"_a, "distinct"_a = false, "gains"_a = nb::none(), "scale"_a = 1.0,
           "The k best derivations, best first, or all if there are fewer; with `distinct`, the best of each string. What counts is "
           "w.h(d), plus scale times the gains of the edges if they are given.")
      .def("iter_kbest", [](const Forest& f, Weights w, bool distinct, std::optional<In<double>> gains, double scale) {
        const double* weights = w.over(*f.features);
        return KBest(f, model_scores(f, weights, 1.0, scale, gains_of(f, gains, scale)), distinct);
      }, "w"_a, "distinct"_a = false, "gains"_a = nb::none(), "scale"_a = 1.0,
           "As kbest, but one derivation at a time: stop whenever you have seen enough.")
      .def("inside", [](const Forest& f, Weights w, double temperature) {
        const double* weights = w.over(*f.features);
        std::vector<double> node, edge;
        {
          Release release;
          const auto scores = model_scores(f, weights, temperature, 0.0, {});
          inside<Log>(f, [&](int32_t e) { return scores[static_cast<size_t>(e)]; }, node, edge);
        }
        return give(std::move(node));
      }, "w"_a, "temperature"_a = 1.0, "log inside(v) of every node; -inf where there is no derivation. The last is log Z.")
      .def("outside", [](const Forest& f, Weights w, double temperature) {
        const double* weights = w.over(*f.features);
        std::vector<double> node, edge, out;
        {
          Release release;
          const auto scores = model_scores(f, weights, temperature, 0.0, {});
          const auto value = [&](int32_t e) { return scores[static_cast<size_t>(e)]; };
          inside<Log>(f, value, node, edge);
          outside<Log>(f, value, node, out);
        }
        return give(std::move(out));
      }, "w"_a, "temperature"_a = 1.0, "log outside(v) of every node; -inf for a node that the goal never uses.")
      .def("log_z", [](const Forest& f, Weights w, double temperature) {
        const double* weights = w.over(*f.features);
        Expectations x;
        {
          Release release;
          log_inside(f, model_scores(f, weights, temperature, 0.0, {}), x);
        }
        return x.log_z;
      }, "w"_a, "temperature"_a = 1.0, "The logarithm of the sum of exp(w.h(d) / T) over all derivations.")
      .def("posteriors", [](const Forest& f, Weights w, double temperature) {
        const double* weights = w.over(*f.features);
        Expectations x;
        {
          Release release;
          posteriors(f, model_scores(f, weights, temperature, 0.0, {}), x);
        }
        return std::make_pair(give(std::move(x.node)), give(std::move(x.edge)));
      }, "w"_a, "temperature"_a = 1.0,
           "How often a random derivation uses each node and each edge: a pair of arrays. These are probabilities, unless a "
           "derivation can use a node twice.")
      .def("expectations", [](const Forest& f, Weights w, std::optional<In<double>> gains, double temperature, double mu) {
        const double* weights = w.over(*f.features);
        const auto b = gains_of(f, gains, mu);
        Release release;
        return forest_expectations(f, weights, b, temperature, mu);
      }, "w"_a, "gains"_a = nb::none(), "temperature"_a = 1.0, "mu"_a = 0.0,
           "E[B], E[h] and E[Bh] under P(d) proportional to exp((w.h(d) + mu B(d)) / T), where `gains` holds B(e) of every edge.")
      .def("envelope", [](const Forest& f, Weights w, Weights direction) {
        const double* origin = w.over(*f.features);
        const double* along = direction.over(*f.features);
        Release release;
        return BoundEnvelope{f, envelope(f, origin, along)};
      }, "w"_a, "direction"_a, "Which derivation is best under w + x * direction, for every x: the upper envelope of their lines.")
      .def("hope", [](const Forest& f, Weights w, const std::vector<std::string>& references, const OracleDocument& document, double mu,
                      const std::string& approximation, int64_t k) {
        return ask_hope_fear(f, w, references, document, mu, approximation, k, [&](HopeFear& search) { return BoundRated(f, search.find(mu)); });
      }, "w"_a, "references"_a, "document"_a, "mu"_a = -1.0, nb::kw_only(), "approximation"_a = "forest", "k"_a = 100,
           "argmax of w.h(d) + mu loss(d): a good derivation of a good translation. `approximation`: forest reranking, linear BLEU, or "
           "the k best derivations.")
      .def("fear", [](const Forest& f, Weights w, const std::vector<std::string>& references, const OracleDocument& document, double mu,
                      const std::string& approximation, int64_t k) {
        return ask_hope_fear(f, w, references, document, mu, approximation, k, [&](HopeFear& search) { return BoundRated(f, search.find(mu)); });
      }, "w"_a, "references"_a, "document"_a, "mu"_a = 1.0, nb::kw_only(), "approximation"_a = "forest", "k"_a = 100,
           "argmax of w.h(d) + mu loss(d): a bad translation that the model likes.")
      .def("hope_fear", [](const Forest& f, Weights w, const std::vector<std::string>& references, const OracleDocument& document, double mu,
                           const std::string& approximation, int64_t k) {
        return ask_hope_fear(f, w, references, document, mu, approximation, k, [&](HopeFear& search) {
          return BoundTriple{{f, search.find(mu)}, {f, search.find(0.0)}, {f, search.find(1.0)}};
        });
      }, "w"_a, "references"_a, "document"_a, "mu"_a = -1.0, nb::kw_only(), "approximation"_a = "forest", "k"_a = 100,
           "Hope, best and fear at once. `mu` is that of hope.")
      .def("max_bleu", [](const Forest& f, Weights w, const std::vector<std::string>& references, const OracleDocument& document,
                          const std::string& approximation, int64_t k) {
        return ask_hope_fear(f, w, references, document, 0.0, approximation, k, [&](HopeFear& search) { return BoundRated(f, search.max_bleu()); });
      }, "w"_a, "references"_a, "document"_a, nb::kw_only(), "approximation"_a = "forest", "k"_a = 100,
           "argmax of B; the weights only decide between equals.")
      .def("linear_gains", [](const Forest& f, Weights w, const std::vector<std::string>& references, const OracleDocument& document) {
        const auto scores = model_scores(f, w.over(*f.features), 1.0, 0.0, {});
        std::vector<double> lambda(static_cast<size_t>(document.size()));
        document.linear(lambda.data());
        const BoundaryAutomaton automaton(at_least_one(reference_words(f, references)), document.max_order());
        EdgeGains found = linear_gains(f, automaton, lambda, scores);
        return std::make_pair(give(std::move(found.gains)), found.exact);
      }, "w"_a, "references"_a, "document"_a,
           "Linear BLEU as a gain on every edge, and whether it is exact: it is where nodes fix the words at their ends (see split_by_ngrams).")
      .def("split_by_ngrams", [](const Forest& f, const std::vector<std::string>& references, int max_order, int64_t max_edges) {
        check_order(max_order);
        const BoundaryAutomaton automaton(at_least_one(reference_words(f, references)), max_order);
        Split found = split_by_ngrams(f, automaton, max_edges);
        return std::make_pair(std::move(found.forest), give(std::move(found.origin)));
      }, "references"_a, "max_order"_a = 4, "max_edges"_a = 1'000'000,
           "The same derivations over nodes that fix which n-grams of the references can grow from their ends: a forest, and the old edge "
           "of each of its edges.")
      .def("sample", [](const Forest& f, Weights w, int64_t count, uint64_t seed, double temperature) {
        const double* weights = w.over(*f.features);
        check_sampling(count, temperature);
        std::vector<Derivation> drawn;
        {
          Release release;
          drawn = sample(f, weights, count, temperature, seed);
        }
        return DerivationList(bound(f, std::move(drawn)));
      }, "w"_a, "count"_a, "seed"_a, "temperature"_a = 1.0, "Random derivations, drawn with probability proportional to exp(w.h(d) / T).")
      .def("pruned", [](const Forest& f, Weights w, std::optional<double> beam, std::optional<double> posterior,
                        std::optional<int64_t> max_edges, double temperature) {
        const double* weights = w.over(*f.features);
        const PruneOptions options = prune_options(beam, posterior, max_edges, temperature);
        Release release;
        return pruned(f, weights, options).forest;
      }, "w"_a, nb::kw_only(), "beam"_a = nb::none(), "posterior"_a = nb::none(), "max_edges"_a = nb::none(), "temperature"_a = 1.0,
           "Without the edges whose best derivation is worse than the best score less `beam`, that a random derivation uses less often "
           "than `posterior`, or that are not among the best `max_edges`. The best derivation stays; what is in no derivation goes.")
      .def("reachable", [](const Forest& f) { return restricted(f, reachable(f, [](int32_t) { return true; })).forest; },
           "Without nodes and edges that are in no derivation.")
      .def("count_derivations", [](const Forest& f) {
        std::vector<double> node, edge;
        inside<Count>(f, [](int32_t) { return 1.0; }, node, edge);
        return node.back();
      }, "The number of derivations: exact below 2^53, inf beyond 1e308.");
}

void add_pool_methods(nb::class_<Pool>& pool) {
  pool
      .def("edge_offsets", [](const Pool& p) {
        std::vector<int64_t> begin{0};
        for (const Sentence& s : p.sentences) begin.push_back(begin.back() + s.forest.edges());
        return give(std::move(begin));
      }, "Where the edges of each sentence begin in arrays over all edges of the pool.")
      .def("viterbi", [](const Pool& p, Weights w, int jobs) {
        const double* weights = w.over(*p.features);
        std::vector<Derivation> found(p.size());
        {
          Release release;
          parallel_for(p.size(), jobs, [&](size_t i, int) {
            try {
              found[i] = viterbi(p.sentences[i].forest, weights);
            } catch (const InputError& error) {
              throw InputError("sentence " + p.sentences[i].id + ": " + error.what());
            }
          });
        }
        nb::list all;
        for (size_t i = 0; i < p.size(); ++i) all.append(BoundDerivation{p.sentences[i].forest, std::move(found[i])});
        return DerivationList(all);
      }, "w"_a, "jobs"_a = 0, "The best derivation of every sentence.")
      .def("kbest", [](const Pool& p, Weights w, int64_t k, bool distinct, int jobs) {
        const double* weights = w.over(*p.features);
        Release release;
        return kbest(p, weights, k, distinct, jobs);
      }, "w"_a, "k"_a, "distinct"_a = false, "jobs"_a = 0, "A pool of lists: the k best of every sentence, best first.")
      .def("envelope", [](const Pool& p, Weights w, Weights direction, int jobs) {
        const double* origin = w.over(*p.features);
        const double* along = direction.over(*p.features);
        std::vector<Envelope> found;
        {
          Release release;
          found = envelopes(p, origin, along, jobs);
        }
        nb::list all;
        for (size_t i = 0; i < p.size(); ++i) all.append(BoundEnvelope{p.sentences[i].forest, std::move(found[i])});
        return nb::typed<nb::list, BoundEnvelope>(all);
      }, "w"_a, "direction"_a, "jobs"_a = 0, "The envelope of every sentence.")
      .def("hope_fear", [](const Pool& p, Weights w, const OracleDocument& document, double mu, const std::string& approximation, int64_t k, int jobs) {
        const double* weights = w.over(*p.features);
        const Approximation how = approximation_by_name(approximation);
        check_k(k);
        check_mu(mu);
        std::vector<HopeFearTriple> found;
        {
          Release release;
          found = hope_fear(p, weights, document, mu, how, static_cast<int>(k), jobs);
        }
        nb::list all;
        for (size_t i = 0; i < p.size(); ++i) {
          const Forest& f = p.sentences[i].forest;
          auto& [hope, best, fear] = found[i];
          all.append(BoundTriple{{f, std::move(hope)}, {f, std::move(best)}, {f, std::move(fear)}});
        }
        return nb::typed<nb::list, BoundTriple>(all);
      }, "w"_a, "document"_a, "mu"_a = -1.0, nb::kw_only(), "approximation"_a = "forest", "k"_a = 100, "jobs"_a = 0,
           "Hope, best and fear of every sentence, all in the context of the same document. `mu` is that of hope.")
      .def("max_bleu", [](const Pool& p, Weights w, const OracleDocument& document, const std::string& approximation, int64_t k, int jobs) {
        const double* weights = w.over(*p.features);
        const Approximation how = approximation_by_name(approximation);
        check_k(k);
        std::vector<Rated> found;
        {
          Release release;
          found = max_bleu(p, weights, document, how, static_cast<int>(k), jobs);
        }
        nb::list all;
        for (size_t i = 0; i < p.size(); ++i) all.append(BoundRated(p.sentences[i].forest, std::move(found[i])));
        return nb::typed<nb::list, BoundRated>(all);
      }, "w"_a, "document"_a, nb::kw_only(), "approximation"_a = "forest", "k"_a = 100, "jobs"_a = 0, "The max-BLEU derivation of every sentence.")
      .def("linear_gains", [](const Pool& p, Weights w, const OracleDocument& document, int jobs) {
        const double* weights = w.over(*p.features);
        std::vector<double> lambda(static_cast<size_t>(document.size()));
        document.linear(lambda.data());
        EdgeGains found;
        {
          Release release;
          found = linear_gains(p, weights, document.max_order(), lambda, jobs);
        }
        return std::make_pair(give(std::move(found.gains)), found.exact);
      }, "w"_a, "document"_a, "jobs"_a = 0,
           "Linear BLEU as a gain on every edge of the pool, as `expectations` wants it, and whether it is exact.")
      .def("split_by_ngrams", [](const Pool& p, int max_order, int64_t max_edges, int jobs) {
        check_order(max_order);
        Release release;
        return split_by_ngrams(p, max_order, max_edges, jobs);
      }, "max_order"_a = 4, "max_edges"_a = 1'000'000, "jobs"_a = 0,
           "The same derivations over nodes that fix which n-grams of the references can grow from their ends: linear_gains is exact there.")
      .def("sample", [](const Pool& p, Weights w, int64_t count, uint64_t seed, double temperature, int jobs) {
        const double* weights = w.over(*p.features);
        check_sampling(count, temperature);
        Release release;
        return sample(p, weights, count, temperature, seed, jobs);
      }, "w"_a, "count"_a, "seed"_a, "temperature"_a = 1.0, "jobs"_a = 0, "A pool of lists: random derivations of every sentence.")
      .def("pruned", [](const Pool& p, Weights w, std::optional<double> beam, std::optional<double> posterior,
                        std::optional<int64_t> max_edges, double temperature, int jobs) {
        const double* weights = w.over(*p.features);
        const PruneOptions options = prune_options(beam, posterior, max_edges, temperature);
        Release release;
        return pruned(p, weights, options, jobs);
      }, "w"_a, nb::kw_only(), "beam"_a = nb::none(), "posterior"_a = nb::none(), "max_edges"_a = nb::none(), "temperature"_a = 1.0,
           "jobs"_a = 0, "Every forest pruned: see Forest.pruned. `max_edges` is for each sentence.")
      .def("expectations", [](const Pool& p, Weights w, std::optional<In<double>> gains, double temperature, double mu, int jobs) {
        const double* weights = w.over(*p.features);
        const auto b = optional_view(gains);
        check_finite(b, "the gains");
        check_mu(mu);
        if (!(temperature > 0.0) || !std::isfinite(temperature)) throw InputError("the temperature must be a positive number");
        Release release;
        return expectations(p, weights, b, temperature, mu, jobs);
      }, "w"_a, "gains"_a = nb::none(), "temperature"_a = 1.0, "mu"_a = 0.0, "jobs"_a = 0,
           "log Z and E[B] of every sentence, and the sums over sentences of E[h] and of the gradient of E[B]. `gains` holds "
           "B(e) of all edges of the pool (see edge_offsets).");
}

}  // namespace

void init_algorithms(nb::module_& m) {
  init_derivations(m);
  nb::class_<KBest>(m, "KBestIterator", "Derivations, best first, found as they are asked for.")
      .def("__iter__", [](nb::handle self) { return self; }, nb::sig("def __iter__(self) -> KBestIterator"))
      .def("__next__", [](KBest& search) {
        Derivation d;
        if (!search.next(d)) throw nb::stop_iteration();
        return BoundDerivation{search.forest(), std::move(d)};
      });
  nb::class_<BoundTriple>(m, "HopeFear", "What an online learner asks of a sentence.")
      .def_ro("hope", &BoundTriple::hope)
      .def_ro("best", &BoundTriple::best)
      .def_ro("fear", &BoundTriple::fear);
  nb::class_<BoundEnvelope>(m, "Envelope", "The best derivations along a line, segment by segment.")
      .def("__len__", [](const BoundEnvelope& b) { return b.e.size(); }, "How many segments there are.")
      .def("__getitem__", [](const BoundEnvelope& b, int64_t i) {
        if (i < 0) i += static_cast<int64_t>(b.e.size());
        if (i < 0 || i >= static_cast<int64_t>(b.e.size())) throw nb::index_error("no such segment");
        const auto k = static_cast<size_t>(i);
        const auto edges = b.e.derivation(k);
        return BoundDerivation{b.forest, {b.e.intercept[k], {edges.begin(), edges.end()}}};
      }, "segment"_a, "The derivation of a segment; its score is the one under w.")
      .def("at", [](const BoundEnvelope& b, double x) { return b.e.at(x); }, "x"_a, "The segment that x lies in.")
      .def_prop_ro("x", &look_envelope<&Envelope::x>, "Where each segment begins: -inf, then ascending.")
      .def_prop_ro("intercept", &look_envelope<&Envelope::intercept>, "w.h(d) of each segment.")
      .def_prop_ro("slope", &look_envelope<&Envelope::slope>, "direction.h(d) of each segment, ascending.");
  nb::class_<BoundExpectations>(m, "Expectations", "Expectations over one forest.")
      .def_ro("log_z", &BoundExpectations::log_z)
      .def_ro("gain", &BoundExpectations::gain, "E[B].")
      .def_prop_ro("features", &Look<&BoundExpectations::features>::get, "E[h], the gradient of T log Z.")
      .def_prop_ro("gain_features", &Look<&BoundExpectations::gain_features>::get, "E[Bh].")
      .def_prop_ro("gradient", &Look<&BoundExpectations::gradient>::get, "The gradient of E[B] in w, (22).")
      .def_prop_ro("nodes", &Look<&BoundExpectations::nodes>::get, "How often a derivation uses each node.")
      .def_prop_ro("edges", &Look<&BoundExpectations::edges>::get, "How often a derivation uses each edge.")
      .def_prop_ro("covariances", &Look<&BoundExpectations::covariances>::get,
                   "Cov(B, uses of e) of each edge.");
  nb::class_<PoolExpectations>(m, "PoolExpectations", "Expectations over the forests of a pool.")
      .def_prop_ro("log_z", &Look<&PoolExpectations::log_z>::get, "Of each sentence.")
      .def_prop_ro("gain", &Look<&PoolExpectations::gain>::get, "E[B] of each sentence.")
      .def_prop_ro("features", &Look<&PoolExpectations::features>::get, "E[h], summed over sentences.")
      .def_prop_ro("gradient", &Look<&PoolExpectations::gradient>::get,
                   "The gradient in w of E[B], summed over sentences.");

  auto forest = nb::borrow<nb::class_<Forest>>(nb::type<Forest>());
  add_forest_methods(forest);
  auto pool = nb::borrow<nb::class_<Pool>>(nb::type<Pool>());
  add_pool_methods(pool);
}

}  // namespace hopefear
