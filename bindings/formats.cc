#include <cstring>
#include <new>

#include "common.h"
#include "formats/forest_file.h"
#include "formats/forest_reader.h"
#include "formats/nbest_reader.h"
#include "formats/write_forests.h"
#include "formats/write_nbest.h"
#include "util/text.h"

namespace hopefear {
namespace {

/// Other threads may add words to the vocabulary of a pool meanwhile: see Vocab.
template <class Append>
nb::bytes format_sentences(const Pool& pool, size_t begin, size_t end, Append&& append) {
  if (begin > end || end > pool.size()) throw nb::index_error("no such sentence");
  std::string out;
  {
    nb::gil_scoped_release release;
    for (size_t i = begin; i < end; ++i) append(out, i);
  }
  return nb::bytes(out.data(), out.size());
}

Missing missing_policy(const std::string& name) {
  if (name == "error") return Missing::error;
  if (name == "zero") return Missing::zero;
  if (name == "mean") return Missing::mean;
  throw InputError("missing: " + quoted(name) + " is not known. Choose one of error, zero, mean");
}

nb::bytes format_nbest(const Pool& pool, size_t begin, size_t end, const std::string& format, std::optional<In<double>> weights,
                       size_t first) {
  if (weights && weights->size() < static_cast<size_t>(pool.features->size()))
    throw InputError("the weight vector is shorter than the number of features");
  const NbestFormat wanted = format == "jsonl" ? NbestFormat::jsonl : format == "cdec" ? NbestFormat::cdec : NbestFormat::moses;
  const double* w = weights ? weights->data() : nullptr;
  return format_sentences(pool, begin, end, [&](std::string& out, size_t i) { append_nbest(out, pool, i, wanted, w, first); });
}

nb::bytes format_forests(const Pool& pool, size_t begin, size_t end, const std::string& format) {
  const auto append = format == "cdec"       ? append_cdec_forest
                      : format == "travatar" ? append_travatar_forest
                      : format == "cicada"   ? append_cicada_forest
                      : format == "moses"    ? append_moses_hypergraph
                                             : append_plf;
  return format_sentences(pool, begin, end, [&](std::string& out, size_t i) { append(out, pool, i); });
}

ForestReader::Format forest_format(const std::string& name) {
  using Format = ForestReader::Format;
  if (name == "kaldi") return Format::kaldi;
  if (name == "openfst") return Format::openfst;
  if (name == "slf") return Format::slf;
  return name == "plf" ? Format::plf : name == "moses" ? Format::moses : Format::json;
}

template <class Reader>
void feed(Reader& reader, nb::bytes bytes) {
  const std::string_view view(bytes.c_str(), bytes.size());
  nb::gil_scoped_release release;
  reader.feed(view);
}

/// A native file that was compressed: its bytes are copied to aligned memory.
Pool forest_file_from_bytes(nb::bytes bytes, const std::string& file, bool verify) {
  auto copy = std::shared_ptr<char>(static_cast<char*>(::operator new(bytes.size() + 1, std::align_val_t{64})),
                                    [](char* p) { ::operator delete(p, std::align_val_t{64}); });
  std::memcpy(copy.get(), bytes.c_str(), bytes.size());
  return forest_file_pool(copy.get(), bytes.size(), copy, file, verify);
}

void bind_lists(nb::module_& m) {
  nb::class_<NbestSentence>(m, "NbestSentence", "The candidates of one sentence, as a file has them.")
      .def("__len__", [](const NbestSentence& s) { return s.sentence.forest.edges(); })
      .def_prop_ro("id", [](const NbestSentence& s) { return s.sentence.id; })
      .def_prop_ro("source", [](const NbestSentence& s) { return s.sentence.source; })
      .def_ro("references", &NbestSentence::references)
      .def_prop_ro(
          "forest", [](const NbestSentence& s) { return s.sentence.forest; }, "The list as a forest of one node.")
      .def(
          "text",
          [](const NbestSentence& s, int64_t i) {
            if (i < 0 || i + 1 >= static_cast<int64_t>(s.text_begin.size())) throw nb::index_error("no such candidate");
            return std::string(s.text(i));
          },
          "candidate"_a, "A candidate's text, blank for blank.");
  nb::class_<NbestReader>(m, "NbestParser", "Reads k-best lists chunk by chunk.")
      .def(
          "__init__",
          [](NbestReader* reader, bool by_position, bool stream, const std::string& missing) {
            new (reader) NbestReader(by_position, stream, missing_policy(missing));
          },
          nb::kw_only(), "by_position"_a = false, "stream"_a = false, "missing"_a)
      .def(
          "begin_file",
          [](NbestReader& reader, std::string name, const std::string& format) {
            reader.begin_file(std::move(name), format == "jsonl"  ? NbestReader::Format::jsonl
                                               : format == "json" ? NbestReader::Format::json
                                                                  : NbestReader::Format::moses);
          },
          "name"_a, "format"_a)
      .def("feed", &feed<NbestReader>, "data"_a)
      .def("end_file", &NbestReader::end_file)
      .def("finish", &NbestReader::finish)
      .def("ready",
           [](NbestReader& reader) {
             std::vector<std::shared_ptr<NbestSentence>> out;
             for (NbestSentence& next : reader.ready()) out.push_back(std::make_shared<NbestSentence>(std::move(next)));
             return out;
           })
      .def("collect", &NbestReader::collect, "pool"_a)
      .def_prop_ro("metric_names", &NbestReader::metric_names);
  m.def("format_nbest", &format_nbest, "pool"_a, "begin"_a, "end"_a, "format"_a, "weights"_a.noconvert() = nb::none(),
        "first"_a = 0);
}

void bind_forests(nb::module_& m) {
  nb::class_<ForestReader>(m, "ForestParser", "Reads forests of other programs, file by file.")
      .def(nb::init<>())
      .def(
          "begin_file",
          [](ForestReader& reader, std::string name, const std::string& format, int64_t before) {
            reader.begin_file(std::move(name), forest_format(format), before);
          },
          "name"_a, "format"_a, "before"_a = 0)
      .def("feed", &feed<ForestReader>, "data"_a)
      .def("end_file", &ForestReader::end_file)
      .def(
          "symbols",
          [](ForestReader& reader, nb::bytes text, const std::string& file) {
            reader.symbols(std::string_view(text.c_str(), text.size()), file);
          },
          "text"_a, "file"_a)
      .def("finish", &ForestReader::finish)
      .def_prop_ro("sentences", &ForestReader::sentences)
      .def("collect", &ForestReader::collect, "pool"_a);
  m.def("format_forests", &format_forests, "pool"_a, "begin"_a, "end"_a, "format"_a);
  m.def("write_forest_file", &write_forest_file, "pool"_a, "descriptor"_a, "file"_a, nb::call_guard<nb::gil_scoped_release>());
  nb::class_<ForestFileWriter>(m, "ForestFileWriter", "A native file, pool after pool.")
      .def(nb::init<int, std::string, std::string>(), "descriptor"_a, "file"_a, "folder"_a)
      .def("add", &ForestFileWriter::add, "pool"_a, nb::call_guard<nb::gil_scoped_release>())
      .def("finish", &ForestFileWriter::finish, nb::call_guard<nb::gil_scoped_release>());
  m.def("read_forest_file", &read_forest_file, "path"_a, "file"_a, "verify"_a = true, nb::call_guard<nb::gil_scoped_release>());
  m.def("forest_file_from_bytes", &forest_file_from_bytes, "data"_a, "file"_a, "verify"_a = true);
  m.attr("FOREST_MAGIC") = nb::bytes(kForestMagic, 16);
}

}  // namespace

void init_formats(nb::module_& m) {
  bind_lists(m);
  bind_forests(m);
  m.def(
      "set_references", [](Pool& p, const std::vector<std::vector<std::string>>& lines) { p.set_references(lines); }, "pool"_a,
      "references"_a);
  m.def("set_sources", [](Pool& p, const std::vector<std::string>& lines) { p.set_sources(lines); }, "pool"_a, "sources"_a);
}

}  // namespace hopefear
