#include "formats/write_nbest.h"

#include <algorithm>

#include "forest/edge_features.h"
#include "formats/json.h"
#include "util/text.h"
#include "util/words.h"

namespace hopefear {
namespace {

void append_text_lines(std::string& out, const Pool& pool, size_t sentence, const char* equals, const double* w, size_t first) {
  const Forest& f = pool.sentences[sentence].forest;
  std::vector<std::pair<int32_t, double>> h;
  const std::string opening = std::to_string(first + sentence) + " ||| ";
  for (int32_t e = 0; e < f.edges(); ++e) {
    out += opening;
    for (int32_t word : f.edge_words(e))
      if ((*pool.vocab)[word] == "|||")
        throw InputError("sentence " + std::to_string(first + sentence) +
                         " has the word \"|||\", which separates fields here. Write JSONL instead");
    append_words(out, *pool.vocab, f.edge_words(e));
    out += " |||";
    edge_features(f, e, true, h);
    for (const auto& [id, value] : h) {
      const std::string& name = (*pool.features)[id];
      if (name.empty() || std::any_of(name.begin(), name.end(), is_blank))
        throw InputError("the feature name " + quoted(name) + " is empty or has a blank in it. Rename the feature");
      out += ' ';
      out += name;
      out += equals;
      append_number(out, value);
    }
    out += " ||| ";
    append_number(out, w ? f.edge_score(e, w) : 0.0);
    out += '\n';
  }
}

void append_json_line(std::string& out, const Pool& pool, size_t sentence, size_t first) {
  const Sentence& s = pool.sentences[sentence];
  const Forest& f = s.forest;
  std::string words;
  std::vector<std::pair<int32_t, double>> h;
  auto append_string = [&](std::span<const int32_t> ids) {
    words.clear();
    append_words(words, *pool.vocab, ids);
    append_json_string(out, words);
  };
  out += "{\"id\": ";
  if (s.id_kind == IdKind::number || (s.id_kind == IdKind::place && s.id == std::to_string(first + sentence)))
    out += s.id;
  else
    append_json_string(out, s.id);
  if (!s.source.empty()) {
    out += ", \"source\": ";
    append_json_string(out, s.source);
  }
  if (!s.references.empty()) {
    out += ", \"references\": [";
    for (size_t k = 0; k < s.references.size(); ++k) {
      if (k) out += ", ";
      append_string(s.references[k]);
    }
    out += ']';
  }
  out += ", \"candidates\": [";
  for (int32_t e = 0; e < f.edges(); ++e) {
    out += e ? ", {\"text\": " : "{\"text\": ";
    append_string(f.edge_words(e));
    out += ", \"features\": {";
    bool opened = false;
    auto pair = [&](const std::string& name, double value) {
      if (opened) out += ", ";
      opened = true;
      append_json_string(out, name);
      out += ": ";
      append_number(out, value);
    };
    edge_features(f, e, true, h);
    for (const auto& [id, value] : h) pair((*pool.features)[id], value);
    out += '}';
    if (f.number_width) {
      out += ", \"metrics\": {";
      opened = false;
      for (int32_t k = 0; k < f.number_width; ++k) pair(pool.number_names[k], f.number_row(e)[k]);
      out += '}';
    }
    out += '}';
  }
  out += "]}\n";
}

}  // namespace

void append_nbest(std::string& out, const Pool& pool, size_t sentence, NbestFormat format, const double* w, size_t first) {
  if (!pool.sentences[sentence].forest.is_list())
    throw InputError("sentence " + std::to_string(first + sentence) +
                     " is a forest, not a list of candidates. Take its k best first");
  if (format == NbestFormat::jsonl)
    append_json_line(out, pool, sentence, first);
  else
    append_text_lines(out, pool, sentence, format == NbestFormat::moses ? "= " : "=", w, first);
}

}  // namespace hopefear
