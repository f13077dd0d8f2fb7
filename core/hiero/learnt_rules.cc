#include "hiero/learnt_rules.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "forest/forest.h"
#include "util/error.h"

namespace hopefear {
namespace {

constexpr int kLookedAt = 25;   // occurrences of a source side that count, the latest
constexpr size_t kWays = 3;     // target sides of a source side, at most
constexpr double kPrior = 10;   // the weight of a word translation probability of the grammar, in occurrences
constexpr int kLeastWords = 3;  // of the source side of a rule with a nonterminal
constexpr uint32_t kLost = ~uint32_t{0};
constexpr int32_t kStranger = -1000;  // neither a word nor a slot
const char* const kColumns[] = {"phrase_ef", "phrase_fe", "lexical_ef", "lexical_fe", "count"};

ExtractOptions extraction(const LearntLimits& limits) {
  return {.max_phrase = limits.max_phrase,
          .max_source_symbols = std::max(limits.max_phrase, limits.max_source_symbols),
          .max_nonterminals = 1,
          .min_hole = limits.min_hole,
          .tight = limits.tight,
          .fractional = false,
          .min_occurrences = 1,
          .min_hierarchical = 1,
          .max_options = 0,
          .orientations = false};
}

bool has_gap(std::span<const int32_t> symbols) {
  return std::ranges::any_of(symbols, [](int32_t symbol) { return symbol < 0; });
}

/// Words that the grammar does not have become kStranger.
void look_up(const Vocab& words, const Vocab& grammar, std::vector<int32_t>& ids) {
  while (static_cast<int32_t>(ids.size()) < words.size()) {
    const int32_t id = grammar.find(words[static_cast<int32_t>(ids.size())]);
    ids.push_back(id < 0 ? kStranger : id);
  }
}

}  // namespace

/// Collects the rules of one sentence.
struct LearntRules::Matches {
  LivePairs live;
  std::vector<int32_t> words;   // of the sentence; -1: in no pair
  std::vector<int32_t> source;  // symbols of the current rule so far
  int32_t begin = 0;
  std::unordered_map<int32_t, std::vector<SentenceRule>> known;  // by node, without places
  std::vector<SentenceRule> rules;
};

LearntRules::LearntRules(std::shared_ptr<const Grammar> grammar, const std::vector<std::string>& dense,
                         const LearntLimits& limits)
    : g_(std::move(grammar)), limits_(limits), dense_(dense), extractor_(text_, extraction(limits)), last_{-1} {
  for (size_t k = 0; k < 5; ++k) {
    columns_[k] = g_->column(kColumns[k]);
    if (columns_[k] < 0) throw InputError(std::string("the grammar has no column ") + kColumns[k]);
  }
}

void LearntRules::add(std::string_view source, std::string_view target, const std::vector<int32_t>& links) {
  const auto pair = static_cast<int32_t>(text_->size());
  text_->add(source, target);
  text_->add_links(links);
  worth_.push_back(worth_.back() * limits_.decay);
  look_up(*text_->source_vocab, *g_->source_vocab(), source_ids_);
  look_up(*text_->target_vocab, *g_->target_vocab(), target_ids_);
  extractor_.each(static_cast<size_t>(pair), [&](const ExtractedRule& rule) { add_rule(rule, pair); });
}

void LearntRules::add_rule(const ExtractedRule& rule, int32_t pair) {
  const bool gap = has_gap(rule.source);
  if (gap && static_cast<int>(rule.source.size()) > limits_.max_source_symbols) return;
  if (gap && static_cast<int>(rule.source.size()) <= kLeastWords) return;
  int32_t node = 0;
  for (const int32_t symbol : rule.source) {
    const auto next = static_cast<int32_t>(last_.size());
    const int32_t child = children_.add(pair_key(node, static_cast<uint32_t>(symbol + 1)), next);
    if (child == next) last_.push_back(-1);
    node = child;
  }
  const int32_t number = target_of(node, rule);
  if (gap)
    for (int32_t o = last_[node]; o >= 0 && occurrences_[o].pair == pair; o = occurrences_[o].before)
      if (occurrences_[o].target == number) return;
  occurrences_.push_back({number, pair, last_[node]});
  last_[node] = static_cast<int32_t>(occurrences_.size()) - 1;
}

/// The target side of a rule, shared with an earlier rule of its source side if possible.
int32_t LearntRules::target_of(int32_t node, const ExtractedRule& rule) {
  const auto same_links = [&](std::span<const PackedLink> own) {
    return std::ranges::equal(own, rule.links, [](PackedLink a, Link b) { return a.s == b.s && a.t == b.t; });
  };
  int left = kLookedAt;
  for (int32_t o = last_[node]; o >= 0 && left-- > 0; o = occurrences_[o].before) {
    const int32_t number = occurrences_[o].target;
    if (std::ranges::equal(target(number), rule.target) && same_links(links(number))) return number;
  }
  targets_.insert(targets_.end(), rule.target.begin(), rule.target.end());
  for (const Link link : rule.links) links_.push_back({static_cast<uint8_t>(link.s), static_cast<uint8_t>(link.t)});
  target_begin_.push_back(static_cast<uint32_t>(targets_.size()));
  link_begin_.push_back(static_cast<uint32_t>(links_.size()));
  return static_cast<int32_t>(target_begin_.size()) - 2;
}

/// The target sides of a source side, those with most evidence first, and the evidence of all.
std::pair<std::vector<LearntRules::Way>, double> LearntRules::ways(int32_t node, LivePairs live) const {
  std::vector<Way> all;
  double total = 0;
  int left = kLookedAt;
  for (int32_t o = last_[node]; o >= 0 && left > 0; o = occurrences_[o].before) {
    const Occurrence& seen = occurrences_[o];
    if (static_cast<size_t>(seen.pair) >= live.size() || !live[seen.pair]) continue;
    --left;
    const double weight = worth_[live.size() - 1 - seen.pair];
    total += weight;
    const auto known = std::ranges::find_if(all, [&](const Way& way) {
      return way.target == seen.target || std::ranges::equal(target(way.target), target(seen.target));
    });
    if (known != all.end())
      known->weight += weight;
    else
      all.push_back({seen.target, seen.pair, weight});
  }
  std::ranges::stable_sort(all, [](const Way& a, const Way& b) { return a.weight > b.weight; });
  return {std::move(all), total};
}

std::vector<SentenceRule> LearntRules::rules(const std::vector<std::string>& words, LivePairs live) const {
  Matches matches{live, {}, {}, 0, {}, {}};
  for (const std::string& word : words) matches.words.push_back(text_->source_vocab->find(word));
  for (matches.begin = 0; matches.begin < static_cast<int32_t>(words.size()); ++matches.begin)
    walk({0, Grammar::kRoot, matches.begin, 0, {-1, -1}}, matches);
  return std::move(matches.rules);
}

/// Walks through all source sides that begin where this path begins.
void LearntRules::walk(const Path& path, Matches& matches) const {
  if (last_[path.node] >= 0) match(path, matches);
  const auto length = static_cast<int32_t>(matches.words.size());
  if (path.at == length) return;
  const auto in_grammar = [&](int32_t symbol) {
    if (path.grammar == kLost || symbol == kStranger) return kLost;
    const uint32_t child = g_->child(path.grammar, symbol);
    return child == Grammar::kNone ? kLost : child;
  };
  if (const int32_t word = matches.words[path.at]; word >= 0) {
    if (const int32_t next = child(path.node, word); next >= 0) {
      matches.source.push_back(word);
      walk({next, in_grammar(source_ids_[word]), path.at + 1, path.words + 1, path.gap}, matches);
      matches.source.pop_back();
    }
  }
  if (path.gap.first >= 0) return;
  const int32_t next = child(path.node, kX);
  if (next < 0) return;
  matches.source.push_back(kX);
  const uint32_t below = in_grammar(kX);
  for (int32_t end = path.at + 1; end <= std::min(length, matches.begin + limits_.max_span); ++end)
    walk({next, below, end, path.words, {path.at, end}}, matches);
  matches.source.pop_back();
}

/// Adds the rules of a complete source side.
void LearntRules::match(const Path& path, Matches& matches) const {
  const bool gap = path.gap.first >= 0;
  if (gap && path.at - matches.begin > limits_.max_span) return;
  const auto [known, is_new] = matches.known.try_emplace(path.node);
  if (is_new) known->second = rules_of(path, matches);
  for (const SentenceRule& rule : known->second) {
    SentenceRule& placed = matches.rules.emplace_back(rule);
    placed.begin = matches.begin;
    placed.end = path.at;
    if (gap) placed.gaps = {path.gap};
  }
}

/// The rules of a source side, without their places.
std::vector<SentenceRule> LearntRules::rules_of(const Path& path, const Matches& matches) const {
  const auto [all, total] = ways(path.node, matches.live);
  const auto [first, last] = path.grammar == kLost ? std::pair(0u, 0u) : g_->rules_of(path.grammar);
  const auto value = [&](int64_t rule, int k) { return static_cast<double>(g_->row(static_cast<uint32_t>(rule))[columns_[k]]); };
  const double seen = first == last ? 0 : value(first, 4) / std::exp(value(first, 0));
  int unseen = 0;  // source words
  for (const int32_t word : matches.source) {
    if (word < 0) continue;
    const uint32_t node = source_ids_[word] < 0 ? Grammar::kNone : g_->child(Grammar::kRoot, source_ids_[word]);
    const auto [begin, end] = node == Grammar::kNone ? std::pair(0u, 0u) : g_->rules_of(node);
    unseen += begin == end;
  }
  std::vector<SentenceRule> made;
  for (const Way& way : std::span(all).first(std::min(kWays, all.size()))) {
    const int64_t rule = in_grammar(path.grammar, target(way.target));
    if (rule >= 0 && path.gap.first >= 0) continue;
    double values[] = {way.weight / (seen + total), way.weight / (way.weight + 1), 0, 0, 1};
    if (rule >= 0) {
      const double count = value(rule, 4) + way.weight;
      values[0] = count / (seen + total);
      values[1] = count / (value(rule, 4) / std::exp(value(rule, 1)) + way.weight);
    }
    values[0] = std::log(values[0]);
    values[1] = std::log(values[1]);
    std::tie(values[2], values[3]) = rule >= 0 ? std::pair(value(rule, 2), value(rule, 3)) : lexical(way, matches.source);
    SentenceRule& out = made.emplace_back();
    for (const std::string& name : dense_)
      out.features[name] = values[name == "rule" ? 4 : std::ranges::find(kColumns, name) - kColumns];
    int strangers = unseen;
    for (const int32_t symbol : target(way.target)) {
      if (symbol < 0) {
        out.target.emplace_back(1);
        continue;
      }
      out.target.emplace_back((*text_->target_vocab)[symbol]);
      strangers += target_ids_[symbol] < 0;
    }
    out.features["corrected"] = 1;
    out.features["corrected_words"] = path.words;
    out.features["corrected_new"] = strangers;
    for (const PackedLink link : links(way.target)) out.links.push_back({link.s, link.t});
  }
  return made;
}

/// The grammar's rule with this target side, or -1.
int64_t LearntRules::in_grammar(uint32_t grammar_node, std::span<const int32_t> target) const {
  if (grammar_node == kLost) return -1;
  const auto same = [&](int32_t symbol, int32_t own) { return symbol == (own < 0 ? own : target_ids_[own]); };
  const auto [begin, end] = g_->rules_of(grammar_node);
  for (uint32_t rule = begin; rule < end; ++rule)
    if (std::ranges::equal(g_->target(rule), target, same)) return rule;
  return -1;
}

/// w(e|f) and w(f|e) of two words.
std::pair<double, double> LearntRules::words_of(int32_t source, int32_t target) const {
  if (source_ids_[source] < 0) return {0, 0};
  const uint32_t node = g_->child(Grammar::kRoot, source_ids_[source]);
  const int64_t rule = node == Grammar::kNone ? -1 : in_grammar(node, {&target, 1});
  if (rule < 0) return {0, 0};
  const auto row = g_->row(static_cast<uint32_t>(rule));
  return {std::exp(static_cast<double>(row[columns_[2]])), std::exp(static_cast<double>(row[columns_[3]]))};
}

std::pair<double, double> LearntRules::lexical(const Way& way, std::span<const int32_t> source) const {
  const auto symbols = target(way.target);
  std::vector<std::pair<double, int>> forward(symbols.size()), backward(source.size());  // sums of linked words, and how many
  for (const PackedLink link : links(way.target)) {
    const auto [ef, fe] = words_of(source[link.s], symbols[link.t]);
    forward[link.t].first += (kPrior * ef + way.weight) / (kPrior + way.weight);
    backward[link.s].first += (kPrior * fe + way.weight) / (kPrior + way.weight);
    ++forward[link.t].second;
    ++backward[link.s].second;
  }
  const auto product = [](const auto& words) {
    double sum = 0;
    for (const auto& [total, count] : words)
      if (count > 0) sum += std::log(total / count);
    return sum;
  };
  return {product(forward), product(backward)};
}

bool LearntRules::has(const std::vector<std::string>& source, const std::vector<std::string>& target_words,
                      LivePairs live) const {
  int32_t node = 0;
  for (const std::string& word : source) {
    const int32_t id = text_->source_vocab->find(word);
    node = id < 0 ? -1 : child(node, id);
    if (node < 0) return false;
  }
  std::vector<int32_t> symbols;
  for (const std::string& word : target_words) symbols.push_back(text_->target_vocab->find(word));
  const auto [all, total] = ways(node, live);
  return std::ranges::any_of(all, [&](const Way& way) { return std::ranges::equal(target(way.target), symbols); });
}

}  // namespace hopefear
