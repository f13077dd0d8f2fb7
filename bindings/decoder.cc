#include <nanobind/stl/array.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/variant.h>

#include "common.h"
#include "hiero/hiero_decoder.h"
#include "hiero/hiero_examples.h"
#include "hiero/learnt_rules.h"
#include "weights.h"

namespace hopefear {
namespace {

using Limits = std::array<int64_t, 5>;  // pop_limit, max_options, max_span, rescore_edges, rescore_limit

HieroOptions checked(const Limits& limits, int64_t max_edges = 0, std::optional<double> beam = std::nullopt) {
  const auto [pop_limit, max_options, max_span, rescore_edges, rescore_limit] = limits;
  const HieroOptions options{.pop_limit = pop_limit,
                             .max_options = max_options,
                             .max_span = max_span,
                             .max_edges = max_edges,
                             .beam = beam.value_or(-1),
                             .rescore_edges = rescore_edges,
                             .rescore_limit = rescore_limit};
  options.check();
  if (beam && !(*beam >= 0)) throw InputError("max_edges and beam cannot be negative");
  return options;
}

using Texts = std::vector<std::string>;
using Rules = std::vector<std::vector<SentenceRule>>;

/// `source`: what HieroDecoder::prepare takes. It is called with the GIL, for the vocabulary grows.
template <class... Source>
Pool decode(HieroDecoder& d, Weights& w, const HieroOptions& options, int jobs, const Source&... source) {
  const double* weights = w.over(*d.features());
  const auto sources = d.prepare(source...);
  nb::gil_scoped_release release;
  return d.decode(sources, weights, options, jobs);
}
template <class... Source>
Pool kbest(HieroDecoder& d, Weights& w, const HieroOptions& options, int64_t k, bool distinct, int jobs,
           const Source&... source) {
  const double* weights = w.over(*d.features());
  const auto sources = d.prepare(source...);
  nb::gil_scoped_release release;
  return d.kbest(sources, weights, options, k, distinct, jobs);
}

/// `source`: what HieroDecoder::prepare takes.
template <class... Source>
std::shared_ptr<Examples> examples(HieroDecoder& d, const std::vector<std::vector<Texts>>& references, const Limits& limits,
                                   const Source&... source) {
  std::vector<References> ids_of(references.size());
  for (size_t i = 0; i < references.size(); ++i) {
    for (const auto& words : references[i]) ids_of[i].push_back(d.reference(words));
    drop_missing(ids_of[i]);
  }
  return std::make_shared<HieroExamples>(d, d.prepare(source...), std::move(ids_of), checked(limits));
}

void bind_rescorer(nb::module_& m) {
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
}

void bind_rule(nb::module_& m) {
  nb::class_<SentenceRule>(m, "SentenceRule",
                           "A rule of one sentence: the words [begin, end), less those below its gaps, become `target`. Words of "
                           "`target` are strings, its gaps numbers from 1.")
      .def(
          "__init__",
          [](SentenceRule* self, int32_t begin, int32_t end, std::vector<std::variant<std::string, int32_t>> target,
             std::map<std::string, double> features, bool forced, SentenceRule::Pairs gaps, SentenceRule::Pairs links) {
            new (self)
                SentenceRule{begin, end, std::move(target), std::move(features), forced, std::move(gaps), std::move(links)};
          },
          "begin"_a, "end"_a, "target"_a, "features"_a = std::map<std::string, double>{}, nb::kw_only(), "forced"_a = false,
          "gaps"_a = SentenceRule::Pairs{}, "links"_a = SentenceRule::Pairs{})
      .def_ro("begin", &SentenceRule::begin)
      .def_ro("end", &SentenceRule::end)
      .def_ro("target", &SentenceRule::target)
      .def_ro("features", &SentenceRule::features)
      .def_ro("forced", &SentenceRule::forced)
      .def_ro("gaps", &SentenceRule::gaps)
      .def_ro("links", &SentenceRule::links);
}

void bind_learnt_rules(nb::module_& m) {
  using Words = std::vector<std::string>;
  nb::class_<LearntRules>(m, "LearntRules",
                          "Rules out of aligned pairs that are added one by one; a sentence gets those that match it.")
      .def(
          "__init__",
          [](LearntRules* self, std::shared_ptr<const Grammar> grammar, const Words& dense, int max_phrase,
             int max_source_symbols, int min_hole, int max_span, bool tight, double decay) {
            new (self) LearntRules(std::move(grammar), dense,
                                   {.max_phrase = max_phrase,
                                    .max_source_symbols = max_source_symbols,
                                    .min_hole = min_hole,
                                    .max_span = max_span,
                                    .tight = tight,
                                    .decay = decay});
          },
          "grammar"_a, "dense"_a, nb::kw_only(), "max_phrase"_a, "max_source_symbols"_a, "min_hole"_a, "max_span"_a, "tight"_a,
          "decay"_a)
      .def("__len__", &LearntRules::size, "Pairs.")
      .def("add", &LearntRules::add, "source"_a, "target"_a, "links"_a, "Words between blanks, and links s0, t0, s1, t1, ...")
      .def(
          "rules", [](const LearntRules& r, const Words& words, In<uint8_t> live) { return r.rules(words, view(live)); },
          "words"_a, "live"_a, "Rules for a sentence. `live`: of each pair whether it counts; later pairs are not seen.")
      .def(
          "has",
          [](const LearntRules& r, const Words& source, const Words& target, In<uint8_t> live) {
            return r.has(source, target, view(live));
          },
          "source"_a, "target"_a, "live"_a, "Whether there is this phrase pair.");
}

void bind_decoder(nb::module_& m) {
  nb::class_<HieroDecoder>(m, "HieroDecoder", "CKY with cube pruning over a synchronous grammar.")
      .def(nb::init<std::shared_ptr<const Grammar>, std::vector<std::shared_ptr<const LanguageModel>>, const Texts&, const Texts&,
                    std::shared_ptr<const FeatureTemplates>, const Texts&, std::shared_ptr<const JointModel>>(),
           "grammar"_a, "lms"_a, "names"_a, "sparse"_a = Texts{}, "templates"_a = nb::none(), "arcs"_a = Texts{},
           "joint"_a = nb::none())
      .def_prop_ro(
          "vocab", [](const HieroDecoder& d) { return d.vocab(); }, "Words of all forests.")
      .def_prop_ro("features", [](const HieroDecoder& d) { return d.features(); })
      .def_prop_ro("stored", &HieroDecoder::stored, "Symbols, features and words that are stored for the next sentence.")
      .def(
          "decode",
          [](HieroDecoder& d, const Texts& ids, const Texts& lines, const Texts& kinds, Weights w, const Limits& limits,
             int64_t max_edges, std::optional<double> beam, int jobs,
             const Rules& rules) { return decode(d, w, checked(limits, max_edges, beam), jobs, ids, lines, kinds, rules); },
          "ids"_a, "lines"_a, "kinds"_a, "w"_a, "limits"_a, "max_edges"_a = 0, "beam"_a = nb::none(), "jobs"_a = 0,
          "rules"_a = Rules{},
          "The forests of tokenised lines. `kinds`: a letter for each word, n for a number, c for a name, w for others. `rules`: "
          "of each "
          "line, or none at all.")
      .def(
          "decode_lattices",
          [](HieroDecoder& d, const Pool& lattices, const std::string& kinds, Weights w, const Limits& limits, int64_t max_edges,
             std::optional<double> beam,
             int jobs) { return decode(d, w, checked(limits, max_edges, beam), jobs, lattices, kinds); },
          "lattices"_a, "kinds"_a, "w"_a, "limits"_a, "max_edges"_a = 0, "beam"_a = nb::none(), "jobs"_a = 0,
          "The forests of lattices. `kinds`: a letter for each word of their vocabulary.")
      .def(
          "kbest_lattices",
          [](HieroDecoder& d, const Pool& lattices, const std::string& kinds, Weights w, int64_t k, bool distinct,
             const Limits& limits, int jobs) { return kbest(d, w, checked(limits), k, distinct, jobs, lattices, kinds); },
          "lattices"_a, "kinds"_a, "w"_a, "k"_a, "distinct"_a, "limits"_a, "jobs"_a = 0)
      .def(
          "kbest",
          [](HieroDecoder& d, const Texts& ids, const Texts& lines, const Texts& kinds, Weights w, int64_t k, bool distinct,
             const Limits& limits, int jobs,
             const Rules& rules) { return kbest(d, w, checked(limits), k, distinct, jobs, ids, lines, kinds, rules); },
          "ids"_a, "lines"_a, "kinds"_a, "w"_a, "k"_a, "distinct"_a, "limits"_a, "jobs"_a = 0, "rules"_a = Rules{},
          "The k best of each line as lists; forests are dropped as soon as they were searched.")
      .def(
          "examples",
          [](HieroDecoder& d, const Texts& ids, const Texts& lines, const Texts& kinds,
             const std::vector<std::vector<Texts>>& references, const Limits& limits,
             const Rules& rules) { return examples(d, references, limits, ids, lines, kinds, rules); },
          "ids"_a, "lines"_a, "kinds"_a, "references"_a, "limits"_a, "rules"_a = Rules{}, nb::keep_alive<0, 1>(),
          "Sentences with the words of their references, to learn from.")
      .def(
          "lattice_examples",
          [](HieroDecoder& d, const Pool& lattices, const std::string& kinds, const std::vector<std::vector<Texts>>& references,
             const Limits& limits) { return examples(d, references, limits, lattices, kinds); },
          "lattices"_a, "kinds"_a, "references"_a, "limits"_a, nb::keep_alive<0, 1>());
}

}  // namespace

void init_decoder(nb::module_& m) {
  bind_rescorer(m);
  bind_rule(m);
  bind_learnt_rules(m);
  bind_decoder(m);
}

}  // namespace hopefear
