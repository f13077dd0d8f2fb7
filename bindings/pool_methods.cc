// The algorithms on all forests of a pool, in parallel, as methods of Pool.
#include "algorithms.h"
#include "forest/each_sentence.h"
#include "forest/kbest.h"
#include "forest/sample.h"
#include "forest/viterbi.h"
#include "hope_fear/linear_bleu.h"

namespace hopefear {

namespace {

void bind_best(nb::class_<Pool>& pool) {
  pool.def(
          "edge_offsets", [](const Pool& p) { return give(p.edge_begin()); },
          "Where the edges of each sentence begin in arrays over all edges of the pool.")
      .def(
          "viterbi",
          [](const Pool& p, Weights w, int jobs) {
            const double* weights = w.over(*p.features);
            std::vector<Derivation> best(p.size());
            {
              Release release;
              each_sentence(p, jobs, [&](size_t i, const Sentence& s) { best[i] = viterbi(s.forest, weights); });
            }
            nb::list all;
            for (size_t i = 0; i < p.size(); ++i) all.append(BoundDerivation{p.sentences[i].forest, std::move(best[i])});
            return DerivationList(all);
          },
          "w"_a, "jobs"_a = 0,
          "The best derivation of every sentence.\n\n"
          ">>> pool = hf.read_nbest(\"data/nbest.txt\", references=[\"data/ref.0\", \"data/ref.1\"])\n"
          ">>> pool.viterbi(hf.read_weights(\"data/initial.txt\"))[0]\n"
          "<Derivation -25.836000: and elimelech husband of naomi died , and she shall be left hand , she and her two sons .>")
      .def(
          "kbest",
          [](const Pool& p, Weights w, int64_t k, bool distinct, int jobs) {
            const double* weights = w.over(*p.features);
            Release release;
            return kbest(p, weights, k, distinct, jobs);
          },
          "w"_a, "k"_a, "distinct"_a = false, "jobs"_a = 0,
          "A pool of lists: the k best of every sentence, best first.\n\n"
          ">>> pool = hf.read_nbest(\"data/nbest.txt\", references=[\"data/ref.0\", \"data/ref.1\"])\n"
          ">>> pool.kbest(hf.read_weights(\"data/initial.txt\"), 5)\n"
          "<Pool of 300 sentences, 1500 candidates, 9 features>")
      .def(
          "envelope",
          [](const Pool& p, Weights w, Weights direction, int jobs) {
            const double* origin = w.over(*p.features);
            const double* along = direction.over(*p.features);
            std::vector<Envelope> lines;
            {
              Release release;
              lines = envelopes(p, origin, along, jobs);
            }
            nb::list all;
            for (size_t i = 0; i < p.size(); ++i) all.append(BoundEnvelope{p.sentences[i].forest, std::move(lines[i])});
            return nb::typed<nb::list, BoundEnvelope>(all);
          },
          "w"_a, "direction"_a, "jobs"_a = 0, "The envelope of every sentence.");
}

void bind_bleu(nb::class_<Pool>& pool) {
  pool.def(
          "hope_fear",
          [](const Pool& p, Weights w, const OracleDocument& document, double mu, const std::string& approximation, int64_t k,
             int jobs) {
            const double* weights = w.over(*p.features);
            const Approximation how = approximation_by_name(approximation);
            check_k(k);
            check_mu(mu);
            std::vector<HopeFearTriple> triples;
            {
              Release release;
              triples = hope_fear(p, weights, document, mu, how, static_cast<int>(k), jobs);
            }
            nb::list all;
            for (size_t i = 0; i < p.size(); ++i) {
              const Forest& f = p.sentences[i].forest;
              auto& [hope, best, fear] = triples[i];
              all.append(BoundTriple{{f, std::move(hope)}, {f, std::move(best)}, {f, std::move(fear)}});
            }
            return nb::typed<nb::list, BoundTriple>(all);
          },
          "w"_a, "document"_a, "mu"_a = kHopeMu, nb::kw_only(), "approximation"_a = kApproximation, "k"_a = kCandidates,
          "jobs"_a = 0,
          "Hope, best and fear of every sentence, all in the context of the same document. `mu` is that of hope.\n\n"
          ">>> pool = hf.read_nbest(\"data/nbest.txt\", references=[\"data/ref.0\", \"data/ref.1\"])\n"
          ">>> first = pool.hope_fear(hf.read_weights(\"data/initial.txt\"), hf.OracleDocument())[0]\n"
          ">>> first.hope.text\n"
          "'and elimelech husband of naomi died , and she shall be left hand , she and her two sons .'")
      .def(
          "max_bleu",
          [](const Pool& p, Weights w, const OracleDocument& document, const std::string& approximation, int64_t k, int jobs) {
            const double* weights = w.over(*p.features);
            const Approximation how = approximation_by_name(approximation);
            check_k(k);
            std::vector<Rated> derivations;
            {
              Release release;
              derivations = max_bleu(p, weights, document, how, static_cast<int>(k), jobs);
            }
            nb::list all;
            for (size_t i = 0; i < p.size(); ++i) all.append(BoundRated(p.sentences[i].forest, std::move(derivations[i])));
            return nb::typed<nb::list, BoundRated>(all);
          },
          "w"_a, "document"_a, nb::kw_only(), "approximation"_a = kApproximation, "k"_a = kCandidates, "jobs"_a = 0,
          "The max-BLEU derivation of every sentence.");
}

void bind_linear_bleu(nb::class_<Pool>& pool) {
  pool.def(
          "linear_gains",
          [](const Pool& p, Weights w, const OracleDocument& document, int jobs) {
            const double* weights = w.over(*p.features);
            const std::vector<double> lambda = linear_weights(document);
            EdgeGains gains;
            {
              Release release;
              gains = linear_gains(p, weights, document.max_order(), lambda, jobs);
            }
            return std::make_pair(give(std::move(gains.gains)), gains.exact);
          },
          "w"_a, "document"_a, "jobs"_a = 0,
          "Linear BLEU as a gain on every edge of the pool, as `expectations` wants it, and whether it is exact.")
      .def(
          "split_by_ngrams",
          [](const Pool& p, int max_order, int64_t max_edges, int jobs) {
            check_order(max_order);
            Release release;
            return split_by_ngrams(p, max_order, max_edges, jobs);
          },
          "max_order"_a = kMaxOrder, "max_edges"_a = kMaxSplitEdges, "jobs"_a = 0,
          "The same derivations over nodes that fix which n-grams of the references can grow from their ends: linear_gains is "
          "exact there.");
}

void bind_sums(nb::class_<Pool>& pool) {
  pool.def(
          "sample",
          [](const Pool& p, Weights w, int64_t count, uint64_t seed, double temperature, int jobs) {
            const double* weights = w.over(*p.features);
            check_count(count);
            check_temperature(temperature);
            Release release;
            return sample(p, weights, count, temperature, seed, jobs);
          },
          "w"_a, "count"_a, "seed"_a, "temperature"_a = 1.0, "jobs"_a = 0,
          "A pool of lists: random derivations of every sentence.\n\n"
          ">>> pool = hf.read_nbest(\"data/nbest.txt\", references=[\"data/ref.0\", \"data/ref.1\"])\n"
          ">>> pool.sample(hf.read_weights(\"data/initial.txt\"), 5, seed=1)\n"
          "<Pool of 300 sentences, 1500 candidates, 9 features>")
      .def(
          "pruned",
          [](const Pool& p, Weights w, std::optional<double> beam, std::optional<double> posterior,
             std::optional<int64_t> max_edges, double temperature, int jobs) {
            const double* weights = w.over(*p.features);
            const PruneOptions options = prune_options(beam, posterior, max_edges, temperature);
            Release release;
            return pruned(p, weights, options, jobs);
          },
          "w"_a, nb::kw_only(), "beam"_a = nb::none(), "posterior"_a = nb::none(), "max_edges"_a = nb::none(),
          "temperature"_a = 1.0, "jobs"_a = 0, "Every forest pruned: see Forest.pruned. `max_edges` is for each sentence.")
      .def(
          "expectations",
          [](const Pool& p, Weights w, std::optional<In<double>> gains, double temperature, double mu, int jobs) {
            const double* weights = w.over(*p.features);
            const auto b = optional_view(gains);
            check_finite(b, "the gains");
            check_mu(mu);
            check_temperature(temperature);
            Release release;
            return expectations(p, weights, b, temperature, mu, jobs);
          },
          "w"_a, "gains"_a = nb::none(), "temperature"_a = 1.0, "mu"_a = 0.0, "jobs"_a = 0,
          "log Z and E[B] of every sentence, and the sums over sentences of E[h] and of the gradient of E[B]. `gains` holds "
          "B(e) of all edges of the pool (see edge_offsets).");
}

}  // namespace

void add_pool_methods(nb::class_<Pool>& pool) {
  bind_best(pool);
  bind_bleu(pool);
  bind_linear_bleu(pool);
  bind_sums(pool);
}

}  // namespace hopefear
