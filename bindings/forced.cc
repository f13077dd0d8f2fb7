#include "common.h"
#include "hiero/forced_decoding.h"

namespace hopefear {

void init_forced(nb::module_& m) {
  using Step = std::tuple<int32_t, std::pair<int32_t, int32_t>, std::pair<int32_t, int32_t>, std::string, std::string, double>;
  nb::class_<ForcedDecoder>(m, "ForcedDecoder", "The best derivations of given translations.")
      .def_static(
          "features", [](bool blocks) { return ForcedDecoder::features(blocks); }, "blocks"_a = false,
          "What its weights are for.")
      .def_static(
          "columns", [](bool blocks) { return ForcedDecoder::columns(blocks); }, "blocks"_a = false,
          "The names of the columns of rows.")
      .def(
          "__init__",
          [](ForcedDecoder* self, std::shared_ptr<Grammar> grammar, std::vector<double> weights, int max_span, bool blocks) {
            new (self) ForcedDecoder(std::move(grammar), std::move(weights), max_span, blocks);
          },
          "grammar"_a, "weights"_a, "max_span"_a, "blocks"_a = false)
      .def(
          "rows",
          [](const ForcedDecoder& d, const Pool& pool, const std::vector<std::string>& sources,
             const std::vector<std::string>& kinds, int jobs) {
            std::vector<double> values;
            {
              nb::gil_scoped_release release;
              values = d.rows(pool, sources, kinds, jobs);
            }
            return give(std::move(values), ForcedDecoder::columns(false).size());
          },
          "pool"_a, "sources"_a, "kinds"_a, "jobs"_a = 0, "The columns of every candidate.")
      .def(
          "explain",
          [](const ForcedDecoder& d, const std::string& source, const std::string& kinds, const std::string& candidate) {
            std::vector<Step> steps;
            for (const auto& s : d.explain(source, kinds, candidate))
              steps.emplace_back(s.depth, std::pair(s.i, s.j), std::pair(s.k, s.l), s.source, s.target, s.score);
            return steps;
          },
          "source"_a, "kinds"_a, "candidate"_a, "depth, source span, candidate span, both sides and score of each rule.");
}

}  // namespace hopefear
