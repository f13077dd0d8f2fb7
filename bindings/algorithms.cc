// The types that forest algorithms return; their methods are in forest_methods.cc and pool_methods.cc.
#include "algorithms.h"

#include "forest/kbest.h"

namespace hopefear {
namespace {

/// A property that is a view of a vector of its object.
template <auto member>
struct Look;
template <class T, std::vector<double> T::* member>
struct Look<member> {
  static Out<const double> get(nb::handle_t<T> self) {
    const std::vector<double>& values = nb::cast<T&>(self).*member;
    return Out<const double>(values.data(), {values.size()}, self);
  }
};

template <auto member>
Out<const double> look_envelope(nb::handle_t<BoundEnvelope> self) {
  const std::vector<double>& values = nb::cast<BoundEnvelope&>(self).e.*member;
  return Out<const double>(values.data(), {values.size()}, self);
}

void bind_searches(nb::module_& m) {
  nb::class_<KBest>(m, "KBestIterator", "Derivations, best first, found as they are asked for.")
      .def(
          "__iter__", [](nb::handle self) { return self; }, nb::sig("def __iter__(self) -> KBestIterator"))
      .def("__next__", [](KBest& search) {
        Derivation d;
        if (!search.next(d)) throw nb::stop_iteration();
        return BoundDerivation{search.forest(), std::move(d)};
      });
  nb::class_<BoundTriple>(m, "HopeFear", "What an online learner asks of a sentence.")
      .def_ro("hope", &BoundTriple::hope)
      .def_ro("best", &BoundTriple::best)
      .def_ro("fear", &BoundTriple::fear);
}

void bind_envelope(nb::module_& m) {
  nb::class_<BoundEnvelope>(m, "Envelope", "The best derivations along a line, segment by segment.")
      .def(
          "__len__", [](const BoundEnvelope& b) { return b.e.size(); }, "How many segments there are.")
      .def(
          "__getitem__",
          [](const BoundEnvelope& b, int64_t i) {
            if (i < 0) i += static_cast<int64_t>(b.e.size());
            if (i < 0 || i >= static_cast<int64_t>(b.e.size())) throw nb::index_error("no such segment");
            const size_t k = i;
            const auto edges = b.e.derivation(k);
            return BoundDerivation{b.forest, {b.e.intercept[k], {edges.begin(), edges.end()}}};
          },
          "segment"_a, "The derivation of a segment; its score is the one under w.")
      .def(
          "at", [](const BoundEnvelope& b, double x) { return b.e.at(x); }, "x"_a, "The segment that x lies in.")
      .def_prop_ro("x", &look_envelope<&Envelope::x>, "Where each segment begins: -inf, then ascending.")
      .def_prop_ro("intercept", &look_envelope<&Envelope::intercept>, "w.h(d) of each segment.")
      .def_prop_ro("slope", &look_envelope<&Envelope::slope>, "direction.h(d) of each segment, ascending.");
}

void bind_expectations(nb::module_& m) {
  nb::class_<ForestExpectations>(m, "Expectations", "Expectations over one forest.")
      .def_ro("log_z", &ForestExpectations::log_z)
      .def_ro("gain", &ForestExpectations::gain, "E[B].")
      .def_prop_ro("features", &Look<&ForestExpectations::features>::get, "E[h], the gradient of T log Z.")
      .def_prop_ro("gain_features", &Look<&ForestExpectations::gain_features>::get, "E[Bh].")
      .def_prop_ro("gradient", &Look<&ForestExpectations::gradient>::get, "The gradient of E[B] in w, (22).")
      .def_prop_ro("nodes", &Look<&ForestExpectations::nodes>::get, "How often a derivation uses each node.")
      .def_prop_ro("edges", &Look<&ForestExpectations::edges>::get, "How often a derivation uses each edge.")
      .def_prop_ro("covariances", &Look<&ForestExpectations::covariances>::get, "Cov(B, uses of e) of each edge.");
  nb::class_<PoolExpectations>(m, "PoolExpectations", "Expectations over the forests of a pool.")
      .def_prop_ro("log_z", &Look<&PoolExpectations::log_z>::get, "Of each sentence.")
      .def_prop_ro("gain", &Look<&PoolExpectations::gain>::get, "E[B] of each sentence.")
      .def_prop_ro("features", &Look<&PoolExpectations::features>::get, "E[h], summed over sentences.")
      .def_prop_ro("gradient", &Look<&PoolExpectations::gradient>::get, "The gradient in w of E[B], summed over sentences.");
}

}  // namespace

void init_algorithms(nb::module_& m) {
  init_derivations(m);
  bind_searches(m);
  bind_envelope(m);
  bind_expectations(m);
  auto forest = nb::borrow<nb::class_<Forest>>(nb::type<Forest>());
  add_forest_methods(forest);
  auto pool = nb::borrow<nb::class_<Pool>>(nb::type<Pool>());
  add_pool_methods(pool);
}

}  // namespace hopefear
