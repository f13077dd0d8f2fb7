#include "block_decoder.h"

#include "common.h"
#include "weights.h"

namespace hopefear {
namespace {

/// Sentences made ready once, for many passes.
struct BlockCorpus {
  std::vector<BlockSource> sources;
  std::vector<std::vector<int32_t>> references;
};

BlockOptions checked(int64_t pop_limit, int64_t swap_limit, int64_t max_options, int64_t max_swap) {
  if (pop_limit < 0 || swap_limit < 0 || max_options < 0 || max_swap < 0) throw InputError("the limits of a search cannot be negative: 0 means no limit");
  return {pop_limit, swap_limit, max_options, max_swap};
}

const BlockDecoder::Locked kWithGil = [](const std::function<void()>& body) {
  nb::gil_scoped_acquire acquire;
  body();
};

}  // namespace

void init_blocks(nb::module_& m) {
  m.def("feature_key", [](std::string_view name) { return feature_key(name); }, "name"_a, "The 64-bit key of a feature of the block-sequence model.");
  m.def("read_feature_table", [](const std::string& path) {
    std::set<std::string> templates;
    auto table = read_feature_table(path, templates);
    return std::pair{table, std::vector<std::string>(templates.begin(), templates.end())};
  }, "path"_a, nb::call_guard<nb::gil_scoped_release>(), "Weights of a file, and the templates that have some.");
  nb::class_<FeatureTable>(m, "FeatureTable", "Weights by 64-bit keys of features.")
      .def("__init__", [](FeatureTable* self, const std::vector<std::pair<std::string, double>>& weights) {
        new (self) FeatureTable(weights.size());
        for (const auto& [name, value] : weights) {
          if (!std::isfinite(value)) throw InputError("the weight of " + name + " is not a finite number");
          self->set(feature_key(name), value);
        }
      }, "weights"_a = std::vector<std::pair<std::string, double>>{})
      .def("__len__", [](const FeatureTable& t) { return t.size(); })
      .def("get", [](const FeatureTable& t, std::string_view name) { return t.get(feature_key(name)); }, "name"_a);
  nb::class_<BlockCorpus>(m, "BlockCorpus", "Sentences made ready for a decoder of blocks, and their references.")
      .def("__len__", [](const BlockCorpus& c) { return c.sources.size(); })
      .def_prop_ro("words", [](const BlockCorpus& c) {
        size_t n = 0;
        for (const auto& s : c.sources) n += s.words.size();
        return n;
      }, "Source words in all.");
  nb::class_<BlockWeights>(m, "BlockWeights", "Weights made ready for a decoder of blocks.")
      .def("__init__", [](BlockWeights* self, const BlockDecoder& d, std::shared_ptr<const FeatureTable> table, bool precompute, int jobs) {
        nb::gil_scoped_release release;
        new (self) BlockWeights(std::move(table), d, precompute, jobs);
      }, "decoder"_a, "table"_a, "precompute"_a = false, "jobs"_a = 0);
  nb::class_<BlockDecoder>(m, "BlockDecoder", "Decoding by block sequences, monotone or with neighbours swapped.")
      .def("__init__", [](BlockDecoder* self, std::shared_ptr<const Grammar> grammar, std::vector<std::shared_ptr<const LanguageModel>> lms, bool phrase, bool word, bool swap) {
        new (self) BlockDecoder(std::move(grammar), std::move(lms), {phrase, word, swap});
      }, "grammar"_a, "lms"_a, "phrase"_a, "word"_a, "swap"_a)
      .def_prop_ro("vocab", [](const BlockDecoder& d) { return d.vocab(); }, "Words of all forests.")
      .def_prop_ro("features", [](const BlockDecoder& d) { return d.features(); }, "Features of all forests so far.")
      .def("table", [](const BlockDecoder& d, In<double> w) {
        if (w.size() > d.keys().size()) throw InputError("the weight vector has more numbers than there are features");
        auto table = std::make_shared<FeatureTable>(w.size());
        for (size_t j = 0; j < w.size(); ++j) {
          if (!std::isfinite(w.data()[j])) throw InputError("the weight of " + (*d.features())[static_cast<int32_t>(j)] + " is not a finite number");
          if (w.data()[j] != 0.0) table->set(d.keys()[j], w.data()[j]);
        }
        return table;
      }, "w"_a, "Weights by the ids of features.")
      .def("corpus", [](BlockDecoder& d, const std::vector<std::string>& ids, const std::vector<std::string>& lines, const std::vector<std::string>& kinds,
                        const std::vector<std::string>& references) {
        if (ids.size() != lines.size() || kinds.size() != lines.size()) throw InputError("one id, one line and the kinds of its words a sentence");
        if (!references.empty() && references.size() != lines.size()) throw InputError("one reference a sentence is needed");
        BlockCorpus c;
        for (size_t i = 0; i < lines.size(); ++i) c.sources.push_back(d.prepare(ids[i], lines[i], kinds[i]));
        for (const auto& line : references) c.references.push_back(d.reference(line));
        return c;
      }, "ids"_a, "lines"_a, "kinds"_a, "references"_a = std::vector<std::string>{}, "Looks the words of tokenised lines up.")
      .def("decode", [](BlockDecoder& d, const BlockCorpus& c, const BlockWeights& w, int64_t pop_limit, int64_t swap_limit, int64_t max_options, int64_t max_swap, int jobs) {
        const auto options = checked(pop_limit, swap_limit, max_options, max_swap);
        nb::gil_scoped_release release;
        return d.decode(c.sources, w, options, jobs, kWithGil);
      }, "corpus"_a, "w"_a, "pop_limit"_a, "swap_limit"_a, "max_options"_a, "max_swap"_a, "jobs"_a = 0, "Lattices of all that was looked at.")
      .def("kbest", [](BlockDecoder& d, const BlockCorpus& c, const BlockWeights& w, int64_t k, bool distinct, int64_t pop_limit, int64_t swap_limit, int64_t max_options,
                       int64_t max_swap, int jobs) {
        const auto options = checked(pop_limit, swap_limit, max_options, max_swap);
        nb::gil_scoped_release release;
        return d.kbest(c.sources, w, options, k, distinct, jobs, kWithGil);
      }, "corpus"_a, "w"_a, "k"_a, "distinct"_a, "pop_limit"_a, "swap_limit"_a, "max_options"_a, "max_swap"_a, "jobs"_a = 0, "The k best of each, as lists.")
      .def("translate", [](const BlockDecoder& d, const BlockCorpus& c, const BlockWeights& w, int64_t pop_limit, int64_t swap_limit, int64_t max_options, int64_t max_swap, int jobs) {
        const auto options = checked(pop_limit, swap_limit, max_options, max_swap);
        std::vector<std::string> lines(c.sources.size());
        {
          nb::gil_scoped_release release;
          const BlockSequences best = d.best(c.sources, {}, w, options, jobs);
          for (size_t i = 0; i < lines.size(); ++i)
            for (uint64_t b = best.block_begin[i]; b < best.block_begin[i + 1]; ++b)
              for (const int32_t e : d.target_of(c.sources[i], best.blocks[b])) lines[i] += (lines[i].empty() ? "" : " ") + (*d.vocab())[e];
        }
        return lines;
      }, "corpus"_a, "w"_a, "pop_limit"_a, "swap_limit"_a, "max_options"_a, "max_swap"_a, "jobs"_a = 0, "The words of the best sequence of each.");
}

}  // namespace hopefear
