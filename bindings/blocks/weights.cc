#include "blocks.h"
#include "blocks/block_features.h"
#include "blocks/block_weights.h"

namespace hopefear {

void bind_feature_table(nb::module_& m) {
  m.def(
      "feature_key", [](std::string_view name) { return feature_key(name); }, "name"_a,
      "The 64-bit key of a feature of the block-sequence model.");
  m.def(
      "read_feature_table",
      [](const std::string& path) {
        std::set<std::string> templates;
        auto table = read_feature_table(path, templates);
        return std::pair{table, std::vector<std::string>(templates.begin(), templates.end())};
      },
      "path"_a, nb::call_guard<nb::gil_scoped_release>(), "Weights of a file, and the templates that have some.");
  m.def(
      "keyed_table", [](In<uint64_t> keys, In<double> w) { return keyed_table(view(keys), view(w)); }, "keys"_a, "w"_a,
      nb::call_guard<nb::gil_scoped_release>(), "The weights of features with these keys, which ascend.");
  nb::class_<FeatureTable>(m, "FeatureTable", "Weights by 64-bit keys of features.")
      .def(
          "__init__",
          [](FeatureTable* self, const std::vector<std::pair<std::string, double>>& weights) {
            new (self) FeatureTable(weights.size());
            for (const auto& [name, value] : weights) set_weight(*self, name, value);
          },
          "weights"_a = std::vector<std::pair<std::string, double>>{})
      .def("__len__", [](const FeatureTable& t) { return t.size(); })
      .def("get", [](const FeatureTable& t, std::string_view name) { return t.get(feature_key(name)); }, "name"_a);
}

void bind_block_corpus(nb::module_& m) {
  nb::class_<BlockCorpus>(m, "BlockCorpus", "Sentences made ready for a decoder of blocks, and their references.")
      .def("__len__", [](const BlockCorpus& c) { return c.sources.size(); })
      .def_prop_ro(
          "words",
          [](const BlockCorpus& c) {
            size_t n = 0;
            for (const auto& s : c.sources) n += s.words.size();
            return n;
          },
          "Source words in all.");
  nb::class_<BlockWeights>(m, "BlockWeights", "Weights made ready for a decoder of blocks.")
      .def(
          "__init__",
          [](BlockWeights* self, const BlockDecoder& d, std::shared_ptr<const FeatureTable> table, bool precompute, int jobs) {
            nb::gil_scoped_release release;
            new (self) BlockWeights(std::move(table), d, precompute, jobs);
          },
          "decoder"_a, "table"_a, "precompute"_a = false, "jobs"_a = 0);
}

}  // namespace hopefear
