#include "forest/pool.h"

#include <cmath>

#include "common.h"
#include "display.h"
#include "forest/candidate_lists.h"
#include "util/array_store.h"
#include "util/words.h"

namespace hopefear {
namespace {

const Sentence& at(const Pool& pool, int64_t i) {
  if (i < 0) i += static_cast<int64_t>(pool.size());
  if (i < 0 || i >= static_cast<int64_t>(pool.size())) throw nb::index_error("no such sentence");
  return pool.sentences[i];
}

/// A method whose code is a function of hopefear.formats.pool: what a pool does with tables, frames and files.
template <class... Args>
nb::object in_python(const char* function, Args&&... args) {
  return nb::module_::import_("hopefear.formats.pool").attr(function)(std::forward<Args>(args)...);
}

std::string describe(const Pool& p) {
  int64_t edges = 0;
  for (const Sentence& s : p.sentences) edges += s.forest.edges();
  std::string text = "<Pool of " + std::to_string(p.size()) + (p.size() == 1 ? " sentence, " : " sentences, ");
  text +=
      std::to_string(edges) + (p.is_lists() ? " candidates, " : " edges, ") + std::to_string(p.features->size()) + " features";
  for (size_t i = 0; i < p.number_names.size(); ++i) text += (i ? ", " : ", numbers: ") + p.number_names[i];
  return text + ">";
}

/// Any whole numbers, negative ones from the end.
Pool subset_of(const Pool& p, nb::iterable indices) {
  std::vector<int64_t> numbers;
  for (nb::handle each : indices) {
    nb::object whole = nb::steal(PyNumber_Index(each.ptr()));
    if (!whole.is_valid()) {
      PyErr_Clear();
      throw InputError("a sentence is chosen by a whole number, not by " + std::string(nb::repr(each).c_str()));
    }
    const int64_t i = nb::cast<int64_t>(whole);
    numbers.push_back(i < 0 ? i + static_cast<int64_t>(p.size()) : i);
  }
  return subset(p, numbers);
}

void append_many(Pool& p, const std::vector<std::string>& ids, In<int64_t> row_begin, In2<double> dense, In2<double> numbers,
                 const std::vector<std::string>& texts, const std::vector<std::vector<std::string>>& references) {
  const size_t rows = dense.shape(0);
  bool fits = row_begin.size() == ids.size() + 1 && dense.shape(1) == static_cast<size_t>(p.features->size()) &&
              numbers.shape(1) == p.number_names.size() && numbers.shape(0) == rows && (texts.empty() || texts.size() == rows) &&
              (references.empty() || references.size() == ids.size());
  for (size_t i = 0; fits && i < ids.size(); ++i) fits = row_begin.data()[i] <= row_begin.data()[i + 1];
  fits = fits && row_begin.data()[0] >= 0 && static_cast<size_t>(row_begin.data()[ids.size()]) <= rows;
  if (!fits) throw InputError("the arrays of the lists do not fit each other");
  for (size_t i = 0; i < dense.size(); ++i)
    if (!std::isfinite(dense.data()[i])) throw InputError("a feature is NaN or infinite");
  nb::gil_scoped_release release;
  append_lists(p, ids, view(row_begin), dense.data(), numbers.data(), texts, references);
}

std::vector<std::optional<bool>> number_ids(const Pool& p) {
  std::vector<std::optional<bool>> ids;
  for (const Sentence& s : p.sentences)
    ids.push_back(s.id_kind == IdKind::place ? std::nullopt : std::optional(s.id_kind == IdKind::number));
  return ids;
}

void set_number_ids(Pool& p, const std::vector<std::optional<bool>>& ids) {
  if (ids.size() != p.size()) throw InputError("give a value for each sentence");
  for (size_t i = 0; i < ids.size(); ++i)
    p.sentences[i].id_kind = !ids[i] ? IdKind::place : *ids[i] ? IdKind::number : IdKind::string;
}

/// Exchange with tables and pickle.
nb::class_<Pool> bind_pool(nb::module_& m) {
  return nb::class_<Pool>(m, "Pool",
                          "The candidates (lists, lattices or forests) of a tuning set, with their references.\n\n"
                          ">>> pool = hf.read_nbest(\"data/nbest.txt\", references=[\"data/ref.0\", \"data/ref.1\"])\n"
                          ">>> pool\n"
                          "<Pool of 300 sentences, 9000 candidates, 9 features>\n"
                          ">>> pool[:10], pool.ids[0], pool.feature_names[3], len(pool.references(0))\n"
                          "(<Pool of 10 sentences, 300 candidates, 9 features>, '0', 'lm', 2)")
      .def(nb::init<>())
      .def_static(
          "from_table", [](nb::args given, nb::kwargs options) { return in_python("from_table", *given, **options); },
          nb::sig("def from_table(table: object, group: str, *, features: Sequence[str] | str = (), text: str | None = None, "
                  "references: Sequence[str] | str = (), outcome: Sequence[str] | str = (), missing: str = 'error') -> Pool"),
          "Candidate lists from a table: a file (CSV, TSV, JSON lines, Parquet, Arrow), a frame of pandas, polars, pyarrow or "
          "DuckDB, or a dict of arrays. docs/weigh.md explains the columns.\n\n"
          ">>> rows = [{\"prompt\": 1, \"lm\": -2.0, \"comet\": 0.9}, {\"prompt\": 1, \"lm\": -1.0, \"comet\": 0.7}]\n"
          ">>> hf.Pool.from_table(rows, group=\"prompt\", outcome=\"comet\")\n"
          "<Pool of 1 sentence, 2 candidates, 1 feature>")
      .def(
          "to_arrow", [](nb::handle_t<Pool> self) { return in_python("to_arrow", self); },
          nb::sig("def to_arrow(self) -> typing.Any"),
          "The candidates as a pyarrow.Table with a row for each: group, text, features, numbers.\n\n"
          ">>> hf.read_nbest(\"data/nbest.txt\").to_arrow().column_names[:3]\n"
          "['group', 'text', 'glue']")
      .def(
          "to_pandas", [](nb::handle_t<Pool> self) { return in_python("to_pandas", self); },
          nb::sig("def to_pandas(self) -> typing.Any"),
          "The same as a pandas.DataFrame.\n\n"
          ">>> frame = hf.read_nbest(\"data/nbest.txt\").to_pandas()\n"
          ">>> float(frame.groupby(\"group\")[\"lm\"].max().loc[\"0\"])\n"
          "-75.77")
      .def(
          "__reduce__", [](nb::handle_t<Pool> self) { return in_python("reduce", self); },
          nb::sig("def __reduce__(self) -> tuple[typing.Any, ...]"), "Pickled as the bytes of a native file of forests.");
}

/// The pool as a sequence of forests.
void bind_sequence(nb::class_<Pool>& pool) {
  pool.def("__repr__", &describe)
      .def(
          "_repr_html_", [](nb::handle_t<Pool> self) { return shown_by("pool_html", self); },
          nb::sig("def _repr_html_(self) -> str"))
      .def("__len__", &Pool::size)
      .def(
          "__getitem__", [](const Pool& p, int64_t i) { return at(p, i).forest; }, "index"_a, "The forest of one sentence.")
      .def(
          "__getitem__",
          [](const Pool& p, nb::slice slice) {
            const auto [start, stop, step, length] = slice.compute(p.size());
            std::vector<int64_t> indices;
            for (size_t i = 0; i < length; ++i) indices.push_back(start + static_cast<int64_t>(i) * step);
            return subset(p, indices);
          },
          "index"_a, "The sentences of a slice, as a pool.")
      .def(
          "__iter__", [](nb::handle_t<Pool> self) { return nb::steal(PySeqIter_New(self.ptr())); },
          nb::sig("def __iter__(self) -> collections.abc.Iterator[Forest]"), "The forests, one after the other.");
}

/// What it holds of each sentence.
void bind_contents(nb::class_<Pool>& pool) {
  pool.def_prop_ro("vocab", [](const Pool& p) { return p.vocab; })
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
      .def_prop_rw("number_ids", number_ids, set_number_ids,
                   "Whether the id of each sentence is a number in JSON; None: it is where it counts the sentences.")
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
          "index"_a, "candidate"_a,
          "The words of one candidate of a list.\n\n"
          ">>> hf.read_nbest(\"data/nbest.txt\").text(1, 0)[:49]\n"
          "'and they shall take to them wives , moabitesses :'");
}

/// Pools made from parts of others and from arrays.
void bind_making(nb::class_<Pool>& pool) {
  pool.def(
          "row_begin", [](const Pool& p) { return give(p.row_begin()); }, "Offsets of the rows of each sentence (lists only).")
      .def("append", &Pool::append, "id"_a, "forest"_a, "source"_a = "", "references"_a = std::vector<std::string>{},
           "Add a sentence.\n\n"
           ">>> pool = hf.read_nbest(\"data/nbest.txt\")\n"
           ">>> chosen = pool[:0]  # without sentences, with the same features\n"
           ">>> chosen.append(\"7\", pool[7], references=[\"and the two of them went on .\"])\n"
           ">>> chosen.ids\n"
           "['7']")
      .def(
          "retokenized",
          [](const Pool& p, In<int64_t> map_begin, In<int32_t> map, std::shared_ptr<Vocab> vocab) {
            if (map_begin.size() != static_cast<size_t>(p.vocab->size()) + 1)
              throw InputError("the map must cover the pool's vocabulary");
            return retokenized(p, view(map_begin), view(map), std::move(vocab));
          },
          "map_begin"_a, "map"_a, "vocab"_a)
      .def(
          "subset", [](const Pool& p, In<int64_t> indices) { return subset(p, view(indices)); }, "indices"_a.noconvert(),
          "The sentences with these indices; arrays are shared.\n\n"
          ">>> pool = hf.read_nbest(\"data/nbest.txt\")\n"
          ">>> pool.subset([7, 3]).ids\n"
          "['7', '3']")
      .def("subset", &subset_of, "indices"_a,
           nb::sig("def subset(self, indices: collections.abc.Iterable[typing.SupportsIndex]) -> Pool"))
      .def("append_lists", &append_many, "ids"_a, "row_begin"_a, "dense"_a, "numbers"_a, "texts"_a, "references"_a,
           "Many lists at once, with dense features only: rows row_begin[i] to row_begin[i + 1] of the arrays are those of list "
           "i.");
}

}  // namespace

void init_pool(nb::module_& m) {
  auto all = bind_pool(m);
  bind_sequence(all);
  bind_contents(all);
  bind_making(all);
  m.def("open_array_store", &ArrayStore::open, "folder"_a, "limit"_a,
        "Arrays of forests take so many bytes of memory; what is made beyond that lives in mapped files of the folder.");
  m.def("close_array_store", &ArrayStore::close, "What is made from now on lives in memory.");
  m.def(
      "canonical",
      [](const Pool& pool) {
        auto [out, places] = canonical(pool);
        return std::make_pair(std::move(out), give(std::move(places)));
      },
      "pool"_a, "merged([pool]), and where its list has each of the rows.");
  m.def(
      "merged",
      [](const std::vector<const Pool*>& pools, bool in_order) { return in_order ? merged_in_order(pools) : merged(pools); },
      "pools"_a, "in_order"_a = false,
      "Candidate lists under their sentence ids, duplicates removed, in a canonical order, or in the order of the pools.\n\n"
      ">>> pool = hf.read_nbest(\"data/nbest.txt\")\n"
      ">>> hf.merged([pool[:2], pool[1:3]])\n"
      "<Pool of 3 sentences, 90 candidates, 9 features>");
}

}  // namespace hopefear
