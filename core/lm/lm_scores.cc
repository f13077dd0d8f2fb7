#include "lm/lm_scores.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "util/error.h"
#include "util/parallel.h"
#include "util/random.h"

namespace hopefear {
namespace {

void check_ids(const LanguageModel& model, std::span<const uint32_t> words, std::span<const int64_t> begin) {
  if (begin.empty() || begin.front() != 0 || begin.back() != static_cast<int64_t>(words.size()) ||
      !std::is_sorted(begin.begin(), begin.end()))
    throw InputError("`begin` must rise from 0 to the number of words");
  for (uint32_t word : words)
    if (word >= model.words()) throw InputError("a word id is outside the vocabulary of the language model");
}

/// Scores a sentence through a random tree of rules with at most two nonterminals: what a chart decoder does to one derivation.
class Bracketing {
 public:
  Bracketing(const LanguageModel& model, std::span<const uint32_t> words, Random random)
      : model_(model), words_(words), random_(random) {}
  double run(bool marks) {
    LmState child, root;
    double score = span(0, words_.size(), child);
    RuleScore rule(model_, root);
    if (marks) rule.begin_sentence();
    rule.nonterminal(child);
    if (marks) rule.terminal(kEos);
    ++rules;
    return score + rule.finish();
  }
  int64_t rules = 0;

 private:
  double span(size_t i, size_t j, LmState& out) {
    ++rules;
    // [i, a) words, [a, b) child, [b, c) words, [c, d) child, [d, j) words
    size_t cut[4] = {j, j, j, j};
    if (j - i > 3 || (j - i > 1 && random_.below(2) == 0)) {
      const bool two = random_.below(2) == 0;
      cut[0] = i + random_.below(3) % (j - i);
      cut[1] = two ? cut[0] + random_.below(j - cut[0] + 1) : j - random_.below(2);
      cut[2] = std::min(j, cut[1] + (two ? random_.below(2) : j));
      cut[3] = two ? j - (j > cut[2] ? random_.below(2) : 0) : j;
      for (int k = 1; k < 4; ++k) cut[k] = std::max(cut[k], cut[k - 1]);
      if (cut[0] == i && cut[1] == j) cut[0] = cut[1] = cut[2] = cut[3] = j;  // not a rule that only repeats its child
      if (cut[2] == i && cut[3] == j) cut[2] = cut[3] = j;
    }
    LmState child[2];
    double score = 0;
    const bool first = cut[1] > cut[0], second = cut[3] > cut[2];
    if (first) score += span(cut[0], cut[1], child[0]);
    if (second) score += span(cut[2], cut[3], child[1]);
    RuleScore rule(model_, out);
    for (size_t k = i; k < cut[0]; ++k) rule.terminal(words_[k]);
    if (first) rule.nonterminal(child[0]);
    for (size_t k = cut[1]; k < cut[2]; ++k) rule.terminal(words_[k]);
    if (second) rule.nonterminal(child[1]);
    for (size_t k = cut[3]; k < j; ++k) rule.terminal(words_[k]);
    return score + rule.finish();
  }

  const LanguageModel& model_;
  std::span<const uint32_t> words_;
  Random random_;
};

}  // namespace

LmEvaluation evaluate(const LanguageModel& model, std::string_view text, int jobs) {
  std::vector<std::string_view> lines;
  for (size_t i = 0; i < text.size();) {
    const size_t end = std::min(text.find('\n', i), text.size());
    lines.push_back(text.substr(i, end - i));
    i = end + 1;
  }
  constexpr size_t kBlock = 256;
  std::vector<LmEvaluation> blocks((lines.size() + kBlock - 1) / kBlock);
  parallel_for(blocks.size(), jobs, [&](size_t b, int) {
    LmContext now, next;
    for (size_t i = b * kBlock; i < std::min(lines.size(), (b + 1) * kBlock); ++i) {
      now = model.begin_sentence();
      const auto add = [&](uint32_t id) {
        const double prob = model.score(now, id, next).prob;
        std::swap(now, next);
        blocks[b].log10_prob += prob;
        ++blocks[b].tokens;
        if (id == kUnk) {
          ++blocks[b].unknown;
          blocks[b].log10_prob_unknown += prob;
        }
      };
      lm_words(lines[i], [&](std::string_view word) { add(model.find_in_text(word)); });
      add(kEos);
    }
  });
  LmEvaluation all;
  all.sentences = static_cast<int64_t>(lines.size());
  for (const LmEvaluation& block : blocks) {
    all.tokens += block.tokens;
    all.unknown += block.unknown;
    all.log10_prob += block.log10_prob;
    all.log10_prob_unknown += block.log10_prob_unknown;
  }
  return all;
}

std::vector<double> score_ids(const LanguageModel& model, std::span<const uint32_t> words, std::span<const int64_t> begin,
                              bool bos, int jobs) {
  check_ids(model, words, begin);
  std::vector<double> scores(words.size());
  parallel_for(begin.size() - 1, jobs, [&](size_t s, int) {
    LmContext contexts[2];
    if (bos) contexts[0] = model.begin_sentence();
    int now = 0;
    for (int64_t i = begin[s]; i < begin[s + 1]; ++i) {
      scores[i] = model.score(contexts[now], words[i], contexts[1 - now]).prob;
      now = 1 - now;
    }
  });
  return scores;
}

BracketedScores bracketed_scores(const LanguageModel& model, std::span<const uint32_t> words, std::span<const int64_t> begin,
                                 uint64_t seed, bool marks, int jobs) {
  check_ids(model, words, begin);
  BracketedScores out;
  out.scores.resize(begin.size() - 1);
  std::vector<int64_t> rules(out.scores.size());
  parallel_for(out.scores.size(), jobs, [&](size_t s, int) {
    Bracketing tree(model, words.subspan(begin[s], begin[s + 1] - begin[s]), Random(seed, s));
    out.scores[s] = tree.run(marks);
    rules[s] = tree.rules;
  });
  out.rules = std::accumulate(rules.begin(), rules.end(), int64_t{0});
  return out;
}

}  // namespace hopefear
