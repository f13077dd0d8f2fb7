#include "grammar/lexical_scores.h"

#include <algorithm>
#include <cmath>

#include "forest/each_sentence.h"
#include "joint/joint_scores.h"
#include "util/id_map.h"
#include "util/text.h"

namespace hopefear {
namespace {

constexpr double kFloor = 1e-4, kLink = 0.01;

/// t between the words of one source and the words of its candidates.
class WordPairs {
 public:
  /// `target`: the pool's words as the grammar's ids, -1 for words that it does not have.
  WordPairs(const Grammar& grammar, std::string_view source, const Forest& list, const Vocab& vocab,
            std::span<const int32_t> target) {
    std::vector<std::string_view> words;
    for_each_word(source, [&](std::string_view word) { words.push_back(word); });
    length_ = words.size();
    std::vector<int32_t> pool_words;  // of each column
    for (int32_t word : list.words)
      if (columns_.add(static_cast<uint32_t>(word)) == static_cast<int32_t>(pool_words.size())) pool_words.push_back(word);
    IdMap by_target;
    for (size_t c = 0; c < pool_words.size(); ++c)
      if (target[pool_words[c]] >= 0) by_target.add(static_cast<uint32_t>(target[pool_words[c]]), static_cast<int32_t>(c));
    ef_.assign(pool_words.size() * length_, 0.0);
    fe_ = ef_;
    const int ef = grammar.column("lexical_ef"), fe = grammar.column("lexical_fe");
    for (size_t i = 0; i < length_; ++i) {
      const int32_t id = grammar.source_vocab()->find(words[i]);
      for (size_t c = 0; c < pool_words.size(); ++c)
        if ((id < 0 || target[pool_words[c]] < 0) && vocab[pool_words[c]] == words[i])
          ef_[c * length_ + i] = fe_[c * length_ + i] = 1;
      const uint32_t node = id < 0 ? Grammar::kNone : grammar.child(Grammar::kRoot, id);
      if (node == Grammar::kNone) continue;
      const auto [begin, end] = grammar.rules_of(node);
      for (uint32_t rule = begin; rule < end; ++rule) {
        const auto words_of_rule = grammar.target(rule);
        if (words_of_rule.size() != 1 || words_of_rule[0] < 0) continue;
        const int32_t c = by_target.find(static_cast<uint32_t>(words_of_rule[0]));
        if (c < 0) continue;
        ef_[c * length_ + i] = std::exp(grammar.row(rule)[ef]);
        fe_[c * length_ + i] = std::exp(grammar.row(rule)[fe]);
      }
    }
  }

  void row(std::span<const int32_t> words, double* out) const {
    std::vector<double> sum(length_, 0.0), best(length_, 0.0), covered(length_, 0.0);
    std::vector<int> children(length_, 0);
    double jumps = 0;
    int links = 0;
    ptrdiff_t last = -1;
    for (int32_t word : words) {
      const int32_t c = columns_.find(static_cast<uint32_t>(word));
      double total = 0, most = 0, most_fe = 0;
      size_t place = 0;
      for (size_t i = 0; i < length_; ++i) {
        const double ef = ef_[c * length_ + i], fe = fe_[c * length_ + i];
        total += ef;
        if (ef > most) most = ef, place = i;
        most_fe = std::max(most_fe, fe);
        sum[i] += fe;
        best[i] = std::max(best[i], fe);
        covered[i] = std::max(covered[i], ef);
      }
      out[0] += std::log(kFloor + (length_ ? total / static_cast<double>(length_) : 0));
      out[2] += std::log(std::max(kFloor, most));
      out[5] += most_fe < kLink;
      if (most < kLink) continue;
      ++children[place];
      jumps += std::fabs(static_cast<double>(static_cast<ptrdiff_t>(place) - last - 1));
      last = static_cast<ptrdiff_t>(place);
      ++links;
    }
    int most_children = 1;
    for (size_t i = 0; i < length_; ++i) {
      out[1] += std::log(kFloor + (words.empty() ? 0 : sum[i] / static_cast<double>(words.size())));
      out[3] += std::log(std::max(kFloor, best[i]));
      out[4] += covered[i] < kLink;
      most_children = std::max(most_children, children[i]);
    }
    out[6] = most_children - 1;
    out[7] = links ? jumps / links : 0;
  }

  /// The place of the best f of each word, as joint_column has it.
  std::vector<uint32_t> affiliated(std::span<const int32_t> words) const {
    std::vector<uint32_t> at(words.size(), 0);
    std::vector<size_t> known;
    for (size_t k = 0; k < words.size(); ++k) {
      const int32_t c = columns_.find(static_cast<uint32_t>(words[k]));
      double most = 0;
      for (size_t i = 0; i < length_; ++i)
        if (const double ef = ef_[c * length_ + i]; ef > most) most = ef, at[k] = static_cast<uint32_t>(i);
      if (most >= kLink) known.push_back(k);
    }
    const auto distance = [](size_t a, size_t b) { return a > b ? a - b : b - a; };
    size_t next = 0;  // the nearest known word; of two equally near the right one
    for (size_t k = 0; k < words.size(); ++k) {
      while (next + 1 < known.size() && distance(known[next + 1], k) <= distance(known[next], k)) ++next;
      at[k] = !known.empty() ? at[known[next]] : static_cast<uint32_t>(std::min(k, length_ - (length_ > 0)));
    }
    return at;
  }

 private:
  size_t length_ = 0;
  IdMap columns_;                // words of the pool
  std::vector<double> ef_, fe_;  // length_ of each column
};

}  // namespace

namespace {

/// The pool's words as the grammar's ids. Throws if the sources or the grammar do not fit.
std::vector<int32_t> target_words(const Pool& pool, const std::vector<std::string>& sources, const Grammar& grammar) {
  if (sources.size() != pool.size()) throw InputError("as many source lines as sentences are needed");
  if (grammar.column("lexical_ef") < 0 || grammar.column("lexical_fe") < 0)
    throw InputError("the grammar has no columns lexical_ef and lexical_fe. Use a model of hopefear build");
  std::vector<int32_t> target(pool.vocab->size());
  for (int32_t word = 0; word < pool.vocab->size(); ++word) target[word] = grammar.target_vocab()->find((*pool.vocab)[word]);
  return target;
}

}  // namespace

std::vector<double> lexical_columns(const Pool& pool, const std::vector<std::string>& sources, const Grammar& grammar, int jobs) {
  const std::vector<int32_t> target = target_words(pool, sources, grammar);
  const auto row_begin = pool.row_begin();
  const size_t width = kLexicalColumns.size();
  std::vector<double> columns(row_begin.back() * width, 0.0);
  each_sentence(pool, jobs, [&](size_t i, const Sentence& s) {
    const WordPairs pairs(grammar, sources[i], s.forest, *pool.vocab, target);
    for (int32_t e = 0; e < s.forest.edges(); ++e) pairs.row(s.forest.edge_words(e), columns.data() + (row_begin[i] + e) * width);
  });
  return columns;
}

std::vector<double> joint_column(const Pool& pool, const std::vector<std::string>& sources, const Grammar& grammar,
                                 const JointModel& joint, int jobs) {
  const std::vector<int32_t> target = target_words(pool, sources, grammar);
  std::vector<uint32_t> numbers;
  for (int32_t word = 0; word < pool.vocab->size(); ++word) numbers.push_back(joint.target_word((*pool.vocab)[word]));
  const auto row_begin = pool.row_begin();
  std::vector<double> column(row_begin.back());
  each_sentence(pool, jobs, [&](size_t i, const Sentence& s) {
    const WordPairs pairs(grammar, sources[i], s.forest, *pool.vocab, target);
    std::vector<uint32_t> source;
    for_each_word(sources[i], [&](std::string_view word) { source.push_back(joint.source_word(word)); });
    JointScores scores(&joint);
    scores.start(source);
    for (int32_t e = 0; e < s.forest.edges(); ++e) {
      const auto words = s.forest.edge_words(e);
      const std::vector<uint32_t> at = pairs.affiliated(words);
      JointState state;
      JointRule rule(scores, state);
      rule.begin_sentence();
      for (size_t k = 0; k < words.size(); ++k) rule.terminal(numbers[words[k]], at[k]);
      rule.terminal(JointModel::kEos, static_cast<uint32_t>(source.size()));
      column[row_begin[i] + e] = rule.finish();
    }
  });
  return column;
}

}  // namespace hopefear
