#include "grammar/grammar.h"

#include <fstream>

#include "common.h"
#include "grammar/grammar_text.h"
#include "util/checksum.h"

namespace hopefear {
namespace {

uint32_t checked(const Grammar& g, int64_t rule) {
  if (rule < 0 || rule >= g.rules()) throw nb::index_error("no such rule");
  return static_cast<uint32_t>(rule);
}

/// Piece by piece: if it were mapped, all of a large file would count as memory of a build.
uint64_t file_checksum(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> piece(size_t{1} << 20);
  Checksum sum;
  while (file) {
    file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    sum.add(std::as_bytes(std::span(piece).first(static_cast<size_t>(file.gcount()))));
  }
  if (!file.eof()) throw input_error(path, 0, "cannot be read. Is the path right?");
  return sum.value();
}

void bind_grammar(nb::module_& m) {
  nb::class_<Grammar>(m, "Grammar",
                      "A synchronous grammar, memory-mapped: a trie of source sides and their rules.\n\n"
                      ">>> grammar = hf.Model.open(\"translator\").grammar\n"
                      ">>> begin, end = grammar.find(\"das haus\")\n"
                      ">>> [grammar.target(rule) for rule in range(begin, end)]\n"
                      "['the house']")
      .def_static("open", &Grammar::open, "path"_a, "verify"_a = true, "jobs"_a = 0, nb::call_guard<nb::gil_scoped_release>())
      .def_static("build", &Grammar::build, "table"_a, "jobs"_a = 0, nb::call_guard<nb::gil_scoped_release>())
      .def("__len__", &Grammar::rules)
      .def_prop_ro("nodes", &Grammar::nodes)
      .def_prop_ro("sides", &Grammar::sides, "Distinct source sides.")
      .def_prop_ro("max_source_symbols", &Grammar::max_source_symbols)
      .def_prop_ro("names", &Grammar::names, "Of the columns.")
      .def_prop_ro("source_vocab", [](const Grammar& g) { return g.source_vocab(); })
      .def_prop_ro("target_vocab", [](const Grammar& g) { return g.target_vocab(); })
      .def_prop_ro(
          "columns",
          [](nb::handle_t<Grammar> h) {
            const Grammar& g = nb::cast<Grammar&>(h);
            return Out2<const float>(g.columns().data(), {g.rules(), g.width()}, h);
          },
          "One row per rule.")
      .def_prop_ro(
          "bytes",
          [](nb::handle_t<Grammar> h) {
            const Grammar& g = nb::cast<Grammar&>(h);
            return Out<const uint8_t>(reinterpret_cast<const uint8_t*>(g.bytes().data()), {g.bytes().size()}, h);
          },
          "What a grammar file contains.")
      .def(
          "source", [](const Grammar& g, int64_t rule) { return g.source_text(checked(g, rule)); }, "rule"_a,
          "The source side of a rule, as in `de [X,1]`.")
      .def(
          "target", [](const Grammar& g, int64_t rule) { return g.target_text(checked(g, rule)); }, "rule"_a)
      .def(
          "links",
          [](const Grammar& g, int64_t rule) {
            std::vector<std::pair<int, int>> links;
            for (const PackedLink link : g.links(checked(g, rule))) links.push_back({link.s, link.t});
            return links;
          },
          "rule"_a, "Its word alignment, in symbols.")
      .def("find", &Grammar::find, "source"_a, "The rules [begin, end) of a source side, as in `de [X,1]`.")
      .def("table", &Grammar::table, nb::call_guard<nb::gil_scoped_release>())
      .def("filtered", &Grammar::filtered, "sentences"_a, "max_span"_a, "jobs"_a = 0, nb::call_guard<nb::gil_scoped_release>(),
           "The rules that can apply to some of these sentences.");
}

void bind_text(nb::module_& m) {
  nb::class_<GrammarTextReader>(m, "GrammarTextReader", "Reads rules in the text format of cdec and Joshua.")
      .def(nb::init<>())
      .def(
          "add",
          [](GrammarTextReader& reader, const std::vector<std::string_view>& lines, const std::string& where, long first) {
            for (size_t i = 0; i < lines.size(); ++i) reader.add(lines[i], where, first + static_cast<long>(i));
          },
          "lines"_a, "where"_a, "first"_a)
      .def("finish", &GrammarTextReader::finish, "jobs"_a = 0, nb::call_guard<nb::gil_scoped_release>())
      .def_prop_ro("glue", &GrammarTextReader::glue, "Rules of [S], left out.")
      .def_prop_ro("repeated", &GrammarTextReader::repeated, "Rules that stood there before, left out.");
  m.def("grammar_text", &grammar_text, "table"_a, "begin"_a, "end"_a, nb::call_guard<nb::gil_scoped_release>(),
        "The rules of source sides [begin, end) as lines.");
}

}  // namespace

void init_grammar(nb::module_& m) {
  bind_grammar(m);
  bind_text(m);
  m.def("file_checksum", &file_checksum, "path"_a, nb::call_guard<nb::gil_scoped_release>(), "A 64-bit checksum of a file.");
  m.def("checksum", [](nb::bytes data) { return checksum(std::as_bytes(std::span(data.c_str(), data.size()))); }, "data"_a);
}

}  // namespace hopefear
