#include "lm/lm_seams.h"

#include <algorithm>

namespace hopefear {
namespace {

uint64_t hash_run(std::span<const uint32_t> words) {
  uint64_t h = words.size();
  for (const uint32_t word : words) h = hash_key(h ^ word);
  return h;
}

}  // namespace

uint32_t LmRuns::find(std::span<const uint32_t> words) const {
  return numbers_.find(hash_run(words), [&](Slot s) { return std::ranges::equal((*this)[s.number], words); }).number;
}

uint32_t LmRuns::add(const LanguageModel& model, std::span<const uint32_t> words) {
  const auto [slot, added] = numbers_.insert(
      hash_run(words), [&](Slot s) { return std::ranges::equal((*this)[s.number], words); },
      [&](Slot s) { return hash_run((*this)[s.number]); });
  if (!added) return slot->number;
  slot->number = static_cast<uint32_t>(alone_.size());
  LmContext context[2];
  int now = 0;
  double sum = 0;
  for (const uint32_t word : words) {
    sum += model.score(context[now], word, context[1 - now]).prob;
    now = 1 - now;
  }
  alone_.push_back(sum);
  words_.insert(words_.end(), words.begin(), words.end());
  begin_.push_back(static_cast<uint32_t>(words_.size()));
  return slot->number;
}

void LmRuns::clear() {
  words_.clear();
  begin_.assign(1, 0);
  alone_.clear();
  numbers_.reset();
}

uint32_t LmSeams::run(std::span<const uint32_t> words, bool passing) {
  if (!passing) return kept_.add(*model_, words);
  const uint32_t known = kept_.find(words);
  return known != LmRuns::kMissing ? known : passing_.add(*model_, words) | kPassing;
}

void LmSeams::clear() {
  start();
  kept_.clear();
}

void LmSeams::start() {
  constexpr size_t kExpected = 512;
  std::fill(remembered_.begin(), remembered_.end(), Seam());
  passing_.clear();
  contexts_.clear();
  left_of_.clear();
  context_numbers_.reset(kExpected);
  lefts_.clear();
  right_of_.clear();
  rest_of_.clear();
  left_numbers_.reset(kExpected);
  number(LmContext());
  number(LmLeft());
  LmLeft none;
  none.full = 1;
  number(none);
  begin_ = number(model_->begin_sentence());
}

uint32_t LmSeams::number(const LmContext& context) {
  const auto [slot, added] = context_numbers_.insert(
      context.hash(), [&](Slot s) { return contexts_[s.number] == context; }, [&](Slot s) { return contexts_[s.number].hash(); });
  if (added) {
    slot->number = static_cast<uint32_t>(contexts_.size());
    contexts_.push_back(context);
    left_of_.push_back(0);
  }
  return slot->number;
}

uint32_t LmSeams::number(const LmLeft& left) {
  const auto [slot, added] = left_numbers_.insert(
      hash_key(left.key()), [&](Slot s) { return lefts_[s.number] == left; },
      [&](Slot s) { return hash_key(lefts_[s.number].key()); });
  if (added) {
    slot->number = static_cast<uint32_t>(lefts_.size());
    lefts_.push_back(left);
    right_of_.push_back(0);
    rest_of_.push_back(model_->rest(left));
  }
  return slot->number << 1 | left.full;
}

LmSeams::Seam LmSeams::computed(uint64_t key) {
  const auto position = static_cast<uint32_t>(key >> 32), part = static_cast<uint32_t>(key);
  const bool open = position & 1;
  LmState out;
  out.right = contexts_[position >> 1];
  if (open) out.left = lefts_[left_of_[position >> 1] >> 1];
  RuleScore rule(*model_, out, !open);
  bool full = false;  // the context behind the part is the antecedent's, whatever was before
  if (part & kRun) {
    const uint32_t run = part & ~kRun;
    for (const uint32_t word : runs(run)[run & ~kPassing]) rule.terminal(word);
  } else {
    full = part & 1;
    LmState child;
    child.left = lefts_[part >> 1];
    if (!full) child.right = contexts_[right_of_[part >> 1]];
    rule.nonterminal(child);
  }
  const bool grows = !rule.left_done();
  Seam seam{key, rule.finish(), 0, 0};
  if (open) seam.left = number(out.left);
  if (full) return seam;
  const uint32_t context = number(out.right);
  if (grows) {
    left_of_[context] = seam.left;
    right_of_[seam.left >> 1] = context;
  }
  seam.position = context << 1 | grows;
  return seam;
}

}  // namespace hopefear
