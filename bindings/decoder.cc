#include <nanobind/stl/array.h>
#include <nanobind/stl/pair.h>

#include "common.h"
#include "forest/each_sentence.h"
#include "hiero/hiero_decoder.h"
#include "hiero/hiero_examples.h"
#include "weights.h"

namespace hopefear {
namespace {

using Limits = std::array<int64_t, 5>;  // pop_limit, max_options, max_span, rescore_edges, rescore_limit

HieroOptions checked(const Limits& limits, int64_t max_edges = 0, std::optional<double> beam = std::nullopt) {
  const auto [pop_limit, max_options, max_span, rescore_edges, rescore_limit] = limits;
  const HieroOptions options{pop_limit, max_options, max_span, max_edges, beam.value_or(-1), rescore_edges, rescore_limit};
  options.check();
  if (beam && !(*beam >= 0)) throw InputError("max_edges and beam cannot be negative");
  return options;
}

}  // namespace

void init_decoder(nb::module_& m) {
  nb::class_<Rescorer>(m, "Rescorer", "Adds features that see more than one edge to the forests of a pool.")
      .def(nb::init<const Pool&, const std::vector<std::string>&,
                    const std::vector<std::pair<std::string, std::shared_ptr<const LanguageModel>>>&>(),
           "pool"_a, "names"_a, "lms"_a)
      .def(
          "run",
          [](const Rescorer& r, const Pool& pool, Weights w, int64_t pop_limit, int jobs) {
            if (pop_limit < 0) throw InputError("pop_limit cannot be negative: 0 means no limit");
            const double* weights = w.over(*r.feature_names());
            nb::gil_scoped_release release;
            return r.run(pool, weights, pop_limit, jobs);
          },
          "pool"_a, "w"_a, "pop_limit"_a, "jobs"_a = 0);
  nb::class_<HieroDecoder>(m, "HieroDecoder", "CKY with cube pruning over a synchronous grammar.")
      .def(nb::init<std::shared_ptr<const Grammar>, std::vector<std::shared_ptr<const LanguageModel>>,
                    const std::vector<std::string>&, const std::vector<std::string>&, std::shared_ptr<const FeatureTemplates>,
                    const std::vector<std::string>&>(),
           "grammar"_a, "lms"_a, "names"_a, "sparse"_a = std::vector<std::string>{}, "templates"_a = nb::none(),
           "arcs"_a = std::vector<std::string>{})
      .def_prop_ro(
          "vocab", [](const HieroDecoder& d) { return d.vocab(); }, "Words of all forests.")
      .def_prop_ro("features", [](const HieroDecoder& d) { return d.features(); })
      .def(
          "decode",
          [](HieroDecoder& d, const std::vector<std::string>& ids, const std::vector<std::string>& lines,
             const std::vector<std::string>& kinds, Weights w, const Limits& limits, int64_t max_edges,
             std::optional<double> beam, int jobs) {
            const double* weights = w.over(*d.features());
            const auto options = checked(limits, max_edges, beam);
            const auto sources = d.prepare(ids, lines, kinds);  // with the GIL: the vocabulary grows
            nb::gil_scoped_release release;
            return d.decode(sources, weights, options, jobs);
          },
          "ids"_a, "lines"_a, "kinds"_a, "w"_a, "limits"_a, "max_edges"_a = 0, "beam"_a = nb::none(), "jobs"_a = 0,
          "The forests of tokenised lines. `kinds`: a letter a word, n for a number, c for a name, w for others.")
      .def(
          "decode_lattices",
          [](HieroDecoder& d, const Pool& lattices, const std::string& kinds, Weights w, const Limits& limits, int64_t max_edges,
             std::optional<double> beam, int jobs) {
            const double* weights = w.over(*d.features());
            const auto options = checked(limits, max_edges, beam);
            const auto sources = d.prepare(lattices, kinds);
            nb::gil_scoped_release release;
            return d.decode(sources, weights, options, jobs);
          },
          "lattices"_a, "kinds"_a, "w"_a, "limits"_a, "max_edges"_a = 0, "beam"_a = nb::none(), "jobs"_a = 0,
          "The forests of lattices. `kinds`: a letter for each word of their vocabulary.")
      .def(
          "kbest_lattices",
          [](HieroDecoder& d, const Pool& lattices, const std::string& kinds, Weights w, int64_t k, bool distinct,
             const Limits& limits, int jobs) {
            const double* weights = w.over(*d.features());
            const auto options = checked(limits);
            const auto sources = d.prepare(lattices, kinds);
            nb::gil_scoped_release release;
            return d.kbest(sources, weights, options, k, distinct, jobs);
          },
          "lattices"_a, "kinds"_a, "w"_a, "k"_a, "distinct"_a, "limits"_a, "jobs"_a = 0)
      .def(
          "kbest",
          [](HieroDecoder& d, const std::vector<std::string>& ids, const std::vector<std::string>& lines,
             const std::vector<std::string>& kinds, Weights w, int64_t k, bool distinct, const Limits& limits, int jobs) {
            const double* weights = w.over(*d.features());
            const auto options = checked(limits);
            const auto sources = d.prepare(ids, lines, kinds);
            nb::gil_scoped_release release;
            return d.kbest(sources, weights, options, k, distinct, jobs);
          },
          "ids"_a, "lines"_a, "kinds"_a, "w"_a, "k"_a, "distinct"_a, "limits"_a, "jobs"_a = 0,
          "The k best of each line as lists; forests are dropped as soon as they were searched.")
      .def(
          "examples",
          [](HieroDecoder& d, const std::vector<std::string>& ids, const std::vector<std::string>& lines,
             const std::vector<std::string>& kinds, const std::vector<std::vector<std::vector<std::string>>>& references,
             const Limits& limits) -> std::shared_ptr<Examples> {
            std::vector<References> ids_of(references.size());
            for (size_t i = 0; i < references.size(); ++i) {
              for (const auto& reference : references[i]) {
                ids_of[i].emplace_back();
                for (const auto& word : reference) ids_of[i].back().push_back(d.vocab()->add(word));
              }
              drop_missing(ids_of[i]);
            }
            return std::make_shared<HieroExamples>(d, d.prepare(ids, lines, kinds), std::move(ids_of), checked(limits));
          },
          "ids"_a, "lines"_a, "kinds"_a, "references"_a, "limits"_a, nb::keep_alive<0, 1>(),
          "Sentences with the words of their references, to learn from.");
}

}  // namespace hopefear
