#include "forest/forest.h"

#include "common.h"
#include "display.h"

namespace hopefear {
namespace {

template <class T>
Out<const T> look(std::span<const T> values, nb::handle owner) {
  return Out<const T>(values.data(), {values.size()}, owner);
}

/// A forest from arrays, copied and checked: the way in for Python code that builds forests itself.
Forest from_arrays(In<int32_t> edge_begin, In<int32_t> tail_begin, In<int32_t> tails, In<int32_t> word_begin, In<int32_t> words,
                   In2<double> dense, std::shared_ptr<Vocab> vocab, std::shared_ptr<Vocab> features,
                   std::optional<In<int32_t>> sparse_begin, std::optional<In<int32_t>> sparse_ids,
                   std::optional<In<double>> sparse_values, std::optional<In<int32_t>> spans,
                   std::optional<In2<double>> numbers) {
  struct Arrays {
    std::vector<int32_t> edge_begin, tail_begin, tails, word_begin, words, sparse_begin, sparse_ids, spans;
    std::vector<double> dense, sparse_values, numbers;
  };
  auto a = std::make_shared<Arrays>();
  auto copy = [](auto& to, const auto& from) { to.assign(from.data(), from.data() + from.size()); };
  copy(a->edge_begin, edge_begin);
  copy(a->tail_begin, tail_begin);
  copy(a->tails, tails);
  copy(a->word_begin, word_begin);
  copy(a->words, words);
  copy(a->dense, dense);
  if (sparse_begin) copy(a->sparse_begin, *sparse_begin);
  if (sparse_ids) copy(a->sparse_ids, *sparse_ids);
  if (sparse_values) copy(a->sparse_values, *sparse_values);
  if (spans) copy(a->spans, *spans);
  if (numbers) copy(a->numbers, *numbers);
  Forest f;
  f.edge_begin = a->edge_begin;
  f.tail_begin = a->tail_begin;
  f.tails = a->tails;
  f.word_begin = a->word_begin;
  f.words = a->words;
  f.dense = a->dense;
  f.dense_width = static_cast<int32_t>(dense.shape(1));
  f.sparse_begin = a->sparse_begin;
  f.sparse_ids = a->sparse_ids;
  f.sparse_values = a->sparse_values;
  f.spans = a->spans;
  f.numbers = a->numbers;
  f.number_width = numbers ? static_cast<int32_t>(numbers->shape(1)) : 0;
  f.vocab = std::move(vocab);
  f.features = std::move(features);
  f.owner = a;
  validate(f, "forest");
  return f;
}

void bind_vocab(nb::module_& m) {
  nb::class_<Vocab>(m, "Vocab",
                    "Strings and the integers that stand for them.\n\n"
                    ">>> pool = hf.read_nbest(\"data/nbest.txt\")\n"
                    ">>> pool.features.find(\"lm\"), pool.features[3]\n"
                    "(3, 'lm')")
      .def(nb::init<>())
      .def("add", &Vocab::add, "text"_a, "The id of a string, a new one if it was not known.")
      .def("find", &Vocab::find, "text"_a, "The id of a string, or -1.")
      .def("__len__", &Vocab::size)
      .def(
          "__getitem__",
          [](const Vocab& v, int32_t id) {
            if (id < 0 || id >= v.size()) throw nb::index_error("no such id");
            return v[id];
          },
          "id"_a)
      .def("names", &Vocab::texts, "All strings, in the order of their ids.");
}

}  // namespace

void init_forest(nb::module_& m) {
  bind_vocab(m);
  nb::class_<Forest>(m, "Forest",
                     "Everything that the decoder could have said for one sentence.\n\n"
                     ">>> decoder = hf.Hiero(\"translator\")\n"
                     ">>> forest = decoder.decode([\"Das Haus steht hier.\"])[0]\n"
                     ">>> forest.viterbi(decoder.weights).text\n"
                     "'the house stands here .'")
      .def_static("from_arrays", &from_arrays, "edge_begin"_a, "tail_begin"_a, "tails"_a, "word_begin"_a, "words"_a, "dense"_a,
                  "vocab"_a, "features"_a, nb::kw_only(), "sparse_begin"_a = nb::none(), "sparse_ids"_a = nb::none(),
                  "sparse_values"_a = nb::none(), "spans"_a = nb::none(), "numbers"_a = nb::none(),
                  "A forest from flat arrays (see the layout in docs/forests.md), copied and checked.")
      .def_prop_ro("node_count", &Forest::nodes)
      .def_prop_ro("edge_count", &Forest::edges)
      .def_prop_ro("is_list", &Forest::is_list, "True for a k-best list: one node, edges without tails.")
      .def_prop_ro("source_length", &Forest::source_length)
      .def_ro("dense_width", &Forest::dense_width)
      .def_prop_ro("vocab", [](const Forest& f) { return f.vocab; })
      .def_prop_ro("features", [](const Forest& f) { return f.features; })
      .def_prop_ro("edge_begin", [](nb::handle_t<Forest> h) { return look(nb::cast<Forest&>(h).edge_begin, h); })
      .def_prop_ro("tail_begin", [](nb::handle_t<Forest> h) { return look(nb::cast<Forest&>(h).tail_begin, h); })
      .def_prop_ro("tails", [](nb::handle_t<Forest> h) { return look(nb::cast<Forest&>(h).tails, h); })
      .def_prop_ro("word_begin", [](nb::handle_t<Forest> h) { return look(nb::cast<Forest&>(h).word_begin, h); })
      .def_prop_ro("words", [](nb::handle_t<Forest> h) { return look(nb::cast<Forest&>(h).words, h); })
      .def_prop_ro("spans", [](nb::handle_t<Forest> h) { return look(nb::cast<Forest&>(h).spans, h); })
      .def_prop_ro("sparse_begin", [](nb::handle_t<Forest> h) { return look(nb::cast<Forest&>(h).sparse_begin, h); })
      .def_prop_ro("sparse_ids", [](nb::handle_t<Forest> h) { return look(nb::cast<Forest&>(h).sparse_ids, h); })
      .def_prop_ro("sparse_values", [](nb::handle_t<Forest> h) { return look(nb::cast<Forest&>(h).sparse_values, h); })
      .def_prop_ro("dense",
                   [](nb::handle_t<Forest> h) {
                     const Forest& f = nb::cast<Forest&>(h);
                     return Out2<const double>(f.dense.data(),
                                               {static_cast<size_t>(f.edges()), static_cast<size_t>(f.dense_width)}, h);
                   })
      .def_prop_ro("numbers",
                   [](nb::handle_t<Forest> h) {
                     const Forest& f = nb::cast<Forest&>(h);
                     return Out2<const double>(f.numbers.data(),
                                               {static_cast<size_t>(f.edges()), static_cast<size_t>(f.number_width)}, h);
                   })
      .def(
          "scores",
          [](const Forest& f, In<double> w) {
            if (w.size() < static_cast<size_t>(f.features->size()))
              throw InputError("the weight vector is shorter than the number of features");
            std::vector<double> scores(f.edges());
            edge_scores(f, w.data(), scores.data());
            return give(std::move(scores));
          },
          "w"_a, "w.h(e) of every edge.")
      .def(
          "_repr_html_", [](nb::handle_t<Forest> self) { return shown_by("forest_html", self); },
          nb::sig("def _repr_html_(self) -> str"));
}

}  // namespace hopefear
