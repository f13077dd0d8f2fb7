#include "formats/moses_nbest.h"

#include <algorithm>
#include <cstring>

#include "util/text.h"

namespace hopefear {
namespace {

constexpr size_t kGuesses = 256;

/// As next_field, but any ||| ends a field.
bool next_loose_field(std::string_view& rest, std::string_view& field, bool& more) {
  if (!more) return false;
  const size_t bars = rest.find("|||");
  more = bars != std::string_view::npos;
  field = rest.substr(0, bars);
  rest.remove_prefix(more ? bars + 3 : rest.size());
  return true;
}

/// 0-0 1-2, or Marian's soft ones: 0.9,0.1 0.2,0.8
bool is_alignment(std::string_view field) { return field.find_first_not_of("0123456789-.,:e+ ") == std::string_view::npos; }

}  // namespace

void MosesNbestReader::end_file() {
  lines_.end_file([&](std::string_view text) { line(text); });
  if (lines_.number() == 0) throw input_error(lines_.file(), 0, "the file is empty. Was the decoder interrupted?");
  if (builder_.candidates()) end_sentence();
}

void MosesNbestReader::end_sentence() {
  builder_.end_sentence(std::to_string(id_));
  renumber();
}

void MosesNbestReader::renumber() {
  const auto map = builder_.take_renumbering();
  if (map.empty()) return;
  auto follow = [&](std::vector<int32_t>& ids) {
    for (int32_t& id : ids) id = map[id];
  };
  for (Label& label : several_) follow(label.ids);
  for (Guess& guess : guesses_) follow(guess.ids);
  std::vector<uint8_t> single(single_.size(), 0);
  for (size_t id = 0; id < std::min(map.size(), single_.size()); ++id) single[map[id]] = single_[id];
  single_.swap(single);
}

int MosesNbestReader::split(std::string_view text) {
  fields_.clear();
  bool more = true;
  for (std::string_view field; loose_ ? next_loose_field(text, field, more) : next_field(text, field, more);)
    fields_.push_back(field);
  return static_cast<int>(fields_.size());
}

void MosesNbestReader::line(std::string_view text) {
  const bool first = lines_.number() == 1;
  int count = split(text);
  if (count < 4 && first) {  // Moses wrote lists without blanks around ||| once
    loose_ = true;
    count = split(text);
  }
  if (count < 4)
    fail("expected 4 fields split by \" ||| \" (id, words, features, score), found " +
         std::to_string(trim(fields_[0]).empty() && count == 1 ? 0 : count) +
         (first ? ". Is this a list as Moses writes it? Name its format if not (--format)" : ". Was the file cut off?"));
  sentence_id(trim(fields_[0]));
  std::string_view words = fields_[1];
  if (words.starts_with(' ')) words.remove_prefix(1);  // the separator's own blanks
  if (words.ends_with(' ')) words.remove_suffix(1);
  builder_.add_text(words);
  place_fields();
  features(fields_[2]);
  check_score(trim(fields_[3]));
  builder_.end_candidate();
}

/// Brings features and score to the third and fourth place, where Moses has them; reads Marian's word scores on the way.
void MosesNbestReader::place_fields() {
  const auto named = [](std::string_view field) { return field.find('=') != std::string_view::npos; };
  double value;
  if (named(fields_[2])) {
    // Moses
  } else if (named(fields_[3]) && parse_number(trim(fields_[2]), value) != Number::not_a_number) {  // Travatar
    std::swap(fields_[2], fields_[3]);
  } else if (named(fields_[3]) && fields_.size() > 4 && is_alignment(fields_[2])) {
    fields_.erase(fields_.begin() + 2);
  }
  if (fields_.size() > 4 && trim(fields_[2]).starts_with("WordScores=") && named(fields_[3])) {
    word_scores(fields_[2]);
    fields_.erase(fields_.begin() + 2);
  }
}

void MosesNbestReader::word_scores(std::string_view field) {
  constexpr std::string_view name = "WordScores";
  double sum = 0, least = 0;
  size_t count = 0;
  for_each_word(trim(field).substr(name.size() + 1), [&](std::string_view token) {
    const double value = number(token, name);
    least = count++ ? std::min(least, value) : value;
    sum += value;
  });
  const auto feature = [&](const char* what) { return builder_.feature(std::string(name) + what); };
  add(feature("_sum"), sum);
  add(feature("_mean"), count ? sum / static_cast<double>(count) : 0);
  add(feature("_min"), least);
}

void MosesNbestReader::check_score(std::string_view score) const {
  double value;
  if (score.empty()) return;
  switch (parse_number(score, value)) {
    case Number::good: break;
    case Number::not_finite:
      fail("the score " + quoted(score) + " is not finite. Replace it by a finite number (it is not used)");
    case Number::not_a_number:
      fail("the score " + quoted(score) + " is not a number. " +
           (lines_.number() == 1 ? "Is this a list as Moses writes it? Name its format if not (--format)"
                                 : "Does a word contain \"|||\"?"));
  }
}

void MosesNbestReader::sentence_id(std::string_view field) {
  int64_t id = -1;
  const auto [p, error] = std::from_chars(field.data(), field.data() + field.size(), id);
  if (error != std::errc() || p != field.data() + field.size() || id < 0)
    fail("the sentence id " + quoted(field) +
         " is not a whole number from 0 up. Write the line number of the sentence, counted from 0");
  if (id == id_ && builder_.candidates()) return;
  if (id <= id_)
    fail("sentence " + std::to_string(id) + " comes after sentence " + std::to_string(id_) +
         ". Keep the candidates of a sentence together and the ids in order (sort -s -n), or merge the files");
  if (id > id_ + 1 && !(id_ < 0 && id == 1)) {
    if (id_ < 0)
      fail("the first sentence id is " + std::to_string(id) +
           ", but ids count from 0 or 1. Renumber them, or add what is missing");
    fail("sentence " + std::to_string(id_ + 1) + " has no candidates: the ids jump from " + std::to_string(id_) + " to " +
         std::to_string(id) + ". Give each sentence at least one candidate");
  }
  if (builder_.candidates()) end_sentence();
  id_ = id;
}

double MosesNbestReader::number(std::string_view token, std::string_view name) const {
  double value = 0;
  switch (parse_number(token, value)) {
    case Number::good: break;
    case Number::not_finite:
      fail("feature " + quoted(name) + " has the value " + quoted(token) +
           ". Replace it by a finite number, or drop the candidate");
    case Number::not_a_number:
      fail("feature " + quoted(name) + " has the value " + quoted(token) +
           ", which is not a number. Write name= value or name=value");
  }
  return value;
}

void MosesNbestReader::add(int32_t id, double value) {
  if (!builder_.add_feature(id, value))
    fail("feature " + quoted((*builder_.features())[id]) + " occurs twice in one candidate. Give each feature its own name");
}

/// Adds the features of one name from values_.
void MosesNbestReader::values_of(std::string_view name, std::string_view label) {
  if (place_ < guesses_.size()) {
    const Guess& guess = guesses_[place_];
    if (guess.text == label && guess.ids.size() == values_.size()) {
      for (size_t k = 0; k < values_.size(); ++k) add(guess.ids[k], values_[k]);
      ++place_;
      return;
    }
  }
  if (name.empty()) fail("a feature has no name before its \"=\". Name it");
  auto ragged = [&](size_t before) {
    fail("feature " + quoted(name) + " has " + std::to_string(values_.size()) + " values here and " + std::to_string(before) +
         " before. Give it the same number in every candidate");
  };
  std::vector<int32_t> ids;
  const int32_t known = labels_.size() ? labels_.find(name) : -1;
  if (known >= 0) {
    ids = several_[known].ids;
    if (ids.size() != values_.size()) ragged(ids.size());
  } else if (values_.size() == 1) {
    const int32_t id = builder_.feature(name);
    if (static_cast<size_t>(id) >= single_.size()) single_.resize(1 + id + id / 2, 0);
    single_[id] = 1;
    ids.push_back(id);
  } else {
    const int32_t before = builder_.features()->find(name);
    if (before >= 0 && static_cast<size_t>(before) < single_.size() && single_[before]) ragged(1);
    labels_.add(name);
    for (size_t k = 0; k < values_.size(); ++k) ids.push_back(builder_.feature(std::string(name) + "_" + std::to_string(k)));
    several_.push_back({ids});
  }
  for (size_t k = 0; k < values_.size(); ++k) add(ids[k], values_[k]);
  if (place_ < kGuesses) {
    if (place_ == guesses_.size()) guesses_.emplace_back();
    guesses_[place_] = {std::string(label), std::move(ids)};
  }
  ++place_;
}

void MosesNbestReader::features(std::string_view field) {
  place_ = 0;
  std::string_view label;  // name= whose values follow
  auto flush = [&] {
    if (!label.empty()) values_of(label.substr(0, label.size() - 1), label);
    label = {};
  };
  for_each_word(field, [&](std::string_view token) {
    if (token.back() == '=' || token.back() == ':') {
      flush();
      label = token;
      values_.clear();
      return;
    }
    const size_t equals = token.rfind('=');
    if (equals != std::string_view::npos) {
      flush();
      const std::string_view name = token.substr(0, equals);
      values_.assign(1, number(token.substr(equals + 1), name));
      values_of(name, token.substr(0, equals + 1));
      return;
    }
    if (label.empty()) fail("the feature value " + quoted(token) + " has no name. Write name= value or name=value");
    values_.push_back(number(token, label.substr(0, label.size() - 1)));
  });
  flush();
}

}  // namespace hopefear
