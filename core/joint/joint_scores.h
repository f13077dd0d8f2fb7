// The joint model in a chart: its scores for one sentence, the state of an item, and the score of a rule application.
//
// As with language models (lm/language_model.h), the first words of an item do not know their whole history yet. They count with kNull in place of what
// is unknown, which the model was trained for, and what the true history changes is counted where the item is used. So the sum over
// the edges of a derivation is the score of its words, each with its whole history and its own source word.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "joint/joint_model.h"
#include "util/hash_table.h"

namespace hopefear {

/// Scores for one sentence, the latest of which are remembered.
class JointScores {
 public:
  using History = std::array<uint32_t, JointModel::kHistory>;

  explicit JointScores(const JointModel* model) : model_(model) {}
  void start(std::span<const uint32_t> source) {
    model_->windows(source, windows_);
    cache_.resize(size_t{1} << kBits);
    if (++sentence_ == 0) {  // once in 2^32 sentences
      std::fill(cache_.begin(), cache_.end(), Entry{});
      sentence_ = 1;
    }
  }
  /// `at`: the source word that the word is affiliated with, or the length of the source for the end of the sentence.
  float operator()(uint32_t at, const History& history, uint32_t word) {
    const uint64_t hash =
        hash_key(hash_key(static_cast<uint64_t>(at) << 32 | word) ^ (static_cast<uint64_t>(history[0]) << 32 | history[1])) ^
        history[2];
    Entry& entry = cache_[hash_key(hash) >> (64 - kBits)];
    if (entry.sentence != sentence_ || entry.at != at || entry.word != word || entry.history != history)
      entry = {sentence_, at, word, history, model_->score(windows_.data() + at * model_->stride(), history, word)};
    return entry.score;
  }

 private:
  static constexpr int kBits = 16;
  struct Entry {
    uint32_t sentence = 0, at = 0, word = 0;
    History history{};
    float score = 0;
  };
  const JointModel* model_;
  std::vector<float> windows_;
  std::vector<Entry> cache_;
  uint32_t sentence_ = 0;
};

/// What an item must know: its first words, as far as words before them can change their scores, and its last ones.
struct JointState {
  static constexpr uint32_t kWords = JointModel::kHistory;
  uint32_t words = 0;  // of `last`: those of the item, kWords at most
  uint32_t open = 0;   // of `first`: as many, or none if the item begins the sentence
  std::array<uint32_t, kWords> first{}, at{};
  std::array<float, kWords> given{};    // what the first words got so far; follows from the rest
  std::array<uint32_t, kWords> last{};  // the last word first

  friend bool operator==(const JointState& a, const JointState& b) {
    return a.words == b.words && a.open == b.open && std::equal(a.first.begin(), a.first.begin() + a.open, b.first.begin()) &&
           std::equal(a.at.begin(), a.at.begin() + a.open, b.at.begin()) &&
           std::equal(a.last.begin(), a.last.begin() + a.words, b.last.begin());
  }
  uint64_t hash() const {
    uint64_t h = words << 2 | open;
    for (uint32_t k = 0; k < open; ++k) h = hash_key(h ^ (static_cast<uint64_t>(at[k]) << 32 | first[k]));
    for (uint32_t k = 0; k < words; ++k) h = hash_key(h ^ last[k]);
    return h;
  }
};

/// The score of one rule application, in target order as RuleScore of a language model has it.
class JointRule {
 public:
  JointRule(JointScores& scores, JointState& out) : scores_(scores), out_(out) { out = JointState(); }

  void begin_sentence() {
    out_.words = JointState::kWords;
    out_.last.fill(JointModel::kBos);
    begun_ = true;
  }
  void terminal(uint32_t word, uint32_t at) {
    const float got = scores_(at, history(nullptr, 0), word);
    sum_ += static_cast<double>(got);
    keep(word, at, got);
    push(word);
  }
  void nonterminal(const JointState& child) {
    const uint32_t before = out_.words;
    begun_ = begun_ || child.words > child.open;
    for (uint32_t k = 0; k < child.open; ++k) {
      float got = child.given[k];
      if (before > 0) {
        const float now = scores_(child.at[k], history(child.first.data(), k), child.first[k]);
        sum_ += static_cast<double>(now) - static_cast<double>(got);
        got = now;
      }
      keep(child.first[k], child.at[k], got);
    }
    for (uint32_t k = child.words; k-- > 0;) push(child.last[k]);
  }
  double finish() const { return sum_; }

 private:
  /// The history of a word behind `inside` words of a child, of which the first ones are given, and our own.
  JointScores::History history(const uint32_t* first, uint32_t inside) const {
    JointScores::History h;
    for (uint32_t k = 0; k < JointState::kWords; ++k) {
      const uint32_t own = k - inside;  // only if k >= inside
      h[k] = k < inside ? first[inside - 1 - k] : own < out_.words ? out_.last[own] : JointModel::kNull;
    }
    return h;
  }
  void keep(uint32_t word, uint32_t at, float given) {
    if (begun_ || out_.open == JointState::kWords) return;
    out_.first[out_.open] = word;
    out_.at[out_.open] = at;
    out_.given[out_.open++] = given;
  }
  void push(uint32_t word) {
    out_.last = {word, out_.last[0], out_.last[1]};
    out_.words = std::min(out_.words + 1, JointState::kWords);
  }

  JointScores& scores_;
  JointState& out_;
  double sum_ = 0;
  bool begun_ = false;
};

}  // namespace hopefear
