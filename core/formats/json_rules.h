// Rules of JSON forests: their target sides as words and slots, in the dialects of cdec, Travatar and Cicada.
#pragma once
#include <charconv>
#include <string_view>
#include <vector>

#include "formats/forest_draft.h"
#include "formats/json.h"
#include "util/text.h"

namespace hopefear {

enum class Dialect { unknown, cdec, travatar, cicada };

/// The target side of a rule as words and slots.
inline void rule_words(std::string_view rule, Dialect dialect, Vocab& vocab, const Json& json, std::vector<int32_t>& words) {
  std::string_view first, second, third, target;
  bool more = true;
  next_field(rule, first, more);
  if (!next_field(rule, second, more)) json.fail("the rule " + quoted(first) + " has no \"|||\". Write [X] ||| words");
  target = dialect == Dialect::cdec && next_field(rule, third, more) ? third : second;
  int32_t tails = 0;
  for_each_word(target, [&](std::string_view word) {
    if (word.size() > 2 && word.front() == '[' && word.back() == ']') {
      std::string_view inside = word.substr(1, word.size() - 2);
      const size_t comma = inside.rfind(',');
      const bool numbered = comma != std::string_view::npos;
      std::string_view digits = numbered ? inside.substr(comma + 1) : inside;
      int32_t tail = 0;
      const auto [p, error] = std::from_chars(digits.data(), digits.data() + digits.size(), tail);
      if (error == std::errc() && p == digits.data() + digits.size() && tail > 0 && (dialect == Dialect::cdec || numbered)) {
        words.push_back(slot(tail - 1));
        return;
      }
      if (dialect == Dialect::cicada) {  // without a number it is the next tail
        words.push_back(slot(tails++));
        return;
      }
    }
    if (dialect == Dialect::cicada && word == "<epsilon>") return;
    words.push_back(vocab.add(word));
  });
}

/// Travatar's edges may have source words among their tails that the target side does not name. They have no words and no features.
inline void drop_unnamed_leaves(ForestDraft& draft, const std::vector<uint8_t>& leaf, size_t tail, size_t word) {
  const size_t count = draft.tails.size() - tail;
  std::vector<int32_t> moved(count, -1);
  for (size_t w = word; w < draft.words.size(); ++w)
    if (draft.words[w] < 0 && static_cast<size_t>(slot_tail(draft.words[w])) < count) moved[slot_tail(draft.words[w])] = 0;
  int32_t next = 0;
  for (size_t t = 0; t < count; ++t) {
    const int32_t node = draft.tails[tail + t];
    if (moved[t] < 0 && leaf[node]) continue;
    draft.tails[tail + next] = node;
    moved[t] = next++;
  }
  draft.tails.resize(tail + next);
  for (size_t w = word; w < draft.words.size(); ++w)
    if (draft.words[w] < 0 && static_cast<size_t>(slot_tail(draft.words[w])) < count)
      draft.words[w] = slot(moved[slot_tail(draft.words[w])]);
}

}  // namespace hopefear
