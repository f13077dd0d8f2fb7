#include "blocks.h"
#include "blocks/block_examples.h"
#include "blocks/block_oracle.h"
#include "blocks/block_samples.h"
#include "util/checksum.h"

namespace hopefear {
namespace {

using Release = nb::gil_scoped_release;

BlockOptions checked(int64_t pop_limit, int64_t swap_limit, int64_t max_options, int64_t max_swap) {
  const BlockOptions options{.pop_limit = pop_limit, .swap_limit = swap_limit, .max_options = max_options, .max_swap = max_swap};
  options.check();
  return options;
}

const BlockDecoder::Locked kWithGil = [](const std::function<void()>& body) {
  nb::gil_scoped_acquire acquire;
  body();
};

BlockCorpus corpus(BlockDecoder& d, const std::vector<std::string>& ids, const std::vector<std::string>& lines,
                   const std::vector<std::string>& kinds, const std::vector<std::string>& references) {
  if (!references.empty() && references.size() != lines.size()) throw InputError("one reference per sentence is needed");
  BlockCorpus c{d.prepare(ids, lines, kinds), {}};
  for (const auto& line : references) c.references.push_back(d.reference(line));
  return c;
}

std::shared_ptr<Examples> examples(BlockDecoder& d, const BlockCorpus& c, const std::vector<std::vector<std::string>>& references,
                                   int64_t pop_limit, int64_t swap_limit, int64_t max_options, int64_t max_swap) {
  std::vector<References> words(references.size());
  for (size_t i = 0; i < references.size(); ++i) {
    for (const auto& line : references[i]) words[i].push_back(d.reference(line));
    drop_missing(words[i]);
  }
  return std::make_shared<BlockExamples>(d, c.sources, std::move(words), checked(pop_limit, swap_limit, max_options, max_swap));
}

/// Its parts, and the preparation of sentences and weights.
void add_preparation(nb::class_<BlockDecoder>& decoder) {
  decoder
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
          "table", [](const BlockDecoder& d, In<double> w) { return weight_table(*d.features(), view(w)); }, "w"_a,
          "Weights by the ids of features.")
      .def("corpus", &corpus, "ids"_a, "lines"_a, "kinds"_a, "references"_a = std::vector<std::string>{},
           "Looks the words of tokenised lines up.")
      .def("examples", &examples, "corpus"_a, "references"_a, "pop_limit"_a, "swap_limit"_a, "max_options"_a, "max_swap"_a,
           nb::keep_alive<0, 1>(), "Sentences with the references of each, to learn from.");
}

/// Translation.
void add_decoding(nb::class_<BlockDecoder>& decoder) {
  decoder
      .def(
          "decode",
          [](BlockDecoder& d, const BlockCorpus& c, const BlockWeights& w, int64_t pop_limit, int64_t swap_limit,
             int64_t max_options, int64_t max_swap, int jobs) {
            const auto options = checked(pop_limit, swap_limit, max_options, max_swap);
            Release release;
            return d.decode(c.sources, w, options, jobs, kWithGil);
          },
          "corpus"_a, "w"_a, "pop_limit"_a, "swap_limit"_a, "max_options"_a, "max_swap"_a, "jobs"_a = 0,
          "Lattices of all that was looked at.")
      .def(
          "kbest",
          [](BlockDecoder& d, const BlockCorpus& c, const BlockWeights& w, int64_t k, bool distinct, int64_t pop_limit,
             int64_t swap_limit, int64_t max_options, int64_t max_swap, int jobs) {
            const auto options = checked(pop_limit, swap_limit, max_options, max_swap);
            Release release;
            return d.kbest(c.sources, w, options, k, distinct, jobs, kWithGil);
          },
          "corpus"_a, "w"_a, "k"_a, "distinct"_a, "pop_limit"_a, "swap_limit"_a, "max_options"_a, "max_swap"_a, "jobs"_a = 0,
          "The k best of each, as lists.")
      .def(
          "translate",
          [](const BlockDecoder& d, const BlockCorpus& c, const BlockWeights& w, int64_t pop_limit, int64_t swap_limit,
             int64_t max_options, int64_t max_swap, int jobs) {
            const auto options = checked(pop_limit, swap_limit, max_options, max_swap);
            Release release;
            return d.texts(c.sources, d.best(c.sources, {}, w, options, jobs));
          },
          "corpus"_a, "w"_a, "pop_limit"_a, "swap_limit"_a, "max_options"_a, "max_swap"_a, "jobs"_a = 0,
          "The words of the best sequence of each.")
      .def(
          "best",
          [](const BlockDecoder& d, const BlockCorpus& c, const BlockWeights& w, int64_t pop_limit, int64_t swap_limit,
             int64_t max_options, int64_t max_swap, int jobs) {
            const auto options = checked(pop_limit, swap_limit, max_options, max_swap);
            Release release;
            return d.best(c.sources, c.references, w, options, jobs);
          },
          "corpus"_a, "w"_a, "pop_limit"_a, "swap_limit"_a, "max_options"_a, "max_swap"_a, "jobs"_a = 0,
          "The best sequence of each.");
}

/// Sequences for training.
void add_sequences(nb::class_<BlockDecoder>& decoder) {
  decoder
      .def(
          "oracle",
          [](const BlockDecoder& d, const BlockCorpus& c, int64_t k, bool few, int64_t pop_limit, int64_t swap_limit,
             int64_t max_options, int64_t max_swap, int jobs) {
            const auto options = checked(pop_limit, swap_limit, max_options, max_swap);
            Release release;
            return oracle_sequences(d, c.sources, c.references, options, k, few, jobs);
          },
          "corpus"_a, "k"_a, "few"_a, "pop_limit"_a, "swap_limit"_a, "max_options"_a, "max_swap"_a, "jobs"_a = 0,
          "The k sequences of the highest BLEU of each.")
      .def(
          "bags", [](const BlockDecoder& d, const BlockCorpus& c, int jobs) { return bags_of_blocks(d, c.sources, jobs); },
          "corpus"_a, "jobs"_a = 0, nb::call_guard<Release>(), "The bag of blocks of each.")
      .def(
          "random",
          [](const BlockDecoder& d, const BlockCorpus& c, int64_t count, uint64_t seed, int jobs) {
            return random_sequences(d, c.sources, c.references, count, seed, jobs);
          },
          "corpus"_a, "count"_a, "seed"_a, "jobs"_a = 0, nb::call_guard<Release>(), "Sequences drawn at random.")
      .def_prop_ro(
          "model_id", [](const BlockDecoder& d) { return checksum(d.grammar().bytes()); },
          "Tells the blocks of one model from those of another.");
}

}  // namespace

void bind_block_decoder(nb::module_& m) {
  nb::class_<BlockDecoder> decoder(m, "BlockDecoder", "Decoding by block sequences, monotone or with neighbours swapped.");
  add_preparation(decoder);
  add_decoding(decoder);
  add_sequences(decoder);
}

}  // namespace hopefear
