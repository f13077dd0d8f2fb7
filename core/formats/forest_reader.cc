#include "formats/forest_reader.h"

#include <utility>

#include "formats/moses_hypergraph.h"
#include "formats/plf.h"
#include "util/text.h"

namespace hopefear {

void ForestReader::begin_file(std::string name, Format format, int64_t before) {
  format_ = format;
  file_ = std::move(name);
  lines_.begin_file(file_, before);
  sentences_ += before;
  documents_ = JsonDocuments{};
  text_.clear();
  if (format_ >= Format::kaldi) lattices_.begin_file(file_, lattice_format(format_));
}

void ForestReader::feed(std::string_view bytes) {
  switch (format_) {
    case Format::moses: text_ += bytes; break;
    case Format::plf: lines_.feed(bytes, [&](std::string_view line) { plf(line); }); break;
    case Format::json:
      documents_.feed(bytes, [&](std::string_view prefix, std::string_view text, int64_t line) { json(prefix, text, line); });
      break;
    default: lattices_.feed(bytes, [&](std::string id) { end_sentence("", std::move(id)); });
  }
}

void ForestReader::end_file() {
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
    default: lattices_.end_file([&](std::string id) { end_sentence("", std::move(id)); });
  }
}

void ForestReader::collect(Pool& pool) {
  const size_t before = pool.size();
  builder_.collect(pool);
  for (size_t i = before; i < pool.size(); ++i) validate(pool.sentences[i].forest, "sentence " + std::to_string(i));
}

LatticeReader::Format ForestReader::lattice_format(Format format) {
  return format == Format::kaldi     ? LatticeReader::Format::kaldi
         : format == Format::openfst ? LatticeReader::Format::openfst
                                     : LatticeReader::Format::slf;
}

/// Without an id, it is the number of the sentence.
void ForestReader::end_sentence(std::string source, std::string id) {
  builder_.end_sentence(id.empty() ? std::to_string(sentences_) : std::move(id), std::move(source));
  ++sentences_;
  builder_.take_renumbering();
}

void ForestReader::plf(std::string_view line) {
  read_plf(builder_, line, file_, lines_.number());
  end_sentence("");
}

void ForestReader::json(std::string_view prefix, std::string_view text, int64_t line) {
  prefix = trim(prefix);
  if (line == 1 && prefix.starts_with("\xef\xbb\xbf")) prefix.remove_prefix(3);
  if (!prefix.empty() && prefix != std::to_string(sentences_) + " |||")
    throw input_error(file_, line,
                      "before sentence " + std::to_string(sentences_) + " stands " + quoted(prefix) +
                          ". Write nothing, or its number and |||, in order");
  end_sentence(read_json_forest(builder_, text, file_, line));
}

}  // namespace hopefear
