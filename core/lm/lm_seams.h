// Language model scores in a chart, each computed once: what a part of a rule gains behind a context.
//
// A rule application is parts in target order, runs of words and antecedents (RuleScore of language_model.h). What a part changes follows
// from the context before it and from the run, or from the first words of the antecedent; and the same pairs come again and again in the
// cubes of a sentence. So contexts, first words and runs are numbered, an item of the chart is two numbers, and the latest pairs are
// remembered by one key of 64 bits, as many as stay in a near cache. RuleScore computes what is not remembered: scores are the same, and
// so are the items that are equal.
//
// While the first words of a rule application may still grow, all of its words are context. So the context, and whether they may, tell
// the first words too: that is a position.
//
// Intended use, as RuleScore:
//   LmSeams seams(model);                      // of one thread
//   seams.start();                             // for each sentence: items of the one before mean nothing any more
//   LmItem out;
//   SeamScore rule(seams, out);                // then, in target order:
//   rule.begin_sentence();                     //   only for the rule that opens the sentence
//   rule.run(number);                          //   number = seams.run(words), found once for each rule
//   rule.nonterminal(child);                   //   the item of an antecedent
//   double delta = rule.sum();                 // out is now the new item
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "lm/language_model.h"
#include "util/hash_table.h"
#include "util/id_map.h"

namespace hopefear {

/// The state of a chart item (LmState) in numbers of one LmSeams: equal if and only if the states are.
struct LmItem {
  uint32_t left = 0, right = 0;

  friend bool operator==(LmItem a, LmItem b) = default;
  uint64_t hash() const { return hash_key(pair_key(left, right)); }
};

/// Runs of words by numbers from 0 on.
class LmRuns {
 public:
  static constexpr uint32_t kMissing = ~uint32_t{0};

  uint32_t find(std::span<const uint32_t> words) const;
  /// The number of a run; a new run gets the next one.
  uint32_t add(const LanguageModel& model, std::span<const uint32_t> words);
  std::span<const uint32_t> operator[](uint32_t run) const {
    return std::span(words_).subspan(begin_[run], begin_[run + 1] - begin_[run]);
  }
  /// What the words of a run get with no context.
  double alone(uint32_t run) const { return alone_[run]; }
  /// Words in all.
  size_t size() const { return words_.size(); }
  void clear();

 private:
  struct Slot {
    uint32_t number = kMissing;
    bool empty() const { return number == kMissing; }
  };
  std::vector<uint32_t> words_, begin_{0};
  std::vector<double> alone_;
  HashTable<Slot> numbers_;
};

class LmSeams {
 public:
  explicit LmSeams(const LanguageModel& model) : model_(&model), remembered_(size_t{1} << kBits) { start(); }

  /// A new sentence: items are forgotten, for they would be too many to stay in a near cache, and so are passing runs.
  void start();

  /// The number of a run of words, at least one. It is good until clear(), or only for this sentence if it is `passing`.
  uint32_t run(std::span<const uint32_t> words, bool passing = false);
  /// What the words of a run get with no context.
  double alone(uint32_t run) const { return runs(run).alone(run & ~kPassing); }
  /// Words of all runs.
  size_t stored() const { return kept_.size() + passing_.size(); }

  /// What the first words of an item lack, log10, estimated (LanguageModel::rest).
  double rest(LmItem item) const { return rest_of_[item.left >> 1]; }

  /// The item without words. To a model of order 1 all items are alike.
  LmItem empty() const { return {model_->order() == 1 ? kNoLeft : 0, 0}; }

  /// Forgets everything, runs too.
  void clear();

 private:
  friend class SeamScore;
  static constexpr int kBits = 13;
  static constexpr uint32_t kRun = uint32_t{1} << 31;      // of the number of a part: it is a run
  static constexpr uint32_t kPassing = uint32_t{1} << 30;  // of the number of a run
  static constexpr uint32_t kStart = 1;                    // the position before any word
  static constexpr uint32_t kNoLeft = 3;                   // first words that are none, with others behind them that do not count

  /// What a part gains at a position, and where it leads to.
  struct alignas(32) Seam {
    uint64_t key = ~uint64_t{0};  // position and part
    double gain = 0;
    uint32_t left = 0;      // of the item so far, if the position is open
    uint32_t position = 0;  // twice the context's number, and 1 if the first words may still grow; nothing if the part ends them
  };
  struct Slot {
    uint32_t number = ~uint32_t{0};
    bool empty() const { return number == ~uint32_t{0}; }
  };

  const Seam& seam(uint32_t position, uint32_t part) {
    const uint64_t key = pair_key(position, part);
    Seam& seam = remembered_[(key * 0x9e3779b97f4a7c15ULL) >> (64 - kBits)];
    if (seam.key != key) seam = computed(key);
    return seam;
  }
  Seam computed(uint64_t key);
  const LmRuns& runs(uint32_t run) const { return run & kPassing ? passing_ : kept_; }
  uint32_t number(const LmContext& context);
  /// Twice a number, and 1 if words behind them do not count.
  uint32_t number(const LmLeft& left);

  const LanguageModel* model_;
  std::vector<Seam> remembered_;

  std::vector<LmContext> contexts_;  // the first is empty
  std::vector<uint32_t> left_of_;    // the first words of an item that is all context
  HashTable<Slot> context_numbers_;
  std::vector<LmLeft> lefts_;       // the first is empty, the second kNoLeft
  std::vector<uint32_t> right_of_;  // the context behind first words that are all words
  std::vector<double> rest_of_;
  HashTable<Slot> left_numbers_;
  uint32_t begin_ = 0;  // the context at the begin of a sentence

  LmRuns kept_, passing_;
};

/// The score of one rule application; see the head of this file.
class SeamScore {
 public:
  SeamScore(LmSeams& seams, LmItem& out) : seams_(seams), out_(out) { out = seams.empty(); }

  void begin_sentence() {
    position_ = seams_.begin_ << 1;
    out_ = {LmSeams::kNoLeft, seams_.begin_};
  }
  void run(uint32_t number) { follow(seams_.seam(position_, number | LmSeams::kRun)); }
  void nonterminal(LmItem child) {
    const bool full = child.left & 1;
    if (child == LmItem()) return;
    if (out_.right == 0) {  // nothing to our left matters to it
      if (position_ == LmSeams::kStart) out_.left = child.left;
      to(child.right << 1 | (position_ & !full));
      return;
    }
    const LmSeams::Seam& seam = seams_.seam(position_, child.left);
    follow(seam);
    if (full) to(child.right << 1);
  }
  double sum() const { return sum_; }

 private:
  void to(uint32_t position) {
    position_ = position;
    out_.right = position >> 1;
  }
  void follow(const LmSeams::Seam& seam) {
    sum_ += seam.gain;
    if (position_ & 1) out_.left = seam.left;
    to(seam.position);
  }

  LmSeams& seams_;
  LmItem& out_;
  uint32_t position_ = LmSeams::kStart;
  double sum_ = 0;
};

}  // namespace hopefear
