#include "common.h"
#include "jsonl_nbest.h"
#include "moses_nbest.h"
#include "pool_builder.h"
#include "text.h"
#include "write_nbest.h"

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
  NbestParser(int64_t reference_count, bool stream)
      : builder_(stream, 0.9), moses_(builder_, reference_count), jsonl_(builder_, reference_count) {}

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
  if (weights && weights->size() < static_cast<size_t>(pool.features->size())) throw InputError("the weight vector is shorter than the number of features");
  if (begin > end || end > pool.size()) throw nb::index_error("no such sentence");
  const NbestFormat wanted = format == "jsonl" ? NbestFormat::jsonl : format == "cdec" ? NbestFormat::cdec : NbestFormat::moses;
  std::string out;
  {
    nb::gil_scoped_release release;
    for (size_t i = begin; i < end; ++i) append_nbest(out, pool, i, wanted, weights ? weights->data() : nullptr);
  }
  return nb::bytes(out.data(), out.size());
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
      .def_prop_ro("forest", [](const NbestSentence& s) { return s.sentence.forest; }, "The list as a forest of one node.")
      .def("text", [](const NbestSentence& s, int64_t i) {
        if (i < 0 || static_cast<size_t>(i) + 1 >= s.text_begin.size()) throw nb::index_error("no such candidate");
        return std::string(s.text(static_cast<size_t>(i)));
      }, "candidate"_a, "A candidate's text, blank for blank.");
  nb::class_<NbestParser>(m, "NbestParser", "Reads k-best lists chunk by chunk.")
      .def(nb::init<int64_t, bool>(), "reference_count"_a = -1, "stream"_a = false)
      .def("begin_file", &NbestParser::begin_file, "name"_a, "format"_a = "moses")
      .def("feed", &NbestParser::feed, "data"_a)
      .def("end_file", &NbestParser::end_file)
      .def("finish", &NbestParser::finish)
      .def("ready", &NbestParser::ready)
      .def("collect", &NbestParser::collect, "pool"_a)
      .def_prop_ro("metric_names", &NbestParser::metric_names);
  m.def("format_nbest", &format_nbest, "pool"_a, "begin"_a, "end"_a, "format"_a, "weights"_a.noconvert() = nb::none());
  m.def("set_references", &set_references, "pool"_a, "references"_a);
  m.def("set_sources", &set_sources, "pool"_a, "sources"_a);
}

}  // namespace hopefear
