#include "formats/jsonl_nbest.h"

#include <algorithm>

#include "util/text.h"

namespace hopefear {

void JsonlNbestReader::end_file() {
  lines_.end_file([&](std::string_view text) { sentence(text, lines_.number()); });
  if (const int64_t line = whole_ ? documents_.unfinished() : 0)
    throw input_error(lines_.file(), line, "the JSON text ends too soon. Was the file cut off?");
  if (whole_) around(documents_.rest(), true, documents_.line());
  if (whole_ ? sentences_ == before_ : lines_.number() == 0)
    throw input_error(lines_.file(), 0, "the file is empty. Was the program that writes it interrupted?");
}

void JsonlNbestReader::document(std::string_view prefix, std::string_view text, int64_t line) {
  around(prefix, false, line);
  if (const int64_t at = invalid_utf8(text); at >= 0)
    throw input_error(lines_.file(), line + std::count(text.begin(), text.begin() + at, '\n'),
                      "a byte is not UTF-8. Convert the file: iconv -f ISO-8859-1 -t UTF-8");
  sentence(text, line);
}

/// Checks the text before an object or after the last one, which is empty or has the brackets and commas of an array.
void JsonlNbestReader::around(std::string_view text, bool last, int64_t line) {
  const bool first = sentences_ == before_;
  if (first && text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  text = trim(text);
  if (first && text.starts_with('[')) {
    array_ = Array::open;
    text = trim(text.substr(1));
  } else if (array_ == Array::open && !first && !last && text.starts_with(',')) {
    text = trim(text.substr(1));
  } else if (array_ == Array::open && !last) {
    throw input_error(lines_.file(), line, "a comma is missing between two sentences of the array. Write one");
  }
  if (last && array_ == Array::open && text.starts_with(']')) {
    array_ = Array::closed;
    text = trim(text.substr(1));
  }
  if (last && array_ == Array::open && text.empty())
    throw input_error(lines_.file(), line, "the JSON text ends too soon. Was the file cut off?");
  if (!text.empty())
    throw input_error(lines_.file(), line,
                      "expected an object with the candidates of a sentence, found " + quoted(text) +
                          (last ? ". Was the file cut off?" : ". Write one per sentence"));
}

void JsonlNbestReader::sentence(std::string_view text, int64_t line) {
  if (trim(text).empty()) return;
  Json json(text, lines_.file(), line);
  std::string key, id, source;
  std::vector<std::string> references;
  bool has_id = false, has_source = false, has_references = false, has_candidates = false, number_id = false;
  auto once = [&](bool& seen) {
    if (seen) json.fail("the key " + quoted(key) + " occurs twice. Keep one");
    seen = true;
  };
  json.begin_object("a line");
  while (json.next_key(key)) {
    if (key == "id") {
      once(has_id);
      number_id = json.peek() == Json::Kind::number;
      id = number_id ? std::to_string(json.integer("the id")) : std::string(json.string("the id"));
    } else if (key == "source") {
      once(has_source);
      if (json.peek() == Json::Kind::null)
        json.skip();
      else
        source = json.string("the source");
    } else if (key == "references") {
      once(has_references);
      if (json.peek() == Json::Kind::null) {
        json.skip();
      } else if (json.peek() == Json::Kind::string) {
        references.emplace_back(json.string("a reference"));
      } else {
        json.begin_array("\"references\"");
        while (json.next_item()) references.emplace_back(json.string("a reference"));
      }
    } else if (key == "candidates") {
      once(has_candidates);
      json.begin_array("\"candidates\"");
      while (json.next_item()) candidate(json);
    } else {
      json.skip();
    }
  }
  json.end();
  if (!has_candidates) json.fail("the key \"candidates\" is missing. Give each sentence its candidates");
  if (builder_.candidates() == 0) json.fail("there are no candidates. Give each sentence at least one");
  if (!has_id) id = std::to_string(sentences_);
  if (sentences_ == 0 && number_id && id == "1") base_ = 1;
  if (by_position_ && number_id && id != std::to_string(sentences_ + base_))
    json.fail("the id is " + id + " where the reference files have line " + std::to_string(sentences_ + base_) +
              " (counted from " + std::to_string(base_) + "). Put the sentences in order, or the references into the JSON");
  if (!ids_.insert(id).second) json.fail("the id " + quoted(id) + " occurs twice. Keep the candidates of a sentence together");
  ++sentences_;
  builder_.end_sentence(std::move(id), std::move(source), std::move(references),
                        !has_id     ? IdKind::place
                        : number_id ? IdKind::number
                                    : IdKind::string);
}

void JsonlNbestReader::add_text(Json& json) {
  const std::string_view text = json.string("\"text\"");
  if (text.find_first_of("\n\r") == std::string_view::npos) {
    builder_.add_text(text);
  } else {  // a candidate is printed on one line
    std::string line(text);
    std::replace(line.begin(), line.end(), '\n', ' ');
    std::replace(line.begin(), line.end(), '\r', ' ');
    builder_.add_text(line);
  }
}

void JsonlNbestReader::add_features(Json& json, const Where& where) {
  std::string name;
  json.begin_object("\"features\"");
  while (json.next_key(name)) {
    if (name.empty() || std::any_of(name.begin(), name.end(), is_blank))
      json.fail(where() + "the feature name " + quoted(name) + " is empty or has a blank in it. Rename the feature");
    if (json.peek() != Json::Kind::number) json.fail(where() + "feature " + quoted(name) + " is not a number. Write one");
    const std::string_view token = json.literal("a feature");
    double value = 0;
    const Number found = parse_number(token, value);
    if (found != Number::good)
      json.fail(where() + "feature " + quoted(name) + " has the value " + quoted(token) + ". Write a finite number");
    if (!builder_.add_feature(builder_.feature(name), value))
      json.fail(where() + "feature " + quoted(name) + " occurs twice. Give each feature its own name");
  }
}

/// The numbers of a candidate, in the columns of the first; `given` marks those that it has.
void JsonlNbestReader::read_metrics(Json& json, const Where& where, std::vector<double>& metrics, std::vector<uint8_t>& given) {
  std::string name;
  json.begin_object("\"metrics\"");
  while (json.next_key(name)) {
    auto at = std::find(metric_names_.begin(), metric_names_.end(), name);
    if (at == metric_names_.end()) {
      if (metrics_known_)
        json.fail(where() + "the metric " + quoted(name) +
                  " is not among those of the first candidate. Give every candidate the same metrics");
      metric_names_.push_back(name);
      metrics.push_back(0);
      given.push_back(0);
      at = metric_names_.end() - 1;
    }
    const size_t column = at - metric_names_.begin();
    if (given[column]++) json.fail(where() + "the metric " + quoted(name) + " occurs twice. Keep one");
    metrics[column] = json.number("a metric");
  }
}

void JsonlNbestReader::candidate(Json& json) {
  const size_t number = builder_.candidates();
  const Where where = [&] { return "candidate " + std::to_string(number) + ": "; };
  std::string key;
  bool has_text = false, has_features = false, has_metrics = false;
  auto once = [&](bool& seen) {
    if (seen) json.fail(where() + "the key " + quoted(key) + " occurs twice. Keep one");
    seen = true;
  };
  std::vector<double> metrics(metric_names_.size());
  std::vector<uint8_t> given(metric_names_.size(), 0);
  json.begin_object("a candidate");
  while (json.next_key(key)) {
    if (key == "text") {
      once(has_text);
      add_text(json);
    } else if (key == "features") {
      once(has_features);
      add_features(json, where);
    } else if (key == "metrics") {
      once(has_metrics);
      read_metrics(json, where, metrics, given);
    } else {
      json.skip();
    }
  }
  if (!has_text) json.fail(where() + "the key \"text\" is missing. Write the words of the candidate");
  if (!has_features) json.fail(where() + "the key \"features\" is missing. Write {} if there are none");
  for (size_t k = 0; k < given.size(); ++k)
    if (!given[k])
      json.fail(where() + "the metric " + quoted(metric_names_[k]) + " is missing. Give every candidate the same metrics");
  if (!metrics_known_) {
    metrics_known_ = true;
    builder_.number_width = static_cast<int32_t>(metric_names_.size());
  }
  builder_.numbers().insert(builder_.numbers().end(), metrics.begin(), metrics.end());
  builder_.end_candidate();
}

}  // namespace hopefear
