#include "hiero/forced_decoding.h"

#include <algorithm>
#include <limits>
#include <span>

#include "forest/each_sentence.h"
#include "hiero/forced_sentence.h"

namespace hopefear {
std::vector<std::string> ForcedDecoder::features(bool blocks) {
  return {"phrase_ef", "phrase_fe", "lexical_ef", "lexical_fe", "rule", "word", blocks ? "swap" : "glue",
          "identity",  "unknown",   "number",     "name"};
}

std::vector<std::string> ForcedDecoder::columns(bool blocks) {
  std::vector<std::string> all = features(blocks);
  all.insert(all.end(), {"skipped_source", "skipped_target", "missing"});
  return all;
}

ForcedDecoder::ForcedDecoder(std::shared_ptr<const Grammar> grammar, std::vector<double> weights, int max_span, bool blocks)
    : grammar_(std::move(grammar)), weights_(std::move(weights)), max_span_(max_span), blocks_(blocks) {
  if (weights_.size() != kFeatures) throw InputError("forced decoding needs a weight for each of its features");
  if (max_span < 1) throw InputError("max_span must be at least 1");
  const auto names = features(blocks);
  for (size_t c = 0; c < column_.size(); ++c) column_[c] = grammar_->column(names[c]);
}

/// Finds the best derivation of each candidate in turn.
class ForcedDecoder::Parse {
 public:
  struct Item {
    int32_t i, j, k, l;
    double score;
    uint32_t rule;
    int32_t child[2];  // items, by the order of the source side; -1: none
  };

  Parse(const ForcedDecoder& decoder, const Sentence& sentence) : d_(decoder), s_(sentence), n_(sentence.length()) {}

  void run(std::span<const int32_t> words) {
    read(words);
    choose_rules();
    items_.clear();
    cells_.assign(static_cast<size_t>(n_ + 1) * (n_ + 1), {0, 0});
    place_.assign(static_cast<size_t>(m_ + 1) * (m_ + 1), -1);
    for (size_t a = 0; a < s_.applications.size();) {
      const auto begin = static_cast<int32_t>(items_.size());
      const int32_t i = s_.applications[a].i, j = s_.applications[a].j;
      for (; a < s_.applications.size() && s_.applications[a].i == i && s_.applications[a].j == j; ++a) apply(s_.applications[a]);
      cells_[i * (n_ + 1) + j] = {begin, static_cast<int32_t>(items_.size())};
      for (size_t t = begin; t < items_.size(); ++t) place_[items_[t].k * (m_ + 1) + items_[t].l] = -1;
    }
    join();
  }

  const std::vector<int32_t>& parts() const { return parts_; }
  const Item& item(int32_t t) const { return items_[t]; }

  void columns(double* out) const {
    std::fill(out, out + kForcedColumns, 0.0);
    for (int32_t part : parts_) add_features(part, out);
    out[kJoin] = d_.blocks_ ? swaps_ : std::max(0.0, static_cast<double>(parts_.size()) - 1);
    out[kFeatures] = skipped_source_;
    out[kFeatures + 1] = skipped_target_;
    out[kFeatures + 2] = skipped_source_ + skipped_target_ > 0;
  }

 private:
  void read(std::span<const int32_t> words) {
    m_ = static_cast<int32_t>(words.size());
    words_.clear();
    positions_.assign(s_.words(), {});
    for (int32_t word : words) {
      words_.push_back(s_.local(word));
      positions_[words_.back()].push_back(static_cast<int32_t>(words_.size()) - 1);
    }
  }

  /// Keeps the rules of each side whose runs of words are in the candidate.
  void choose_rules() {
    chosen_.clear();
    of_side_.clear();
    for (const auto& [first, end] : s_.sides) {
      const auto begin = static_cast<uint32_t>(chosen_.size());
      for (uint32_t r = first; r < end; ++r)
        if (can_match(s_.target(s_.rules[r]))) chosen_.push_back(r);
      of_side_.emplace_back(begin, static_cast<uint32_t>(chosen_.size()));
    }
  }

  bool can_match(std::span<const int32_t> target) const {
    for (size_t at = 0; at < target.size();) {
      if (target[at] < 0) {
        ++at;
        continue;
      }
      size_t end = at;
      while (end < target.size() && target[end] >= 0) ++end;
      const auto run = target.subspan(at, end - at);
      const auto& places = positions_[run[0]];
      if (std::none_of(places.begin(), places.end(), [&](int32_t k) { return has(run, k); })) return false;
      at = end;
    }
    return true;
  }

  /// Whether the candidate has these words at k.
  bool has(std::span<const int32_t> run, int32_t k) const {
    return k >= 0 && k + static_cast<int32_t>(run.size()) <= m_ && std::equal(run.begin(), run.end(), words_.begin() + k);
  }

  void apply(const Sentence::Application& a) {
    const auto [first, end] = of_side_[a.side];
    if (first == end) return;
    std::pair<int32_t, int32_t> below[2] = {{0, 0}, {0, 0}};
    for (int32_t t = 0; t < a.tails; ++t) {
      below[t] = cells_[a.tail[t][0] * (n_ + 1) + a.tail[t][1]];
      if (below[t].first == below[t].second) return;
    }
    for (uint32_t c = first; c < end; ++c) {
      const uint32_t rule = chosen_[c];
      const auto target = s_.target(s_.rules[rule]);
      if (target.empty()) continue;
      if (a.tails == 0)
        for (int32_t k : positions_[target[0]]) {
          if (has(target, k)) add(a, k, k + static_cast<int32_t>(target.size()), rule, -1, -1);
        }
      else
        with_tails(a, rule, target, below);
    }
  }

  /// Target sides with nonterminals: words, an item, words, perhaps another item, words.
  void with_tails(const Sentence::Application& a, uint32_t rule, std::span<const int32_t> target,
                  const std::pair<int32_t, int32_t>* below) {
    const auto is_slot = [](int32_t symbol) { return symbol < 0; };
    const auto slot = static_cast<size_t>(std::find_if(target.begin(), target.end(), is_slot) - target.begin());
    const auto after = target.subspan(slot + 1);
    const int32_t first = -1 - target[slot], before = static_cast<int32_t>(slot);
    const auto gap = static_cast<size_t>(std::find_if(after.begin(), after.end(), is_slot) - after.begin());
    for (int32_t x = below[first].first; x < below[first].second; ++x) {
      const int32_t k = items_[x].k - before, l = items_[x].l;
      if (!has(target.first(slot), k) || !has(after.first(gap), l)) continue;
      const int32_t end = l + static_cast<int32_t>(gap);
      if (gap == after.size()) {
        add(a, k, end, rule, x, -1);
        continue;
      }
      const int32_t second = -1 - after[gap];
      for (int32_t y = below[second].first; y < below[second].second; ++y)
        if (items_[y].k == end && has(after.subspan(gap + 1), items_[y].l))
          add(a, k, items_[y].l + static_cast<int32_t>(after.size() - gap - 1), rule, first == 0 ? x : y, first == 0 ? y : x);
    }
  }

  void add(const Sentence::Application& a, int32_t k, int32_t l, uint32_t rule, int32_t left, int32_t right) {
    double score = s_.rules[rule].score;
    if (left >= 0) score += items_[left].score;
    if (right >= 0) score += items_[right].score;
    int32_t& place = place_[k * (m_ + 1) + l];
    if (place < 0) {
      place = static_cast<int32_t>(items_.size());
      items_.push_back({a.i, a.j, k, l, score, rule, {left, right}});
    } else if (score > items_[place].score) {
      items_[place] = {a.i, a.j, k, l, score, rule, {left, right}};
    }
  }

  /// The best path from (0, 0) to a place of both sides, and its last step: an item, or two that swap (the first of them in
  /// the candidate is `item`), or a word that is left out.
  struct Best {
    int32_t skipped = std::numeric_limits<int32_t>::max();
    double score = 0;
    int32_t item = kSourceWord, swapped = -1;
    bool any = false;  // an item before: the next one is glued to it

    bool reached() const { return skipped < std::numeric_limits<int32_t>::max(); }
  };
  static constexpr int32_t kSourceWord = -1, kCandidateWord = -2;

  Best& best(int32_t i, int32_t k) { return best_[i * (m_ + 1) + k]; }
  void improve(int32_t i, int32_t k, const Best& step) {
    Best& here = best(i, k);
    if (step.skipped < here.skipped || (step.skipped == here.skipped && step.score > here.score)) here = step;
  }

  /// From (0, 0) to (n, m) by items, swaps, and words that are left out.
  void join() {
    best_.assign(static_cast<size_t>(n_ + 1) * (m_ + 1), {});
    at_.assign(n_ + 1, {});
    from_.assign(m_ + 1, {});
    for (size_t t = 0; t < items_.size(); ++t) {
      at_[items_[t].i].push_back(static_cast<int32_t>(t));
      from_[items_[t].k].push_back(static_cast<int32_t>(t));
    }
    for (auto& own : at_)
      std::stable_sort(own.begin(), own.end(), [&](int32_t a, int32_t b) { return items_[a].k < items_[b].k; });
    best_[0].skipped = 0;
    for (int32_t i = 0; i <= n_; ++i) {
      size_t next = 0;
      for (int32_t k = 0; k <= m_; ++k) {
        const Best here = best(i, k);
        for (; next < at_[i].size() && items_[at_[i][next]].k == k; ++next) {
          const Item& item = items_[at_[i][next]];
          const double glue = here.any && !d_.blocks_ ? d_.weights_[kJoin] : 0.0;
          if (here.reached()) improve(item.j, item.l, {here.skipped, here.score + glue + item.score, at_[i][next], -1, true});
        }
        if (!here.reached()) continue;
        if (d_.blocks_) swap(i, k, here);
        if (i < n_) improve(i + 1, k, {here.skipped + 1, here.score, kSourceWord, -1, here.any});
        if (k < m_) improve(i, k + 1, {here.skipped + 1, here.score, kCandidateWord, -1, here.any});
      }
    }
    trace();
  }

  /// Blocks that swap: one begins at k of the candidate, and the next one in the candidate begins at i of the source.
  void swap(int32_t i, int32_t k, const Best& here) {
    for (int32_t x : from_[k]) {
      const Item& first = items_[x];
      for (int32_t y : at_[i]) {
        const Item& second = items_[y];
        if (second.j > first.i || second.k < first.l) continue;
        const int32_t between = (first.i - second.j) + (second.k - first.l);
        const double score = here.score + first.score + second.score + d_.weights_[kJoin];
        improve(first.j, second.l, {here.skipped + between, score, x, y, true});
      }
    }
  }

  /// The parts of the best path, in the order of the candidate.
  void trace() {
    parts_.clear();
    skipped_source_ = skipped_target_ = swaps_ = 0;
    for (int32_t i = n_, k = m_; i > 0 || k > 0;) {
      const Best& step = best(i, k);
      if (step.item == kSourceWord) {
        --i, ++skipped_source_;
      } else if (step.item == kCandidateWord) {
        --k, ++skipped_target_;
      } else {
        const Item& first = items_[step.item];
        i = first.i;
        k = first.k;
        if (step.swapped >= 0) {
          const Item& second = items_[step.swapped];
          parts_.push_back(step.swapped);
          skipped_source_ += first.i - second.j;
          skipped_target_ += second.k - first.l;
          swaps_ += 1;
          i = second.i;
        }
        parts_.push_back(step.item);
      }
    }
    std::reverse(parts_.begin(), parts_.end());
  }

  void add_features(int32_t t, double* out) const {
    const Item& item = items_[t];
    const Sentence::Rule& rule = s_.rules[item.rule];
    for (int32_t symbol : s_.target(rule)) out[kWord] += symbol >= 0;
    if (rule.rule < 0) {
      out[rule.extra] += 1;
      return;
    }
    out[kRule] += 1;
    for (size_t c = 0; c < d_.column_.size(); ++c)
      if (d_.column_[c] >= 0) out[c] += d_.grammar_->row(static_cast<uint32_t>(rule.rule))[d_.column_[c]];
    for (int32_t child : item.child)
      if (child >= 0) add_features(child, out);
  }

  const ForcedDecoder& d_;
  const Sentence& s_;
  int32_t n_, m_ = 0;
  std::vector<int32_t> words_;
  std::vector<std::vector<int32_t>> positions_;  // of each word
  std::vector<uint32_t> chosen_;
  std::vector<std::pair<uint32_t, uint32_t>> of_side_;  // in chosen_
  std::vector<Item> items_;
  std::vector<std::pair<int32_t, int32_t>> cells_;  // the items of each source span
  std::vector<int32_t> place_;                      // of the item of the current cell over [k, l)
  std::vector<int32_t> parts_;
  std::vector<Best> best_;
  std::vector<std::vector<int32_t>> at_, from_;  // items by where they begin in the source, in the candidate
  double skipped_source_ = 0, skipped_target_ = 0, swaps_ = 0;
};

std::vector<double> ForcedDecoder::rows(const Pool& pool, const std::vector<std::string>& sources,
                                        const std::vector<std::string>& kinds, int jobs) const {
  if (sources.size() != pool.size() || kinds.size() != pool.size())
    throw InputError("as many source lines as sentences are needed");
  const auto row_begin = pool.row_begin();
  std::vector<double> out(row_begin.back() * kForcedColumns);
  each_sentence(pool, jobs, [&](size_t i, const hopefear::Sentence& s) {
    const Sentence sentence(*this, sources[i], kinds[i], *pool.vocab, s.forest.words);
    Parse parse(*this, sentence);
    for (int32_t e = 0; e < s.forest.edges(); ++e) {
      parse.run(s.forest.edge_words(e));
      parse.columns(out.data() + (row_begin[i] + e) * kForcedColumns);
    }
  });
  return out;
}

std::vector<ForcedDecoder::Step> ForcedDecoder::explain(std::string_view source, std::string_view kinds,
                                                        std::string_view candidate) const {
  Vocab vocab;
  const std::vector<int32_t> words = add_words(candidate, vocab);
  const Sentence sentence(*this, source, kinds, vocab, words);
  Parse parse(*this, sentence);
  parse.run(words);
  std::vector<Step> steps;
  const auto show = [&](const auto& self, int32_t t, int32_t depth) -> void {
    const Parse::Item& item = parse.item(t);
    const Sentence::Rule& rule = sentence.rules[item.rule];
    const auto number = static_cast<uint32_t>(std::max<int64_t>(rule.rule, 0));
    const std::string& own = sentence.texts[item.i];
    steps.push_back({depth, item.i, item.j, item.k, item.l, rule.rule < 0 ? own : grammar_->source_text(number),
                     rule.rule < 0 ? own : grammar_->target_text(number), rule.score});
    for (int32_t child : item.child)
      if (child >= 0) self(self, child, depth + 1);
  };
  for (int32_t part : parse.parts()) show(show, part, 0);
  return steps;
}

}  // namespace hopefear
