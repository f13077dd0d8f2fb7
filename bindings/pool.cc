#include "forest/pool.h"

#include "common.h"
#include "util/words.h"

namespace hopefear {
namespace {

const Sentence& at(const Pool& pool, int64_t i) {
  if (i < 0) i += static_cast<int64_t>(pool.size());
  if (i < 0 || i >= static_cast<int64_t>(pool.size())) throw nb::index_error("no such sentence");
  return pool.sentences[i];
}

}  // namespace

void init_pool(nb::module_& m) {
  nb::class_<Pool>(m, "Pool", "The candidates (lists, lattices or forests) of a tuning set, with their references.")
      .def(nb::init<>())
      .def("__len__", &Pool::size)
      .def(
          "__getitem__", [](const Pool& p, int64_t i) { return at(p, i).forest; }, "index"_a, "The forest of one sentence.")
      .def_prop_ro("vocab", [](const Pool& p) { return p.vocab; })
      .def_prop_ro("features", [](const Pool& p) { return p.features; })
      .def_prop_ro("feature_names", [](const Pool& p) { return p.features->texts(); })
      .def_ro("dense_width", &Pool::dense_width)
      .def_rw("number_names", &Pool::number_names)
      .def_prop_ro("is_lists", &Pool::is_lists)
      .def_prop_ro("ids",
                   [](const Pool& p) {
                     std::vector<std::string> ids;
                     for (const auto& s : p.sentences) ids.push_back(s.id);
                     return ids;
                   })
      .def(
          "source", [](const Pool& p, int64_t i) { return at(p, i).source; }, "index"_a)
      .def(
          "references",
          [](const Pool& p, int64_t i) {
            std::vector<std::string> texts;
            for (const auto& r : at(p, i).references) texts.push_back(text_of(*p.vocab, r));
            return texts;
          },
          "index"_a)
      .def(
          "text",
          [](const Pool& p, int64_t i, int32_t e) {
            const Forest& f = at(p, i).forest;
            if (!f.is_list() || e < 0 || e >= f.edges()) throw nb::index_error("no such candidate");
            return text_of(*p.vocab, f.edge_words(e));
          },
          "index"_a, "candidate"_a, "The words of one candidate of a list.")
      .def(
          "row_begin", [](const Pool& p) { return give(p.row_begin()); }, "Offsets of the rows of each sentence (lists only).")
      .def("append", &Pool::append, "id"_a, "forest"_a, "source"_a = "", "references"_a = std::vector<std::string>{})
      .def(
          "retokenized",
          [](const Pool& p, In<int64_t> map_begin, In<int32_t> map, std::shared_ptr<Vocab> vocab) {
            if (map_begin.size() != static_cast<size_t>(p.vocab->size()) + 1)
              throw InputError("the map must cover the pool's vocabulary");
            return retokenized(p, view(map_begin), view(map), std::move(vocab));
          },
          "map_begin"_a, "map"_a, "vocab"_a)
      .def(
          "subset", [](const Pool& p, In<int64_t> indices) { return subset(p, view(indices)); }, "indices"_a,
          "The sentences with these indices; arrays are shared.");
  m.def(
      "merged", [](const std::vector<const Pool*>& pools) { return merged(pools); }, "pools"_a,
      "Candidate lists under their sentence ids, duplicates removed, in a canonical order.");
}

}  // namespace hopefear
