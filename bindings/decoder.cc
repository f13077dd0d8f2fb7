#include "hiero_decoder.h"

#include "common.h"
#include "weights.h"

namespace hopefear {
namespace {

std::vector<HieroSource> prepared(HieroDecoder& d, const std::vector<std::string>& ids, const std::vector<std::string>& lines, const std::vector<std::string>& kinds) {
  if (ids.size() != lines.size() || kinds.size() != lines.size()) throw InputError("one id, one line and the kinds of its words a sentence");
  std::vector<HieroSource> sources;
  sources.reserve(lines.size());
  for (size_t i = 0; i < lines.size(); ++i) sources.push_back(d.prepare(ids[i], lines[i], kinds[i]));
  return sources;
}

HieroOptions checked(int64_t pop_limit, int64_t max_options, int64_t max_span, int64_t max_edges = 0, std::optional<double> beam = std::nullopt) {
  if (pop_limit < 0 || max_options < 0) throw InputError("pop_limit and max_options cannot be negative: 0 means no limit");
  if (max_span < 1) throw InputError("max_span must be at least 1");
  if (max_edges < 0 || (beam && !(*beam >= 0))) throw InputError("max_edges and beam cannot be negative");
  return {pop_limit, max_options, max_span, max_edges, beam.value_or(-1)};
}

}  // namespace

void init_decoder(nb::module_& m) {
  nb::class_<HieroDecoder>(m, "HieroDecoder", "CKY with cube pruning over a synchronous grammar.")
      .def(nb::init<std::shared_ptr<const Grammar>, std::vector<std::shared_ptr<const LanguageModel>>, const std::vector<std::string>&,
                    const std::vector<std::string>&, std::shared_ptr<const FeatureTemplates>>(),
           "grammar"_a, "lms"_a, "names"_a, "sparse"_a = std::vector<std::string>{}, "templates"_a = nb::none())
      .def_prop_ro("vocab", [](const HieroDecoder& d) { return d.vocab(); }, "Words of all forests.")
      .def_prop_ro("features", [](const HieroDecoder& d) { return d.features(); })
      .def("decode", [](HieroDecoder& d, const std::vector<std::string>& ids, const std::vector<std::string>& lines,
                        const std::vector<std::string>& kinds, Weights w, int64_t pop_limit, int64_t max_options, int64_t max_span,
                        int64_t max_edges, std::optional<double> beam, int jobs) {
        const double* weights = w.over(*d.features());
        const auto options = checked(pop_limit, max_options, max_span, max_edges, beam);
        const auto sources = prepared(d, ids, lines, kinds);  // with the GIL: the vocabulary grows
        nb::gil_scoped_release release;
        return d.decode(sources, weights, options, jobs);
      }, "ids"_a, "lines"_a, "kinds"_a, "w"_a, "pop_limit"_a = 200, "max_options"_a = 20, "max_span"_a = 10, "max_edges"_a = 0, "beam"_a = nb::none(),
           "jobs"_a = 0,
           "The forests of tokenised lines. `kinds`: a letter a word, n for a number, c for a name, w for others.")
      .def("kbest", [](HieroDecoder& d, const std::vector<std::string>& ids, const std::vector<std::string>& lines, const std::vector<std::string>& kinds,
                       Weights w, int64_t k, bool distinct, int64_t pop_limit, int64_t max_options, int64_t max_span, int jobs) {
        const double* weights = w.over(*d.features());
        const auto options = checked(pop_limit, max_options, max_span);
        const auto sources = prepared(d, ids, lines, kinds);
        nb::gil_scoped_release release;
        return d.kbest(sources, weights, options, k, distinct, jobs);
      }, "ids"_a, "lines"_a, "kinds"_a, "w"_a, "k"_a, "distinct"_a = false, "pop_limit"_a = 200, "max_options"_a = 20, "max_span"_a = 10, "jobs"_a = 0,
           "The k best of each line as lists; forests are dropped as soon as they were searched.");
}

}  // namespace hopefear
