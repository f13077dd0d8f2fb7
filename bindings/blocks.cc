#include <algorithm>
#include <cmath>
#include <iterator>

#include "blocks/block_decoder.h"
#include "blocks/block_examples.h"
#include "blocks/block_oracle.h"
#include "common.h"
#include "trainers/blocks/costmargin.h"
#include "util/checksum.h"

namespace hopefear {
namespace {

/// Sentences made ready once, for many passes.
struct BlockCorpus {
  std::vector<BlockSource> sources;
  std::vector<std::vector<int32_t>> references;
};

BlockOptions checked(int64_t pop_limit, int64_t swap_limit, int64_t max_options, int64_t max_swap) {
  if (pop_limit < 0 || swap_limit < 0 || max_options < 0 || max_swap < 0)
    throw InputError("the limits of a search cannot be negative: 0 means no limit");
  return {pop_limit, swap_limit, max_options, max_swap};
}

const BlockDecoder::Locked kWithGil = [](const std::function<void()>& body) {
  nb::gil_scoped_acquire acquire;
  body();
};

/// Words of each sequence.
std::vector<std::string> texts(const BlockDecoder& d, const BlockCorpus& c, const BlockSequences& s) {
  std::vector<std::string> lines;
  for (size_t i = 0; i + 1 < s.sentence_begin.size(); ++i)
    for (uint64_t z = s.sentence_begin[i]; z < s.sentence_begin[i + 1]; ++z) {
      std::string& line = lines.emplace_back();
      for (uint64_t b = s.block_begin[z]; b < s.block_begin[z + 1]; ++b)
        for (const int32_t e : d.target_of(c.sources[i], s.blocks[b])) line += (line.empty() ? "" : " ") + (*d.vocab())[e];
    }
  return lines;
}

}  // namespace

void init_blocks(nb::module_& m) {
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
  nb::class_<FeatureTable>(m, "FeatureTable", "Weights by 64-bit keys of features.")
      .def(
          "__init__",
          [](FeatureTable* self, const std::vector<std::pair<std::string, double>>& weights) {
            new (self) FeatureTable(weights.size());
            for (const auto& [name, value] : weights) {
              if (!std::isfinite(value)) throw InputError("the weight of " + name + " is not a finite number");
              self->set(feature_key(name), value);
            }
          },
          "weights"_a = std::vector<std::pair<std::string, double>>{})
      .def("__len__", [](const FeatureTable& t) { return t.size(); })
      .def("get", [](const FeatureTable& t, std::string_view name) { return t.get(feature_key(name)); }, "name"_a);
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
  nb::class_<BlockDecoder>(m, "BlockDecoder", "Decoding by block sequences, monotone or with neighbours swapped.")
      .def(
          "__init__",
          [](BlockDecoder* self, std::shared_ptr<const Grammar> grammar, std::vector<std::shared_ptr<const LanguageModel>> lms,
             bool phrase, bool word,
             bool swap) { new (self) BlockDecoder(std::move(grammar), std::move(lms), {phrase, word, swap}); },
          "grammar"_a, "lms"_a, "phrase"_a, "word"_a, "swap"_a)
      .def_prop_ro(
          "vocab", [](const BlockDecoder& d) { return d.vocab(); }, "Words of all forests.")
      .def_prop_ro(
          "features", [](const BlockDecoder& d) { return d.features(); }, "Features of all forests so far.")
      .def(
          "table",
          [](const BlockDecoder& d, In<double> w) {
            if (w.size() > static_cast<size_t>(d.features()->size()))
              throw InputError("the weight vector has more numbers than there are features");
            auto table = std::make_shared<FeatureTable>(w.size());
            for (size_t j = 0; j < w.size(); ++j) {
              const std::string& name = (*d.features())[static_cast<int32_t>(j)];
              if (!std::isfinite(w.data()[j])) throw InputError("the weight of " + name + " is not a finite number");
              if (w.data()[j] != 0.0) table->set(feature_key(name), w.data()[j]);
            }
            return table;
          },
          "w"_a, "Weights by the ids of features.")
      .def(
          "corpus",
          [](BlockDecoder& d, const std::vector<std::string>& ids, const std::vector<std::string>& lines,
             const std::vector<std::string>& kinds, const std::vector<std::string>& references) {
            if (ids.size() != lines.size() || kinds.size() != lines.size())
              throw InputError("one id, one line and the kinds of its words a sentence");
            if (!references.empty() && references.size() != lines.size()) throw InputError("one reference a sentence is needed");
            BlockCorpus c;
            for (size_t i = 0; i < lines.size(); ++i) c.sources.push_back(d.prepare(ids[i], lines[i], kinds[i]));
            for (const auto& line : references) c.references.push_back(d.reference(line));
            return c;
          },
          "ids"_a, "lines"_a, "kinds"_a, "references"_a = std::vector<std::string>{}, "Looks the words of tokenised lines up.")
      .def(
          "examples",
          [](BlockDecoder& d, const BlockCorpus& c, const std::vector<std::vector<std::string>>& references, int64_t pop_limit,
             int64_t swap_limit, int64_t max_options, int64_t max_swap) -> std::shared_ptr<Examples> {
            std::vector<References> words(references.size());
            for (size_t i = 0; i < references.size(); ++i) {
              for (const auto& line : references[i]) words[i].push_back(d.reference(line));
              drop_missing(words[i]);
            }
            return std::make_shared<BlockExamples>(d, c.sources, std::move(words),
                                                   checked(pop_limit, swap_limit, max_options, max_swap));
          },
          "corpus"_a, "references"_a, "pop_limit"_a, "swap_limit"_a, "max_options"_a, "max_swap"_a, nb::keep_alive<0, 1>(),
          "Sentences with the references of each, to learn from.")
      .def(
          "decode",
          [](BlockDecoder& d, const BlockCorpus& c, const BlockWeights& w, int64_t pop_limit, int64_t swap_limit,
             int64_t max_options, int64_t max_swap, int jobs) {
            const auto options = checked(pop_limit, swap_limit, max_options, max_swap);
            nb::gil_scoped_release release;
            return d.decode(c.sources, w, options, jobs, kWithGil);
          },
          "corpus"_a, "w"_a, "pop_limit"_a, "swap_limit"_a, "max_options"_a, "max_swap"_a, "jobs"_a = 0,
          "Lattices of all that was looked at.")
      .def(
          "kbest",
          [](BlockDecoder& d, const BlockCorpus& c, const BlockWeights& w, int64_t k, bool distinct, int64_t pop_limit,
             int64_t swap_limit, int64_t max_options, int64_t max_swap, int jobs) {
            const auto options = checked(pop_limit, swap_limit, max_options, max_swap);
            nb::gil_scoped_release release;
            return d.kbest(c.sources, w, options, k, distinct, jobs, kWithGil);
          },
          "corpus"_a, "w"_a, "k"_a, "distinct"_a, "pop_limit"_a, "swap_limit"_a, "max_options"_a, "max_swap"_a, "jobs"_a = 0,
          "The k best of each, as lists.")
      .def(
          "translate",
          [](const BlockDecoder& d, const BlockCorpus& c, const BlockWeights& w, int64_t pop_limit, int64_t swap_limit,
             int64_t max_options, int64_t max_swap, int jobs) {
            const auto options = checked(pop_limit, swap_limit, max_options, max_swap);
            nb::gil_scoped_release release;
            return texts(d, c, d.best(c.sources, {}, w, options, jobs));
          },
          "corpus"_a, "w"_a, "pop_limit"_a, "swap_limit"_a, "max_options"_a, "max_swap"_a, "jobs"_a = 0,
          "The words of the best sequence of each.")
      .def(
          "best",
          [](const BlockDecoder& d, const BlockCorpus& c, const BlockWeights& w, int64_t pop_limit, int64_t swap_limit,
             int64_t max_options, int64_t max_swap, int jobs) {
            const auto options = checked(pop_limit, swap_limit, max_options, max_swap);
            nb::gil_scoped_release release;
            return d.best(c.sources, c.references, w, options, jobs);
          },
          "corpus"_a, "w"_a, "pop_limit"_a, "swap_limit"_a, "max_options"_a, "max_swap"_a, "jobs"_a = 0,
          "The best sequence of each.")
      .def(
          "oracle",
          [](const BlockDecoder& d, const BlockCorpus& c, int64_t k, bool few, int64_t pop_limit, int64_t swap_limit,
             int64_t max_options, int64_t max_swap, int jobs) {
            const auto options = checked(pop_limit, swap_limit, max_options, max_swap);
            nb::gil_scoped_release release;
            return oracle_sequences(d, c.sources, c.references, options, k, few, jobs);
          },
          "corpus"_a, "k"_a, "few"_a, "pop_limit"_a, "swap_limit"_a, "max_options"_a, "max_swap"_a, "jobs"_a = 0,
          "The k sequences of the highest BLEU of each.")
      .def(
          "bags", [](const BlockDecoder& d, const BlockCorpus& c, int jobs) { return bags_of_blocks(d, c.sources, jobs); },
          "corpus"_a, "jobs"_a = 0, nb::call_guard<nb::gil_scoped_release>(), "The bag of blocks of each.")
      .def(
          "random",
          [](const BlockDecoder& d, const BlockCorpus& c, int64_t count, uint64_t seed, int jobs) {
            return random_sequences(d, c.sources, c.references, count, seed, jobs);
          },
          "corpus"_a, "count"_a, "seed"_a, "jobs"_a = 0, nb::call_guard<nb::gil_scoped_release>(), "Sequences drawn at random.")
      .def_prop_ro(
          "model_id", [](const BlockDecoder& d) { return checksum(d.grammar().bytes()); },
          "Tells the blocks of one model from those of another.");

  nb::class_<BlockSequences>(m, "BlockSequences", "Block sequences of many sentences.")
      .def("__len__", [](const BlockSequences& s) { return s.bleu.size(); })
      .def_prop_ro(
          "bleu", [](const BlockSequences& s) { return give(std::vector<float>(s.bleu)); }, nb::rv_policy::move,
          "Of each sequence, 0 to 1.")
      .def_prop_ro(
          "sentence_begin", [](const BlockSequences& s) { return give(std::vector<uint64_t>(s.sentence_begin)); },
          nb::rv_policy::move)
      .def_prop_ro("block_count", [](const BlockSequences& s) { return s.blocks.size(); })
      .def(
          "blocks",
          [](const BlockSequences& s, size_t z) {
            if (z >= s.bleu.size()) throw nb::index_error();
            std::vector<std::tuple<uint32_t, int, int, int>> out;
            for (uint64_t b = s.block_begin[z]; b < s.block_begin[z + 1]; ++b)
              out.push_back({s.blocks[b].rule, s.blocks[b].begin, s.blocks[b].length, s.blocks[b].copy});
            return out;
          },
          "sequence"_a, "rule, begin, length, copy of each block.")
      .def(
          "texts", [](const BlockSequences& s, const BlockDecoder& d, const BlockCorpus& c) { return texts(d, c, s); },
          "decoder"_a, "corpus"_a)
      .def(
          "file",
          [](const BlockSequences& s, bool bag, uint64_t model) {
            const std::string bytes = SequenceFile::bytes(s, bag, model);
            return nb::bytes(bytes.data(), bytes.size());
          },
          "bag"_a, "model"_a, "The bytes of a file of them.");
  nb::class_<SequenceFile>(m, "SequenceFile", "A mapped file of block sequences.")
      .def_static(
          "open",
          [](const std::string& path, const BlockDecoder& d, const BlockCorpus& c, uint64_t model) {
            return SequenceFile::open(path, d, c.sources, model);
          },
          "path"_a, "decoder"_a, "corpus"_a, "model"_a, nb::call_guard<nb::gil_scoped_release>())
      .def("__len__", [](const SequenceFile& f) { return f.sequences(); })
      .def_prop_ro(
          "mean_bleu",
          [](const SequenceFile& f) {
            double sum = 0;  // of the first of each sentence
            size_t n = 0;
            for (size_t i = 0; i < f.sentences(); ++i)
              if (const auto [begin, end] = f.of(i); begin < end) sum += static_cast<double>(f.bleu(begin)), ++n;
            return n ? sum / static_cast<double>(n) : 0.0;
          },
          "BLEU of the first sequence of each sentence, the mean over all sentences.");
  nb::class_<CostMargin>(m, "CostMargin", "SGD on relevant sets, Tillmann and Zhang 2006, section 3.")
      .def(
          "__init__",
          [](CostMargin* self, const BlockDecoder& d, const BlockCorpus& c, const std::vector<std::string>& reals) {
            std::vector<bool> chosen(kBlockReals, false);
            for (const auto& name : reals) {
              const auto found = std::find(std::begin(kBlockReal), std::end(kBlockReal), name);
              if (found == std::end(kBlockReal)) throw InputError("there is no real-valued feature " + name);
              chosen[found - std::begin(kBlockReal)] = true;
            }
            new (self) CostMargin(d, c.sources, chosen);
          },
          "decoder"_a, "corpus"_a, "reals"_a = std::vector<std::string>{}, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
      .def(
          "add", [](CostMargin& c, std::shared_ptr<SequenceFile> file, bool truths) { c.add(std::move(file), truths); }, "file"_a,
          "truths"_a)
      .def("find_features", &CostMargin::find_features, "drop_once"_a, "jobs"_a = 0, nb::call_guard<nb::gil_scoped_release>())
      .def(
          "run",
          [](CostMargin& c, double eta, double l2, int64_t batch, bool lock_free, uint64_t seed, int jobs) {
            CostMarginPass pass;
            {
              nb::gil_scoped_release release;
              pass = c.pass({eta, l2, batch, lock_free, seed}, jobs);
            }
            return std::pair{pass.loss, pass.updates};
          },
          "eta"_a, "l2"_a, "batch"_a, "lock_free"_a, "seed"_a, "jobs"_a = 0,
          "One pass: the loss as it was met, and the number of updates.")
      .def("objective", &CostMargin::objective, "l2"_a = 0.0, "jobs"_a = 0, nb::call_guard<nb::gil_scoped_release>(),
           "Eq. (5) as it is now.")
      .def_prop_ro("table", [](const CostMargin& c) { return c.table(); })
      .def("write_weights", &CostMargin::write_weights, "path"_a, nb::call_guard<nb::gil_scoped_release>())
      .def(
          "keys",
          [](const CostMargin& c) {
            std::vector<uint64_t> keys;
            for (size_t i = 0; i < c.table()->capacity(); ++i)
              if (c.table()->key(i)) keys.push_back(c.table()->key(i));
            std::sort(keys.begin(), keys.end());
            return give(std::move(keys));
          },
          "All features, by their keys.")
      .def(
          "weights",
          [](const CostMargin& c, In<uint64_t> keys) {
            std::vector<double> w(keys.size());
            for (size_t i = 0; i < keys.size(); ++i) w[i] = c.table()->get(keys.data()[i]);
            return give(std::move(w));
          },
          "keys"_a)
      .def(
          "set_weights",
          [](CostMargin& c, In<uint64_t> keys, In<double> w) {
            if (keys.size() != w.size()) throw InputError("as many keys as weights are needed");
            auto table = std::make_shared<FeatureTable>(keys.size());
            for (size_t i = 0; i < keys.size(); ++i) {
              if (keys.data()[i] == 0 || !std::isfinite(w.data()[i]))
                throw InputError("a checkpoint is damaged. Start again with --overwrite");
              table->set(keys.data()[i], w.data()[i]);
            }
            c.set_table(std::move(table));
          },
          "keys"_a, "w"_a, "Exactly these features with these weights.");
}

}  // namespace hopefear
