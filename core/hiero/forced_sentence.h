// Forced decoding: the rules that apply to one source, over the words of its candidates.
#pragma once
#include <algorithm>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "hiero/forced_decoding.h"
#include "search/source.h"
#include "util/id_map.h"
#include "util/text.h"
#include "util/words.h"

namespace hopefear {

enum ForcedFeature { kRule = 4, kWord, kJoin, kIdentity, kUnknown, kNumber, kName, kFeatures };
inline constexpr size_t kForcedColumns = kFeatures + 3;

/// The rules that apply to one source, over the words of its candidates.
class ForcedDecoder::Sentence {
 public:
  /// `words`: the different words of the candidates.
  Sentence(const ForcedDecoder& decoder, std::string_view source, std::string_view kinds, const Vocab& vocab,
           std::span<const int32_t> words)
      : d_(decoder), g_(*decoder.grammar_) {
    for (int32_t word : words) {
      const int32_t local = local_.add(static_cast<uint32_t>(word));
      if (const int32_t id = g_.target_vocab()->find(vocab[word]); id >= 0) by_target_.add(static_cast<uint32_t>(id), local);
    }
    for_each_word(source, [&](std::string_view word) { texts.emplace_back(word); });
    for (const std::string& word : texts) source_.push_back(g_.source_vocab()->find(word));
    for (int32_t i = 0; i < length(); ++i) {
      begin_ = i;
      tails_.clear();
      walk(Grammar::kRoot, i);
      add_copy(i, static_cast<size_t>(i) < kinds.size() ? kinds[i] : 'w', vocab);
    }
    std::stable_sort(applications.begin(), applications.end(), [](const Application& a, const Application& b) {
      return std::pair(a.j - a.i, a.i) < std::pair(b.j - b.i, b.i);
    });
  }

  /// A target side. Symbols are indices of `words`, or -1 and -2 for the nonterminals.
  struct Rule {
    double score;
    int64_t rule;  // of the grammar; -1: a copy
    int32_t extra = -1;
    uint32_t begin, end;  // in symbols
  };
  /// A source side over [i, j), with the spans of its nonterminals.
  struct Application {
    int32_t i, j, side;
    int32_t tail[2][2];
    int32_t tails;
  };

  int32_t length() const { return static_cast<int32_t>(source_.size()); }
  int32_t words() const { return local_.size(); }
  int32_t local(int32_t word) const { return local_.find(static_cast<uint32_t>(word)); }
  std::span<const int32_t> target(const Rule& rule) const { return {symbols_.data() + rule.begin, rule.end - rule.begin}; }

  std::vector<std::string> texts;
  std::vector<Application> applications;             // shorter spans first
  std::vector<Rule> rules;                           // side after side
  std::vector<std::pair<uint32_t, uint32_t>> sides;  // their rules

 private:
  /// All source sides that begin at begin_, from a node of the trie and the position after it.
  void walk(uint32_t node, int32_t at) {
    const auto [first, end] = g_.rules_of(node);
    if (first != end && (tails_.empty() || at - begin_ <= d_.max_span_)) apply(at, side(first, end));
    if (!g_.has_children(node)) return;
    if (at < length() && source_[at] >= 0)
      if (const uint32_t next = g_.child(node, source_[at]); next != Grammar::kNone) walk(next, at + 1);
    if (tails_.size() == 2) return;
    const uint32_t next = g_.child(node, kX);
    if (next == Grammar::kNone) return;
    for (int32_t to = at + 1; to <= std::min(length(), begin_ + d_.max_span_); ++to) {
      tails_.push_back({at, to});
      walk(next, to);
      tails_.pop_back();
    }
  }

  void apply(int32_t at, int32_t side) {
    if (sides[side].first == sides[side].second) return;
    Application a{begin_, at, side, {{0, 0}, {0, 0}}, static_cast<int32_t>(tails_.size())};
    for (size_t t = 0; t < tails_.size(); ++t) a.tail[t][0] = tails_[t].first, a.tail[t][1] = tails_[t].second;
    applications.push_back(a);
  }

  /// The rules of a source side whose words the candidates have.
  int32_t side(uint32_t first, uint32_t end) {
    const int32_t next = static_cast<int32_t>(sides.size()), side = side_of_.add(first, next);
    if (side != next) return side;
    const auto begin = static_cast<uint32_t>(rules.size());
    for (uint32_t rule = first; rule < end; ++rule) {
      const auto symbols = static_cast<uint32_t>(symbols_.size());
      bool known = true;
      double words = 0;
      for (int32_t symbol : g_.target(rule)) {
        const int32_t own = symbol < 0 ? symbol : by_target_.find(static_cast<uint32_t>(symbol));
        known = known && (symbol < 0 || own >= 0);
        words += symbol >= 0;
        symbols_.push_back(own);
      }
      if (!known) {
        symbols_.resize(symbols);
        continue;
      }
      double score = d_.weights_[kRule] + d_.weights_[kWord] * words;
      for (size_t c = 0; c < d_.column_.size(); ++c)
        if (d_.column_[c] >= 0) score += d_.weights_[c] * g_.row(rule)[d_.column_[c]];
      rules.push_back({score, rule, -1, symbols, static_cast<uint32_t>(symbols_.size())});
    }
    sides.emplace_back(begin, static_cast<uint32_t>(rules.size()));
    return side;
  }

  /// A number, a name, or a word that no rule translates alone.
  void add_copy(int32_t i, char letter, const Vocab& vocab) {
    const WordKind kind = word_kind(letter);
    int32_t extra = kind == WordKind::number ? kNumber : kind == WordKind::name ? kName : -1;
    if (extra < 0) {
      const uint32_t node = source_[i] < 0 ? Grammar::kNone : g_.child(Grammar::kRoot, source_[i]);
      const auto [first, end] = node == Grammar::kNone ? std::pair(0u, 0u) : g_.rules_of(node);
      if (first != end) return;
      extra = source_[i] < 0 ? kUnknown : kIdentity;
    }
    const int32_t word = vocab.find(texts[i]), own = word < 0 ? -1 : local(word);
    if (own < 0) return;
    const auto symbols = static_cast<uint32_t>(symbols_.size());
    symbols_.push_back(own);
    sides.emplace_back(static_cast<uint32_t>(rules.size()), static_cast<uint32_t>(rules.size()) + 1);
    rules.push_back({d_.weights_[kWord] + d_.weights_[extra], -1, extra, symbols, symbols + 1});
    applications.push_back({i, i + 1, static_cast<int32_t>(sides.size()) - 1, {{0, 0}, {0, 0}}, 0});
  }

  const ForcedDecoder& d_;
  const Grammar& g_;
  IdMap local_, by_target_, side_of_;
  std::vector<int32_t> source_, symbols_;
  int32_t begin_ = 0;
  std::vector<std::pair<int32_t, int32_t>> tails_;
};

}  // namespace hopefear
