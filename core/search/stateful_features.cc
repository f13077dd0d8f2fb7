#include "search/stateful_features.h"

#include <algorithm>
#include <bit>

#include "forest/forest.h"

namespace hopefear {
namespace {

constexpr int32_t kGap = -1;    // words left out of a state
constexpr int32_t kOther = -2;  // a word that no feature has

/// A symbol of an edge: a word, or the state of a tail.
void append(const Application& a, int32_t symbol, bool known, std::vector<int32_t>& words) {
  if (symbol >= 0) {
    words.push_back(known ? symbol : kOther);
    return;
  }
  const auto tail = a.tails[slot_tail(symbol)];
  words.insert(words.end(), tail.begin(), tail.end());
}

}  // namespace

NgramFeature::NgramFeature(std::shared_ptr<const FeatureTemplates> templates)
    : templates_(std::move(templates)), keep_(templates_->has_trigrams() ? 2 : 1) {}

/// The state: all words if they are at most 2 keep_, or the first keep_, a gap, and the last keep_.
void NgramFeature::apply(const Application& a, Fired& fired, std::vector<int32_t>& state) const {
  const size_t begin = state.size();
  auto& part = a.part;  // an n-gram is new here unless one part has all of it
  part.clear();
  for (size_t k = 0; k < a.words.size(); ++k) {
    append(a, a.words[k], templates_->in_ngram(a.words[k]), state);
    part.resize(state.size() - begin, static_cast<int32_t>(k));
  }
  const auto fire = [&](int32_t id) {
    if (id >= 0) fired.push_back({id, 1.0});
  };
  const int32_t* words = state.data() + begin;
  const size_t size = part.size();
  for (size_t i = 1; i < size; ++i) {
    if (words[i] < 0 || words[i - 1] < 0) continue;
    if (part[i] != part[i - 1]) fire(templates_->bigram(words[i - 1], words[i]));
    if (i > 1 && words[i - 2] >= 0 && part[i] != part[i - 2]) fire(templates_->trigram(words[i - 2], words[i - 1], words[i]));
  }
  if (size <= 2 * keep_) return;
  state[begin + keep_] = kGap;
  std::copy(state.end() - keep_, state.end(), state.begin() + begin + keep_ + 1);
  state.resize(begin + 2 * keep_ + 1);
}

void TriggerFeature::apply(const Application& a, Fired& fired, std::vector<int32_t>& state) const {
  const size_t begin = state.size();
  auto& part = a.part;  // where the part of each word begins
  part.clear();
  for (const int32_t symbol : a.words) {
    const auto at = static_cast<int32_t>(state.size() - begin);
    append(a, symbol, templates_->in_trigger(symbol), state);
    part.resize(state.size() - begin, at);
  }
  const int32_t* words = state.data() + begin;
  const auto seen = [&](size_t from, size_t to, int32_t word) {
    return from < to && std::find(words + from, words + to, word) != words + to;
  };
  for (size_t e = FeatureTemplates::kTriggerDistance; e < part.size(); ++e) {
    const size_t own = part[e];
    if (own == 0 || !templates_->is_triggered(words[e])) continue;
    const size_t end = e - FeatureTemplates::kTriggerDistance + 1;  // of the words that are far enough before
    for (size_t d = 0; d < std::min(end, own); ++d) {
      if (words[d] < 0) continue;
      const int32_t id = templates_->trigger(words[d], words[e]);
      if (id >= 0 && !seen(0, d, words[d]) && !seen(own, end, words[d])) fired.push_back({id, 1.0});
    }
  }
}

void EdgeFeature::apply(const Application& a, Fired& fired, std::vector<int32_t>&) const {
  for (const int32_t word : a.words) {
    if (word < 0) continue;
    if (const int32_t id = templates_->unigram(word); id >= 0) fired.push_back({id, 1.0});
    for (size_t k = 0; k < a.source.size(); ++k) {
      const int32_t id = templates_->pair(a.source[k], word);
      const auto earlier = a.source.first(k);
      if (id >= 0 && std::find(earlier.begin(), earlier.end(), a.source[k]) == earlier.end()) fired.push_back({id, 1.0});
    }
  }
}

LmFeature::LmFeature(std::shared_ptr<const LanguageModel> model, const Vocab& words, int32_t id)
    : model_(std::move(model)), id_(id) {
  model_->map_words(words, map_);
}

/// The state: lengths, then as many words and slots of the left side, words and back-off weights of the right.
void LmFeature::apply(const Application& a, Fired& fired, std::vector<int32_t>& state) const {
  LmState out, tail;
  RuleScore rule(*model_, out);
  if (a.goal) rule.begin_sentence();
  for (const int32_t symbol : a.words) {
    if (symbol >= 0) {
      rule.terminal(map_[symbol]);
      continue;
    }
    const int32_t* p = a.tails[slot_tail(symbol)].data();
    tail.left.length = static_cast<uint16_t>(*p++);
    tail.left.full = static_cast<uint16_t>(*p++);
    tail.right.length = static_cast<uint32_t>(*p++);
    for (uint32_t k = 0; k < tail.left.length; ++k) tail.left.word[k] = static_cast<uint32_t>(*p++);
    for (uint32_t k = 0; k < tail.left.length; ++k) tail.left.slot[k] = static_cast<uint32_t>(*p++);
    for (uint32_t k = 0; k < tail.right.length; ++k) tail.right.word[k] = static_cast<uint32_t>(*p++);
    for (uint32_t k = 0; k < tail.right.length; ++k) tail.right.backoff[k] = std::bit_cast<float>(*p++);
    rule.nonterminal(tail);
  }
  if (a.goal) rule.terminal(kEos);
  fired.push_back({id_, kLn10 * rule.finish()});
  if (a.goal) return;
  state.push_back(out.left.length);
  state.push_back(out.left.full);
  state.push_back(static_cast<int32_t>(out.right.length));
  for (uint32_t k = 0; k < out.left.length; ++k) state.push_back(static_cast<int32_t>(out.left.word[k]));
  for (uint32_t k = 0; k < out.left.length; ++k) state.push_back(static_cast<int32_t>(out.left.slot[k]));
  for (uint32_t k = 0; k < out.right.length; ++k) state.push_back(static_cast<int32_t>(out.right.word[k]));
  for (uint32_t k = 0; k < out.right.length; ++k) state.push_back(std::bit_cast<int32_t>(out.right.backoff[k]));
}

}  // namespace hopefear
