#include <cstring>

#include "blocks.h"
#include "trainers/blocks/relevant_sets.h"

namespace hopefear {

namespace {

template <class T>
nb::bytes bytes_of(const std::vector<T>& values) {
  return nb::bytes(values.data(), values.size() * sizeof(T));
}

template <class T>
void fill(std::vector<T>& values, const nb::bytes& bytes) {
  values.resize(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
}

}  // namespace

void bind_block_sequences(nb::module_& m) {
  nb::class_<BlockSequences>(m, "BlockSequences", "Block sequences of many sentences.")
      .def(nb::init<>())
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
            for (const StoredBlock& b : s.blocks_of(z)) out.push_back({b.rule, b.begin, b.length, b.copy});
            return out;
          },
          "sequence"_a, "rule, begin, length, copy of each block.")
      .def("append", &BlockSequences::append, "more"_a, "Those of more sentences.")
      .def("__getstate__",
           [](const BlockSequences& s) {
             return std::make_tuple(bytes_of(s.sentence_begin), bytes_of(s.block_begin), bytes_of(s.bleu), bytes_of(s.blocks));
           })
      .def("__setstate__",
           [](BlockSequences& s, const std::tuple<nb::bytes, nb::bytes, nb::bytes, nb::bytes>& held) {
             new (&s) BlockSequences;
             fill(s.sentence_begin, std::get<0>(held)), fill(s.block_begin, std::get<1>(held));
             fill(s.bleu, std::get<2>(held)), fill(s.blocks, std::get<3>(held));
           })
      .def(
          "texts", [](const BlockSequences& s, const BlockDecoder& d, const BlockCorpus& c) { return d.texts(c.sources, s); },
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
          "mean_bleu", [](const SequenceFile& f) { return f.mean_bleu(); },
          "BLEU of the first sequence of each sentence, the mean over all sentences.")
      .def("changed", &SequenceFile::changed, "other"_a, "Sentences whose first sequence has other blocks there.");
}

}  // namespace hopefear
