#include <cstring>
#include <new>

#include "common.h"
#include "formats/forest_file.h"
#include "formats/json_forest.h"
#include "formats/jsonl_nbest.h"
#include "formats/moses_hypergraph.h"
#include "formats/moses_nbest.h"
#include "formats/plf.h"
#include "formats/pool_builder.h"
#include "formats/write_forests.h"
#include "formats/write_nbest.h"
#include "util/text.h"

namespace hopefear {
namespace {

/// Moves the sentences that are ready into a pool.
void collect_into(PoolBuilder& builder, Pool& pool) {
  while (builder.has_ready()) {
    NbestSentence next = builder.pop();
    for (const auto& text : next.references) {
      std::vector<int32_t> words;
      for_each_word(text, [&](std::string_view word) { words.push_back(builder.vocab()->add(word)); });
      if (!words.empty()) next.sentence.references.push_back(std::move(words));
    }
    pool.sentences.push_back(std::move(next.sentence));
  }
  pool.vocab = builder.vocab();
  pool.features = builder.features();
  pool.dense_width = builder.dense_width();
}

/// Reads lists chunk by chunk. Python opens and unpacks the files.
class NbestParser {
 public:
  NbestParser(bool by_position, bool stream) : builder_(stream, 0.9), moses_(builder_), jsonl_(builder_, by_position) {}

  void begin_file(std::string name, const std::string& format) {
    const bool json = format == "jsonl";
    if (started_ && json != json_) throw input_error(name, 0, "one list is in two formats. Convert it, or merge the files");
    started_ = true;
    json_ = json;
    json ? jsonl_.begin_file(std::move(name)) : moses_.begin_file(std::move(name));
  }
  void feed(nb::bytes bytes) {
    const std::string_view view(bytes.c_str(), bytes.size());
    nb::gil_scoped_release release;
    json_ ? jsonl_.feed(view) : moses_.feed(view);
  }
  void end_file() { json_ ? jsonl_.end_file() : moses_.end_file(); }
  void finish() { builder_.finish(); }
  std::vector<std::shared_ptr<NbestSentence>> ready() {
    std::vector<std::shared_ptr<NbestSentence>> out;
    while (builder_.has_ready()) out.push_back(std::make_shared<NbestSentence>(builder_.pop()));
    return out;
  }
  void collect(Pool& pool) {
    collect_into(builder_, pool);
    pool.number_names = jsonl_.metric_names();
  }
  std::vector<std::string> metric_names() const { return jsonl_.metric_names(); }

 private:
  PoolBuilder builder_;
  MosesNbestReader moses_;
  JsonlNbestReader jsonl_;
  bool json_ = false, started_ = false;
};

nb::bytes format_nbest(const Pool& pool, size_t begin, size_t end, const std::string& format, std::optional<In<double>> weights) {
  if (weights && weights->size() < static_cast<size_t>(pool.features->size()))
    throw InputError("the weight vector is shorter than the number of features");
  if (begin > end || end > pool.size()) throw nb::index_error("no such sentence");
  const NbestFormat wanted = format == "jsonl" ? NbestFormat::jsonl : format == "cdec" ? NbestFormat::cdec : NbestFormat::moses;
  std::string out;
  {
    nb::gil_scoped_release release;
    for (size_t i = begin; i < end; ++i) append_nbest(out, pool, i, wanted, weights ? weights->data() : nullptr);
  }
  return nb::bytes(out.data(), out.size());
}

/// Reads forests of other programs, file by file. Python opens and unpacks the files.
class ForestParser {
 public:
  ForestParser() : builder_(false, 0.5) {}

  void begin_file(std::string name, const std::string& format, int64_t before) {
    format_ = format == "plf" ? Format::plf : format == "moses" ? Format::moses : Format::json;
    file_ = std::move(name);
    lines_.begin_file(file_, before);
    sentences_ += before;
    documents_ = {};
    text_.clear();
  }
  void feed(nb::bytes bytes) {
    const std::string_view view(bytes.c_str(), bytes.size());
    nb::gil_scoped_release release;
    switch (format_) {
      case Format::moses: text_ += view; break;
      case Format::plf: lines_.feed(view, [&](std::string_view line) { plf(line); }); break;
      case Format::json:
        documents_.feed(view, [&](std::string_view prefix, std::string_view text, int64_t line) { json(prefix, text, line); });
        break;
    }
  }
  void end_file() {
    switch (format_) {
      case Format::moses:
        read_moses_hypergraph(builder_, text_, file_);
        end_sentence("");
        break;
      case Format::plf: lines_.end_file([&](std::string_view line) { plf(line); }); break;
      case Format::json:
        if (!trim(documents_.rest()).empty())
          throw input_error(file_, documents_.line(), "the JSON text ends too soon. Was the file cut off?");
        break;
    }
  }
  void finish() { builder_.finish(); }
  int64_t sentences() const { return sentences_; }
  void collect(Pool& pool) {
    const size_t before = pool.size();
    collect_into(builder_, pool);
    for (size_t i = before; i < pool.size(); ++i) validate(pool.sentences[i].forest, "sentence " + std::to_string(i));
  }

 private:
  enum class Format { moses, plf, json };

  void end_sentence(std::string source) {
    builder_.end_sentence(std::to_string(sentences_++), std::move(source));
    builder_.take_renumbering();
  }
  void plf(std::string_view line) {
    read_plf(builder_, line, file_, lines_.number());
    end_sentence("");
  }
  void json(std::string_view prefix, std::string_view text, int64_t line) {
    prefix = trim(prefix);
    if (line == 1 && prefix.starts_with("\xef\xbb\xbf")) prefix.remove_prefix(3);
    if (!prefix.empty() && prefix != std::to_string(sentences_) + " |||")
      throw input_error(file_, line,
                        "before sentence " + std::to_string(sentences_) + " stands " + quoted(prefix) +
                            ". Write nothing, or its number and |||, in order");
    end_sentence(read_json_forest(builder_, text, file_, line));
  }

  PoolBuilder builder_;
  Format format_ = Format::json;
  std::string file_, text_;
  Lines lines_;
  JsonDocuments documents_;
  int64_t sentences_ = 0;
};

nb::bytes format_forests(const Pool& pool, size_t begin, size_t end, const std::string& format) {
  if (begin > end || end > pool.size()) throw nb::index_error("no such sentence");
  auto append = format == "cdec"       ? append_cdec_forest
                : format == "travatar" ? append_travatar_forest
                : format == "cicada"   ? append_cicada_forest
                : format == "moses"    ? append_moses_hypergraph
                                       : append_plf;
  std::string out;
  {
    nb::gil_scoped_release release;
    for (size_t i = begin; i < end; ++i) append(out, pool, i);
  }
  return nb::bytes(out.data(), out.size());
}

/// A native file that was packed: its bytes are copied to where arrays may begin.
Pool forest_file_from_bytes(nb::bytes bytes, const std::string& file, bool verify) {
  auto copy = std::shared_ptr<char>(static_cast<char*>(::operator new(bytes.size() + 1, std::align_val_t{64})),
                                    [](char* p) { ::operator delete(p, std::align_val_t{64}); });
  std::memcpy(copy.get(), bytes.c_str(), bytes.size());
  return forest_file_pool(copy.get(), bytes.size(), copy, file, verify);
}

/// references[k][i]: reference k of sentence i; an empty one is missing.
void set_references(Pool& pool, const std::vector<std::vector<std::string>>& references) {
  for (size_t i = 0; i < pool.size(); ++i) {
    auto& to = pool.sentences[i].references;
    to.clear();
    for (const auto& lines : references) {
      if (lines.size() != pool.size()) throw InputError("there must be one reference line for each sentence");
      std::vector<int32_t> words;
      for_each_word(lines[i], [&](std::string_view word) { words.push_back(pool.vocab->add(word)); });
      if (!words.empty()) to.push_back(std::move(words));
    }
  }
}

void set_sources(Pool& pool, const std::vector<std::string>& sources) {
  if (sources.size() != pool.size()) throw InputError("there must be one source line for each sentence");
  for (size_t i = 0; i < pool.size(); ++i) pool.sentences[i].source = sources[i];
}

}  // namespace

void init_formats(nb::module_& m) {
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
            if (i < 0 || static_cast<size_t>(i) + 1 >= s.text_begin.size()) throw nb::index_error("no such candidate");
            return std::string(s.text(static_cast<size_t>(i)));
          },
          "candidate"_a, "A candidate's text, blank for blank.");
  nb::class_<NbestParser>(m, "NbestParser", "Reads k-best lists chunk by chunk.")
      .def(nb::init<bool, bool>(), "by_position"_a = false, "stream"_a = false)
      .def("begin_file", &NbestParser::begin_file, "name"_a, "format"_a = "moses")
      .def("feed", &NbestParser::feed, "data"_a)
      .def("end_file", &NbestParser::end_file)
      .def("finish", &NbestParser::finish)
      .def("ready", &NbestParser::ready)
      .def("collect", &NbestParser::collect, "pool"_a)
      .def_prop_ro("metric_names", &NbestParser::metric_names);
  m.def("format_nbest", &format_nbest, "pool"_a, "begin"_a, "end"_a, "format"_a, "weights"_a.noconvert() = nb::none());
  nb::class_<ForestParser>(m, "ForestParser", "Reads forests of other programs, file by file.")
      .def(nb::init<>())
      .def("begin_file", &ForestParser::begin_file, "name"_a, "format"_a, "before"_a = 0)
      .def("feed", &ForestParser::feed, "data"_a)
      .def("end_file", &ForestParser::end_file)
      .def("finish", &ForestParser::finish)
      .def_prop_ro("sentences", &ForestParser::sentences)
      .def("collect", &ForestParser::collect, "pool"_a);
  m.def("format_forests", &format_forests, "pool"_a, "begin"_a, "end"_a, "format"_a);
  m.def("write_forest_file", &write_forest_file, "pool"_a, "descriptor"_a, "file"_a, nb::call_guard<nb::gil_scoped_release>());
  nb::class_<ForestFileWriter>(m, "ForestFileWriter", "A native file, pool after pool.")
      .def(nb::init<int, std::string, std::string>(), "descriptor"_a, "file"_a, "folder"_a)
      .def("add", &ForestFileWriter::add, "pool"_a, nb::call_guard<nb::gil_scoped_release>())
      .def("finish", &ForestFileWriter::finish, nb::call_guard<nb::gil_scoped_release>());
  m.def("read_forest_file", &read_forest_file, "path"_a, "file"_a, "verify"_a = true, nb::call_guard<nb::gil_scoped_release>());
  m.def("forest_file_from_bytes", &forest_file_from_bytes, "data"_a, "file"_a, "verify"_a = true);
  m.attr("FOREST_MAGIC") = nb::bytes(kForestMagic, 16);
  m.def("set_references", &set_references, "pool"_a, "references"_a);
  m.def("set_sources", &set_sources, "pool"_a, "sources"_a);
}

}  // namespace hopefear
