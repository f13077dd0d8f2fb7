#include "derivations.h"

#include "display.h"

namespace hopefear {
namespace {

void bind_derivation(nb::module_& m) {
  nb::class_<BoundDerivation>(m, "Derivation",
                              "One derivation of a forest: a tree of edges with its score, words and features.\n\n"
                              ">>> best = hf.read_nbest(\"data/nbest.txt\")[0].viterbi({\"lm\": 1.0})\n"
                              ">>> best.text, best.score, best.features[\"word\"]\n"
                              "('and elimelech husband naomi died , and she was left , and her two sons .', -75.77, 16.0)")
      .def_prop_ro(
          "score", [](const BoundDerivation& b) { return b.d.score; }, "w.h(d), and the gains if the search was given some.")
      .def_prop_ro("forest", [](const BoundDerivation& b) { return b.forest; })
      .def_prop_ro(
          "edges",
          [](nb::handle_t<BoundDerivation> h) {
            const std::vector<int32_t>& edges = nb::cast<BoundDerivation&>(h).d.edges;
            return Out<const int32_t>(edges.data(), {edges.size()}, h);
          },
          "The edges in pre-order: an edge, then everything below its first tail, then below its second, ...")
      .def_prop_ro(
          "nodes", [](const BoundDerivation& b) { return give(heads(b.forest, b.d.edges)); }, nb::rv_policy::automatic,
          "The head of each entry of `edges`.")
      .def_prop_ro(
          "parents", [](const BoundDerivation& b) { return give(parents(b.forest, b.d.edges)); }, nb::rv_policy::automatic,
          "For each entry of `edges` the place of its parent there; -1 for the first.")
      .def_prop_ro(
          "words", [](const BoundDerivation& b) { return give(yield(b.forest, b.d.edges)); }, nb::rv_policy::automatic,
          "e(d) as word ids.")
      .def_prop_ro(
          "text", [](const BoundDerivation& b) { return text_of(*b.forest.vocab, yield(b.forest, b.d.edges)); }, "e(d) as text.")
      .def_prop_ro(
          "h", [](const BoundDerivation& b) { return give(features_of(b.forest, b.d.edges)); }, nb::rv_policy::automatic,
          "h(d), indexed by feature id.")
      .def_prop_ro(
          "sparse",
          [](const BoundDerivation& b) {
            std::vector<int32_t> ids;
            std::vector<double> values;
            sparse_features(b.forest, b.d.edges, ids, values);
            return std::make_pair(give(std::move(ids)), give(std::move(values)));
          },
          nb::rv_policy::automatic, "The sparse part of h(d): ids, ascending, and values.")
      .def_prop_ro(
          "features",
          [](const BoundDerivation& b) {
            const std::vector<double> h = features_of(b.forest, b.d.edges);
            nb::typed<nb::dict, nb::str, nb::float_> named;
            for (int32_t j = 0; j < b.forest.features->size(); ++j)
              if (h[j] != 0.0) named[(*b.forest.features)[j].c_str()] = h[j];
            return named;
          },
          "h(d) by name, without zeros.")
      .def("__len__", [](const BoundDerivation& b) { return b.d.edges.size(); })
      .def("__repr__",
           [](const BoundDerivation& b) {
             return "<Derivation " + std::to_string(b.d.score) + ": " + text_of(*b.forest.vocab, yield(b.forest, b.d.edges)) +
                    ">";
           })
      .def(
          "_repr_svg_", [](nb::handle_t<BoundDerivation> self) { return shown_by("derivation_svg", self); },
          nb::sig("def _repr_svg_(self) -> str"));
}

void bind_rated(nb::module_& m) {
  nb::class_<BoundRated, BoundDerivation>(m, "RatedDerivation",
                                          "A derivation with its BLEU statistics: what a search for hope or fear finds.")
      .def_prop_ro(
          "stats",
          [](nb::handle_t<BoundRated> h) {
            const std::vector<double>& b = nb::cast<BoundRated&>(h).b;
            return Out<const double>(b.data(), {b.size()}, h);
          },
          "b = [m_1 .. m_K, n_1 .. n_K, rho]: clipped, with the closest reference.")
      .def_ro("gain", &BoundRated::gain, "B(b) in the context of the oracle document.");
}

}  // namespace

void init_derivations(nb::module_& m) {
  bind_derivation(m);
  bind_rated(m);
}

}  // namespace hopefear
