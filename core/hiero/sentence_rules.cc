#include "hiero/sentence_rules.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "grammar/grammar.h"
#include "hiero/hiero_source.h"
#include "util/error.h"

namespace hopefear {
namespace {

constexpr size_t kMostSymbols = Grammar::kMaxSymbols;

class RuleReader {
 public:
  RuleReader(HieroModel& model, const HieroSource& source) : m_(model), text_(source) {}

  SourceRule read(const SentenceRule& rule) {
    begin_ = rule.begin;
    end_ = rule.end;
    check_span(rule);
    SourceRule looked_up{rule.begin, rule.end, rule.forced, {}, {}, {}, {}, {}, {}, {}};
    for (const auto& [begin, end] : rule.gaps) looked_up.gaps.push_back({begin, end});
    add_source(looked_up);
    for (const auto& symbol : rule.target) add_target(symbol, looked_up);
    check_gaps(looked_up);
    add_links(rule, looked_up);
    for (const auto& [name, value] : rule.features) {
      const int32_t id = m_.features->find(name);
      if (id < 0) fail("has the feature " + name + ", which the decoder does not have");
      if (!std::isfinite(value)) fail("has a value of the feature " + name + " that is not a finite number");
      looked_up.features.push_back({id, value});
    }
    std::sort(looked_up.features.begin(), looked_up.features.end());
    return looked_up;
  }

 private:
  [[noreturn]] void fail(const std::string& finding) const {
    throw InputError("sentence " + text_.id + ": the rule over [" + std::to_string(begin_) + ", " + std::to_string(end_) + ") " +
                     finding);
  }

  void check_span(const SentenceRule& rule) const {
    if (begin_ < 0 || end_ > text_.length() || begin_ >= end_)
      fail("is not inside the sentence, which has " + std::to_string(text_.length()) + " words");
    if (rule.gaps.size() > 2) fail("has more than two gaps");
    if (rule.forced && !rule.gaps.empty()) fail("has gaps and is forced, which does not go together");
    int32_t at = begin_;
    for (const auto& [begin, end] : rule.gaps) {
      if (begin < at || begin >= end || end > end_) fail("has gaps that are not inside it, from left to right");
      at = end;
    }
    if (rule.gaps.size() == 1 && rule.gaps[0].first == begin_ && rule.gaps[0].second == end_) fail("has no word");
    if (rule.target.size() > kMostSymbols || static_cast<size_t>(end_ - begin_) > kMostSymbols)
      fail("is longer than " + std::to_string(kMostSymbols) + " words");
  }

  void add_source(SourceRule& rule) const {
    size_t gap = 0;
    for (int32_t at = begin_; at < end_;) {
      if (gap < rule.gaps.size() && at == rule.gaps[gap][0]) {
        rule.source.push_back(kX);
        at = rule.gaps[gap++][1];
      } else {  // words that the grammar does not know have ids beyond its vocabulary, like copies
        const int32_t word = text_.words[at++];
        rule.source.push_back(word < 0 ? m_.grammar->source_vocab()->size() : word);
      }
    }
  }

  void add_target(const std::variant<std::string, int32_t>& symbol, SourceRule& rule) {
    auto& lm = rule.lm.emplace_back();
    rule.joint.push_back(0);
    if (const int32_t* gap = std::get_if<int32_t>(&symbol)) {
      if (*gap < 1 || *gap > static_cast<int32_t>(rule.gaps.size())) fail("has no gap " + std::to_string(*gap));
      rule.joint.back() = slot(*gap - 1);
      rule.target.push_back(slot(*gap - 1));
      return;
    }
    const std::string& word = std::get<std::string>(symbol);
    if (word.empty() || word.find(' ') != std::string::npos) fail("has a target word that is empty or has a blank in it");
    rule.target.push_back(m_.vocab->add(word));
    for (size_t l = 0; l < m_.lms.size(); ++l) lm[l] = m_.lms[l]->find_in_text(word);
    if (m_.joint) rule.joint.back() = static_cast<int32_t>(m_.joint->target_word(word));
  }

  void check_gaps(const SourceRule& rule) const {
    for (size_t k = 0; k < rule.gaps.size(); ++k)
      if (std::count(rule.target.begin(), rule.target.end(), slot(static_cast<int>(k))) != 1)
        fail("does not have each of its gaps once on the target side");
  }

  void add_links(const SentenceRule& rule, SourceRule& looked_up) const {
    const auto is_word = [](const std::vector<int32_t>& side, int32_t place) {
      return place >= 0 && place < static_cast<int32_t>(side.size()) && side[place] >= 0;
    };
    for (const auto& [s, t] : rule.links) {
      if (!is_word(looked_up.source, s) || !is_word(looked_up.target, t)) fail("has a link to no word of it");
      looked_up.links.push_back({static_cast<uint8_t>(s), static_cast<uint8_t>(t)});
    }
    if (!rule.links.empty()) return;
    std::vector<uint8_t> source, target;  // the places of words
    for (size_t s = 0; s < looked_up.source.size(); ++s)
      if (looked_up.source[s] >= 0) source.push_back(static_cast<uint8_t>(s));
    for (size_t t = 0; t < looked_up.target.size(); ++t)
      if (looked_up.target[t] >= 0) target.push_back(static_cast<uint8_t>(t));
    if (source.empty()) return;
    for (size_t k = 0; k < target.size(); ++k) looked_up.links.push_back({source[k * source.size() / target.size()], target[k]});
  }

  HieroModel& m_;
  const HieroSource& text_;
  int32_t begin_ = 0, end_ = 0;
};

/// Whether a rule's own words, those outside its gaps, are free.
bool covers_forced(const SourceRule& rule, const std::vector<uint8_t>& forced) {
  size_t gap = 0;
  for (int32_t at = rule.begin; at < rule.end;) {
    if (gap < rule.gaps.size() && at == rule.gaps[gap][0])
      at = rule.gaps[gap++][1];
    else if (forced[at++])
      return true;
  }
  return false;
}

}  // namespace

void add_rules(HieroModel& model, HieroSource& source, const std::vector<SentenceRule>& rules) {
  if (rules.empty()) return;
  if (!source.is_text()) throw InputError("sentence " + source.id + ": a lattice cannot have rules of its own");
  RuleReader reader(model, source);
  for (const SentenceRule& rule : rules) source.rules.push_back(reader.read(rule));
  std::stable_sort(source.rules.begin(), source.rules.end(),
                   [](const SourceRule& a, const SourceRule& b) { return std::tie(a.begin, a.end) < std::tie(b.begin, b.end); });
  const SourceRule* last = nullptr;  // that is forced
  for (const SourceRule& rule : source.rules) {
    if (!rule.forced) continue;
    if (last && rule.begin < last->end && (rule.begin != last->begin || rule.end != last->end))
      throw InputError("sentence " + source.id + ": two forced rules, over [" + std::to_string(last->begin) + ", " +
                       std::to_string(last->end) + ") and [" + std::to_string(rule.begin) + ", " + std::to_string(rule.end) +
                       "), overlap. Leave one of them out");
    last = &rule;
    source.forced.resize(source.words.size(), 0);
    std::fill(source.forced.begin() + rule.begin, source.forced.begin() + rule.end, uint8_t{1});
  }
  if (source.forced.empty()) return;
  std::erase_if(source.rules, [&](const SourceRule& rule) { return !rule.forced && covers_forced(rule, source.forced); });
}

}  // namespace hopefear
