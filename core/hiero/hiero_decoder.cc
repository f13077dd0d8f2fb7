#include "hiero/hiero_decoder.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <span>

#include "forest/kbest.h"
#include "forest/prune.h"
#include "util/error.h"
#include "util/parallel.h"

namespace hopefear {
namespace {

/// A target side and what follows from it whatever the weights are.
struct Rule {
  double lm[kMaxLms] = {0, 0};  // what the language models say of its words alone
  uint32_t target = 0;          // where its symbols begin
  uint32_t symbols = 0, words = 0;
  uint32_t sparse = 0, sparse_end = 0;
};

/// One target side of a source side, or a rule that the grammar does not have.
struct Option : Rule {
  double score = 0;                   // w.h without language models
  int64_t rule = -1;                  // of the grammar
  int32_t extra = -1;                 // the feature that counts this rule, if it is not the grammar's
  bool begins = false, ends = false;  // with <s>, with </s>
};

/// A source side: its rules, and its options in the sentence with this number.
struct Side {
  uint32_t rule, rules;
  uint32_t option, options;
  uint64_t sentence;
};

/// What chooses options: `estimate` has the language models' word on the rule alone.
struct Ranked {
  double score, estimate;
  uint32_t rule;
};

constexpr size_t kMostSpans = size_t{1} << 26;  // of a lattice
constexpr int32_t kFar = std::numeric_limits<int32_t>::max() / 2;

/// Source sides are forgotten when a search has kept so many symbols and features of them.
constexpr size_t kKept = size_t{1} << 22;

/// A dotted item: a node of the trie and the cells behind its nonterminals.
struct Item {
  uint32_t node;
  int32_t cell[2];
  int32_t before;  // the item with the dot one symbol to the left; -1: the root
  int32_t path;    // the scores of the arcs behind the dot; -1: none
};

/// A cube: options times the nodes of up to two cells.
struct Cube {
  uint32_t option, options;  // begin and number
  int32_t cell[2];           // -1: none
  int32_t path = -1;         // the scores of the arcs below the rule itself
};

struct Cell {
  uint32_t begin = 0, end = 0;  // places in the list of sorted nodes
  int32_t i = 0, j = 0;
};

struct Place {
  uint32_t cube;
  uint32_t rank[3];  // option, node of the first cell, of the second
};

struct Waiting {
  double score;
  uint32_t place;
  bool operator<(const Waiting& other) const { return score < other.score || (score == other.score && place > other.place); }
};

struct Edge {
  int32_t head;
  uint32_t option;
  int32_t tail[2];
  int32_t path;
  double score;  // of the best derivation with this edge on top
  double lm[kMaxLms];
};

}  // namespace

/// The work on one sentence, then on the next. Its arrays are arenas, and source sides that were seen are remembered.
class HieroSearch {
 public:
  explicit HieroSearch(const HieroDecoder& decoder) : d_(decoder), g_(*decoder.grammar_), models_(decoder.lms_.size()) {}

  Forest run(const HieroSource& source, const double* w, const HieroOptions& options) {
    start(source, w, options);
    if (length_ == 0) {
      ForestBuilder builder(d_.vocab_, d_.features_, d_.dense_width_);
      builder.add_node(0, 0);
      builder.add_edge({}, {}, nullptr);
      return builder.finish();
    }
    begin_glue();
    for (int32_t j = 1; j <= length_; ++j) {  // column by column: what is looked at was made not long ago
      for (int32_t i = j - 1; i >= std::max(0, j - widest_); --i) span(i, j - i);
      glue(j);
    }
    goal();
    return forest();
  }

  /// Whether to keep this for the next sentence, or has it become too large for that?
  bool modest() const { return edges_.capacity() <= kKept && places_.capacity() <= kKept; }

 private:
  void start(const HieroSource& source, const double* w, const HieroOptions& options) {
    source_ = &source;
    w_ = w;
    limits_ = options;
    length_ = source.length();
    hierarchical_ = static_cast<int32_t>(std::min<int64_t>(length_, options.max_span));
    widest_ = std::min(length_, std::max(hierarchical_, static_cast<int32_t>(g_.max_source_symbols())));
    paths_.clear();
    if (!source.is_text() && length_ > 0) measure();
    w_word_ = d_.word_id_ >= 0 ? w[d_.word_id_] : 0.0;
    w_rule_ = d_.rule_id_ >= 0 ? w[d_.rule_id_] : 0.0;
    ++sentence_;
    if (targets_.size() + sparse_ids_.size() > kKept) {
      side_of_.clear();
      sides_.clear();
      rules_.clear();
      targets_.clear();
      for (auto& words : lm_targets_) words.clear();
      sparse_ids_.clear();
      sparse_values_.clear();
    }
    options_.clear();
    items_.clear();
    cells_.clear();
    sorted_.clear();
    scores_.clear();
    node_cell_.clear();
    states_.clear();
    edges_.clear();
    const size_t spans = static_cast<size_t>(length_) * static_cast<size_t>(widest_ + 1);
    if (source.is_text()) {
      fewest_.resize(spans);
      for (size_t k = 0; k < spans; ++k) fewest_[k] = static_cast<int32_t>(k % static_cast<size_t>(widest_ + 1));
    }
    x_cell_.assign(spans, -1);
    item_begin_.assign(spans, 0);
    item_end_.assign(spans, 0);
  }

  size_t at(int32_t i, int32_t width) const {
    return static_cast<size_t>(i) * static_cast<size_t>(widest_ + 1) + static_cast<size_t>(width);
  }

  /// The fewest words between any two nodes of a lattice, as far as rules reach: this is how wide a span is.
  void measure() {
    const int32_t reach =
        std::max(static_cast<int32_t>(std::min<int64_t>(std::numeric_limits<int32_t>::max() / 2, limits_.max_span)),
                 static_cast<int32_t>(g_.max_source_symbols()));
    std::vector<int32_t> farthest(static_cast<size_t>(length_) + 1, 0), row(static_cast<size_t>(length_) + 1);
    for (size_t a = 0; a < source_->words.size(); ++a) {
      int32_t& far = farthest[source_->from[a]];
      far = std::max(far, source_->to(a));
    }
    const auto from_node = [&](int32_t i) {  // fills row[i + 1 ..] and returns the end of what is in reach
      int32_t end = farthest[i];
      row[i] = 0;
      for (int32_t j = i + 1; j <= end; ++j) {
        int32_t& fewest = row[j] = kFar;
        for (int32_t a = source_->into[j]; a < source_->into[static_cast<size_t>(j) + 1]; ++a)
          if (const int32_t k = source_->from[a]; k >= i) fewest = std::min(fewest, row[k] + 1);
        if (fewest < reach) end = std::max(end, farthest[j]);
        if (fewest > reach) fewest = kFar;
      }
      while (end > i && row[end] == kFar) --end;
      return end;
    };
    widest_ = 1;
    for (int32_t i = 0; i < length_; ++i) widest_ = std::max(widest_, from_node(i) - i);
    const size_t spans = static_cast<size_t>(length_) * static_cast<size_t>(widest_ + 1);
    if (spans > kMostSpans)
      throw InputError("sentence " + source_->id + ": a lattice of " + std::to_string(length_ + 1) + " nodes with arcs over " +
                       std::to_string(widest_) + " of them is too large. Split it");
    fewest_.assign(spans, kFar);
    for (int32_t i = 0; i < length_; ++i) {
      const int32_t end = from_node(i);
      for (int32_t j = i; j <= end; ++j) fewest_[at(i, j - i)] = row[j];
    }
    hierarchical_ = static_cast<int32_t>(std::min<int64_t>(limits_.max_span, kFar - 1));
  }

  /// All of X over [i, i + width).
  void span(int32_t i, int32_t width) {
    const int32_t words = fewest_[at(i, width)], j = i + width;
    if (words == kFar) return;
    cubes_.clear();
    item_begin_[at(i, width)] = static_cast<uint32_t>(items_.size());
    for (int32_t a = source_->into[j]; a < source_->into[static_cast<size_t>(j) + 1]; ++a) {
      const int32_t word = source_->words[a], k = source_->from[a];
      if (k < i) continue;
      if (k == i) {
        const size_t before = cubes_.size();
        const int32_t path = joined(-1, a);
        if (word >= 0) advance(g_.child(Grammar::kRoot, word), {-1, -1}, -1, path, width);
        copy(a, cubes_.size() > before, path);
        continue;
      }
      if (word < 0) continue;
      for (uint32_t n = item_begin_[at(i, k - i)]; n < item_end_[at(i, k - i)]; ++n) {
        const Item item = items_[n];
        if (words > hierarchical_ && item.cell[0] >= 0) continue;
        if (const uint32_t node = g_.child(item.node, word); node != Grammar::kNone)
          advance(node, {item.cell[0], item.cell[1]}, static_cast<int32_t>(n), joined(item.path, a), width);
      }
    }
    if (words <= hierarchical_)
      for (int32_t first = 1; first < width; ++first) {
        const int32_t cell = x_cell_[at(i + first, width - first)];
        if (cell < 0) continue;
        for (uint32_t n = item_begin_[at(i, first)]; n < item_end_[at(i, first)]; ++n) {
          const Item item = items_[n];
          if (item.cell[1] >= 0) continue;
          const std::array<int32_t, 2> tails = item.cell[0] < 0 ? std::array{cell, -1} : std::array{item.cell[0], cell};
          advance(child_x(item.node), tails, static_cast<int32_t>(n), item.path, width);
        }
      }
    const int32_t cell = search(i, j, limits_.pop_limit);
    x_cell_[at(i, width)] = cell;
    if (cell >= 0 && words < hierarchical_ && width < widest_) {
      const uint32_t node = child_x(Grammar::kRoot);  // a rule X -> X would never end: its rules are left out
      if (node != Grammar::kNone && g_.has_children(node)) items_.push_back({node, {cell, -1}, -1, -1});
    }
    item_end_[at(i, width)] = static_cast<uint32_t>(items_.size());
  }

  /// The scores of a path and one more arc.
  int32_t joined(int32_t path, int32_t arc) {
    const size_t scores = d_.arc_ids_.size();
    if (source_->scores.empty() || scores == 0) return -1;
    const size_t at = paths_.size();
    paths_.resize(at + scores);
    for (size_t k = 0; k < scores; ++k)
      paths_[at + k] = source_->scores[static_cast<size_t>(arc) * scores + k] +
                       (path >= 0 ? paths_[static_cast<size_t>(path) * scores + k] : 0.0);
    return static_cast<int32_t>(at / scores);
  }

  uint32_t child_x(uint32_t node) const {
    const auto [begin, end] = g_.children(node);
    return begin != end && g_.symbol(begin) == kX ? begin : Grammar::kNone;
  }

  /// The dot has moved to `node`.
  void advance(uint32_t node, std::array<int32_t, 2> cell, int32_t before, int32_t path, int32_t width) {
    if (node == Grammar::kNone) return;
    const auto [begin, end] = g_.rules_of(node);
    if (begin != end) {
      const auto [first, count] = options_of(node, begin, end, before);
      cubes_.push_back({first, count, {cell[0], cell[1]}, path});
    }
    if (g_.has_children(node) && width < widest_) items_.push_back({node, {cell[0], cell[1]}, before, path});
  }

  /// The options of a source side, best first: found once a sentence.
  std::pair<uint32_t, uint32_t> options_of(uint32_t node, uint32_t begin, uint32_t end, int32_t before) {
    int32_t known = side_of_.find(begin);
    if (known < 0) known = new_side(node, begin, end, before);
    Side& side = sides_[known];
    if (side.sentence == sentence_) return {side.option, side.options};
    ranked_.clear();
    for (uint32_t k = 0; k < side.rules; ++k) {
      const Rule& rule = rules_[side.rule + k];
      const auto row = g_.row(begin + k);
      double score = w_word_ * rule.words + w_rule_;
      for (const auto& [column, id] : d_.columns_) score += w_[id] * static_cast<double>(row[column]);
      for (uint32_t f = rule.sparse; f < rule.sparse_end; ++f) score += w_[sparse_ids_[f]] * sparse_values_[f];
      double estimate = score;
      for (size_t l = 0; l < models_; ++l) estimate += weight_of(l) * rule.lm[l];
      ranked_.push_back({score, estimate, k});
    }
    std::sort(ranked_.begin(), ranked_.end(), [](const Ranked& a, const Ranked& b) {
      return a.estimate > b.estimate || (a.estimate == b.estimate && a.rule < b.rule);
    });
    if (limits_.max_options > 0 && ranked_.size() > static_cast<size_t>(limits_.max_options))
      ranked_.resize(static_cast<size_t>(limits_.max_options));
    side.sentence = sentence_;
    side.option = static_cast<uint32_t>(options_.size());
    side.options = static_cast<uint32_t>(ranked_.size());
    for (const Ranked& r : ranked_) {
      Option& option = options_.emplace_back();
      static_cast<Rule&>(option) = rules_[side.rule + r.rule];
      option.score = r.score;
      option.rule = begin + r.rule;
    }
    return {side.option, side.options};
  }

  /// What all sentences share of a source side: everything but the weights.
  int32_t new_side(uint32_t node, uint32_t begin, uint32_t end, int32_t before) {
    if (d_.templates_) {
      side_.assign(1, g_.symbol(node));
      for (int32_t k = before; k >= 0; k = items_[k].before) side_.push_back(g_.symbol(items_[k].node));
      std::reverse(side_.begin(), side_.end());
    }
    const auto number = static_cast<int32_t>(sides_.size());
    sides_.push_back({static_cast<uint32_t>(rules_.size()), end - begin, 0, 0, 0});
    for (uint32_t rule = begin; rule < end; ++rule) {
      const auto target = g_.target(rule);
      rules_.push_back(new_rule(target, nullptr));
      if (d_.templates_) sparse_of(rules_.back(), side_, target, g_.links(rule), g_.row(rule));
    }
    side_of_.add(begin, number);
    return number;
  }

  Rule new_rule(std::span<const int32_t> target, const std::array<uint32_t, kMaxLms>* copied) {
    Rule rule;
    rule.target = static_cast<uint32_t>(targets_.size());
    rule.symbols = static_cast<uint32_t>(target.size());
    rule.words = static_cast<uint32_t>(std::count_if(target.begin(), target.end(), [](int32_t s) { return s >= 0; }));
    targets_.insert(targets_.end(), target.begin(), target.end());
    for (size_t l = 0; l < models_; ++l)
      for (const int32_t symbol : target)
        lm_targets_[l].push_back(symbol < 0 ? symbol : static_cast<int32_t>(copied ? (*copied)[l] : d_.lm_words_[l][symbol]));
    for (size_t l = 0; l < models_; ++l) rule.lm[l] = lm_alone(rule, l);
    return rule;
  }

  /// A rule for this sentence only; `extra` is the feature that counts it, or -1.
  Option new_option(std::span<const int32_t> target, const std::array<uint32_t, kMaxLms>* copied, int32_t extra) {
    Option option;
    static_cast<Rule&>(option) = new_rule(target, copied);
    option.extra = extra;
    option.score = w_word_ * option.words + (extra >= 0 ? w_[extra] : 0.0);
    return option;
  }

  /// Sorted by id, one entry an id.
  void sparse_of(Rule& rule, std::span<const int32_t> source, std::span<const int32_t> target, std::span<const PackedLink> links,
                 std::span<const float> row) {
    fired_.clear();
    d_.templates_->add_rule(source, target, links, row, fired_);
    std::sort(fired_.begin(), fired_.end());
    rule.sparse = static_cast<uint32_t>(sparse_ids_.size());
    for (size_t k = 0; k < fired_.size(); ++k) {
      if (k > 0 && fired_[k].first == fired_[k - 1].first) {
        sparse_values_.back() += static_cast<double>(fired_[k].second);
      } else {
        sparse_ids_.push_back(fired_[k].first);
        sparse_values_.push_back(static_cast<double>(fired_[k].second));
      }
    }
    rule.sparse_end = static_cast<uint32_t>(sparse_ids_.size());
  }

  /// What a language model says of the words of a rule alone.
  double lm_alone(const Rule& rule, size_t model) const {
    const int32_t* symbols = lm_targets_[model].data() + rule.target;
    LmContext context[2];
    int now = 0;
    double sum = 0;
    for (uint32_t k = 0; k < rule.symbols; ++k) {
      if (symbols[k] < 0) {
        context[now].length = 0;
        continue;
      }
      sum += d_.lms_[model]->score(context[now], static_cast<uint32_t>(symbols[k]), context[1 - now]).prob;
      now = 1 - now;
    }
    return kLn10 * sum;
  }
  double weight_of(size_t model) const { return d_.lm_id_[model] >= 0 ? w_[d_.lm_id_[model]] : 0.0; }

  /// Words that may stand for themselves.
  void copy(int32_t arc, bool translated, int32_t path) {
    const auto k = static_cast<size_t>(arc);
    const int32_t word = source_->words[k];
    int32_t extra = -1;
    if (source_->kinds[k] == WordKind::number)
      extra = d_.number_id_;
    else if (source_->kinds[k] == WordKind::name)
      extra = d_.name_id_;
    else if (word < 0)
      extra = d_.unknown_id_;
    else if (!translated)
      extra = d_.identity_id_;
    else
      return;
    const int32_t target[1] = {source_->copies[k]};
    Option option = new_option(target, &source_->lm[k], extra);
    if (d_.templates_) {
      const int32_t side[1] = {word >= 0 ? word : g_.source_vocab()->size()};
      const PackedLink link[1] = {{0, 0}};
      sparse_of(option, side, target, link, {});
      for (uint32_t f = option.sparse; f < option.sparse_end; ++f) option.score += w_[sparse_ids_[f]] * sparse_values_[f];
    }
    cubes_.push_back({static_cast<uint32_t>(options_.size()), 1, {-1, -1}, path});
    options_.push_back(option);
  }

  void begin_glue() {
    const int32_t one[] = {slot(0)}, two[] = {slot(0), slot(1)};
    options_.push_back(new_option(one, nullptr, -1));
    options_.back().begins = true;
    options_.push_back(new_option(two, nullptr, d_.glue_id_));
    options_.push_back(new_option(one, nullptr, -1));
    options_.back().ends = true;
    s_cell_.assign(static_cast<size_t>(length_) + 1, -1);
  }

  /// S over [0, j).
  void glue(int32_t j) {
    cubes_.clear();
    if (j <= widest_ && x_cell_[at(0, j)] >= 0) cubes_.push_back({0, 1, {x_cell_[at(0, j)], -1}});
    for (int32_t k = std::max(1, j - widest_); k < j; ++k) {
      const int32_t left = s_cell_[k], right = x_cell_[at(k, j - k)];
      if (left >= 0 && right >= 0) cubes_.push_back({1, 1, {left, right}});
    }
    s_cell_[j] = search(0, j, limits_.pop_limit);
  }

  /// One node at the very end.
  void goal() {
    cubes_.assign(1, {2, 1, {s_cell_.back(), -1}});
    search(0, length_, 0);
  }

  /// Cube pruning: the best rule applications of one cell, joined to nodes by their states. The new cell, or -1.
  int32_t search(int32_t i, int32_t j, int64_t pop_limit) {
    if (cubes_.empty()) return -1;
    const auto first_node = static_cast<int32_t>(scores_.size());
    const auto cell = static_cast<int32_t>(cells_.size());
    places_.clear();
    place_lm_.clear();
    place_state_.clear();
    queue_.clear();
    table_.assign(std::bit_ceil(static_cast<size_t>(std::clamp<int64_t>(pop_limit, 256, 4096))), -1);
    for (uint32_t c = 0; c < cubes_.size(); ++c) push({c, {0, 0, 0}});
    int64_t left = pop_limit > 0 ? pop_limit : std::numeric_limits<int64_t>::max();
    while (left > 0 && !queue_.empty()) {
      std::pop_heap(queue_.begin(), queue_.end());
      const Waiting top = queue_.back();
      queue_.pop_back();
      --left;
      const Place place = places_[top.place];
      accept(place, top, first_node, cell);
      const Cube& cube = cubes_[place.cube];
      const auto [a, b, c] = place.rank;
      if (b == 0 && c == 0 && a + 1 < cube.options) push({place.cube, {a + 1, 0, 0}});
      if (c == 0 && cube.cell[0] >= 0 && b + 1 < size_of(cube.cell[0])) push({place.cube, {a, b + 1, 0}});
      if (cube.cell[1] >= 0 && c + 1 < size_of(cube.cell[1])) push({place.cube, {a, b, c + 1}});
    }
    const auto begin = static_cast<uint32_t>(sorted_.size());
    for (auto v = first_node; v < static_cast<int32_t>(scores_.size()); ++v) sorted_.push_back(v);
    std::stable_sort(sorted_.begin() + begin, sorted_.end(), [&](int32_t a, int32_t b) { return scores_[a] > scores_[b]; });
    cells_.push_back({begin, static_cast<uint32_t>(sorted_.size()), i, j});
    return cell;
  }

  uint32_t size_of(int32_t cell) const { return cells_[cell].end - cells_[cell].begin; }
  int32_t tail(const Place& place, int t) const {
    const int32_t cell = cubes_[place.cube].cell[t];
    return cell < 0 ? -1 : sorted_[cells_[cell].begin + place.rank[t + 1]];
  }

  void push(const Place& place) {
    place_lm_.resize(place_lm_.size() + models_);
    place_state_.resize(place_state_.size() + models_);
    queue_.push_back({score(place, place_lm_.data() + places_.size() * models_, place_state_.data() + places_.size() * models_),
                      static_cast<uint32_t>(places_.size())});
    std::push_heap(queue_.begin(), queue_.end());
    places_.push_back(place);
  }

  double score(const Place& place, double* lm, LmState* state) const {
    const Option& option = options_[cubes_[place.cube].option + place.rank[0]];
    const int32_t tails[2] = {tail(place, 0), tail(place, 1)};
    double sum = option.score;
    if (const int32_t path = cubes_[place.cube].path; path >= 0)
      for (size_t k = 0; k < d_.arc_ids_.size(); ++k)
        sum += w_[d_.arc_ids_[k]] * paths_[static_cast<size_t>(path) * d_.arc_ids_.size() + k];
    for (int t = 0; t < 2; ++t)
      if (tails[t] >= 0) sum += scores_[tails[t]];
    for (size_t l = 0; l < models_; ++l) {
      RuleScore rule(*d_.lms_[l], state[l]);
      if (option.begins) rule.begin_sentence();
      const int32_t* symbols = lm_targets_[l].data() + option.target;
      for (uint32_t k = 0; k < option.symbols; ++k) {
        if (symbols[k] >= 0)
          rule.terminal(static_cast<uint32_t>(symbols[k]));
        else
          rule.nonterminal(states_[static_cast<size_t>(tails[slot_tail(symbols[k])]) * models_ + l]);
      }
      if (option.ends) rule.terminal(kEos);
      lm[l] = kLn10 * rule.finish();
      sum += weight_of(l) * lm[l];
      if (option.ends) state[l] = LmState();  // nothing follows: all are one node
    }
    return sum;
  }

  void accept(const Place& place, const Waiting& top, int32_t first_node, int32_t cell) {
    const int32_t v = node_of(place_state_.data() + top.place * models_, first_node, cell);
    double& best = scores_[v];
    best = std::max(best, top.score);
    Edge& edge = edges_.emplace_back(Edge{v,
                                          cubes_[place.cube].option + place.rank[0],
                                          {tail(place, 0), tail(place, 1)},
                                          cubes_[place.cube].path,
                                          top.score,
                                          {0, 0}});
    for (size_t l = 0; l < models_; ++l) edge.lm[l] = place_lm_[top.place * models_ + l];
  }

  /// The node of a state, a new one if need be.
  int32_t node_of(const LmState* state, int32_t first_node, int32_t cell) {
    size_t slot = hash(state) & (table_.size() - 1);
    for (; table_[slot] >= 0; slot = (slot + 1) & (table_.size() - 1)) {
      const LmState* known = states_.data() + static_cast<size_t>(table_[slot]) * models_;
      bool same = true;
      for (size_t l = 0; l < models_; ++l) same = same && known[l] == state[l];
      if (same) return table_[slot];
    }
    const auto v = static_cast<int32_t>(scores_.size());
    table_[slot] = v;
    scores_.push_back(-std::numeric_limits<double>::infinity());
    node_cell_.push_back(cell);
    states_.insert(states_.end(), state, state + models_);
    if (static_cast<size_t>(v - first_node + 1) * 2 > table_.size()) {
      table_.assign(table_.size() * 2, -1);
      for (int32_t u = first_node; u <= v; ++u) {
        size_t s = hash(states_.data() + static_cast<size_t>(u) * models_) & (table_.size() - 1);
        while (table_[s] >= 0) s = (s + 1) & (table_.size() - 1);
        table_[s] = u;
      }
    }
    return v;
  }
  uint64_t hash(const LmState* states) const {
    uint64_t h = 0;
    for (size_t l = 0; l < models_; ++l) h = (h ^ states[l].hash()) * 0x9e3779b97f4a7c15ULL;
    return h ^ (h >> 32);
  }

  /// What the goal can reach by edges that stay, with all features.
  Forest forest() {
    const size_t nodes = scores_.size();
    std::vector<uint32_t> begin(nodes + 1, 0), by_head(edges_.size());
    for (const Edge& e : edges_) ++begin[static_cast<size_t>(e.head) + 1];
    for (size_t v = 0; v < nodes; ++v) begin[v + 1] += begin[v];
    std::vector<uint32_t> next(begin.begin(), begin.end() - 1);
    for (uint32_t e = 0; e < edges_.size(); ++e) by_head[next[edges_[e].head]++] = e;

    const double worst = worst_merit(begin, by_head);
    size_t stay_nodes = 0, stay_edges = 0, tail_count = 0, word_count = 0, sparse_count = 0;
    std::vector<int32_t> place(nodes, -1);
    place[nodes - 1] = 0;
    for (size_t v = nodes; v-- > 0;) {
      if (place[v] < 0) continue;
      ++stay_nodes;
      uint32_t stay = begin[v];
      bool best = false;  // the best edge of a node that is used stays: no forest without derivations
      for (uint32_t k = begin[v]; k < begin[v + 1]; ++k) {
        const Edge& edge = edges_[by_head[k]];
        const bool first_best = !best && edge.score == scores_[v];
        best = best || first_best;
        if (!first_best && !outside_.empty() && !(outside_[v] + edge.score >= worst)) continue;
        by_head[stay++] = by_head[k];
        for (const int32_t tail : edge.tail)
          if (tail >= 0) {
            place[tail] = 0;
            ++tail_count;
          }
        const Option& option = options_[edge.option];
        word_count += option.symbols;
        sparse_count += option.sparse_end - option.sparse;
      }
      next[v] = stay;
      stay_edges += stay - begin[v];
    }
    ForestBuilder builder(d_.vocab_, d_.features_, d_.dense_width_);
    builder.reserve(stay_nodes, stay_edges, tail_count, word_count, sparse_count);
    std::vector<double> dense(static_cast<size_t>(d_.dense_width_));
    for (size_t v = 0; v < nodes; ++v) {
      if (place[v] < 0) continue;
      const Cell& cell = cells_[node_cell_[v]];
      place[v] = builder.add_node(cell.i, cell.j);
      for (uint32_t k = begin[v]; k < next[v]; ++k) {
        const Edge& edge = edges_[by_head[k]];
        const Option& option = options_[edge.option];
        int32_t tails[2];
        size_t arity = 0;
        for (const int32_t tail : edge.tail)
          if (tail >= 0) tails[arity++] = place[tail];
        const std::span<const int32_t> target{targets_.data() + option.target, option.symbols};
        features_of(option, edge, dense.data());
        const size_t fired = option.sparse_end - option.sparse;
        builder.add_edge({tails, arity}, target, dense.data(), {sparse_ids_.data() + option.sparse, fired},
                         {sparse_values_.data() + option.sparse, fired});
      }
    }
    return builder.finish();
  }

  /// The least score of the best derivation with an edge if that edge is to stay. Fills outside_ unless all stay.
  double worst_merit(const std::vector<uint32_t>& begin, const std::vector<uint32_t>& by_head) {
    outside_.clear();
    const size_t most = limits_.max_edges > 0 ? static_cast<size_t>(limits_.max_edges) : edges_.size();
    double worst = -std::numeric_limits<double>::infinity();
    if (!(limits_.beam >= 0) && most >= edges_.size()) return worst;
    const size_t nodes = scores_.size();
    outside_.assign(nodes, worst);
    outside_[nodes - 1] = 0;
    std::vector<double> merits;
    for (size_t v = nodes; v-- > 0;) {
      if (outside_[v] == worst) continue;
      for (uint32_t k = begin[v]; k < begin[v + 1]; ++k) {
        const Edge& edge = edges_[by_head[k]];
        const double merit = outside_[v] + edge.score;
        merits.push_back(merit);
        for (const int32_t tail : edge.tail)
          if (tail >= 0) outside_[tail] = std::max(outside_[tail], merit - scores_[tail]);
      }
    }
    if (limits_.beam >= 0) worst = scores_.back() - limits_.beam;
    if (most < merits.size()) {
      std::nth_element(merits.begin(), merits.begin() + static_cast<ptrdiff_t>(most), merits.end(), std::greater<>());
      worst =
          std::max(worst, std::nextafter(merits[most], std::numeric_limits<double>::infinity()));  // equals stay or go together
    }
    return worst;
  }

  void features_of(const Option& option, const Edge& edge, double* h) const {
    std::fill(h, h + d_.dense_width_, 0.0);
    for (size_t l = 0; l < models_; ++l)
      if (d_.lm_id_[l] >= 0) h[d_.lm_id_[l]] = edge.lm[l];
    if (d_.word_id_ >= 0) h[d_.word_id_] = option.words;
    if (option.extra >= 0) h[option.extra] = 1.0;
    if (edge.path >= 0)
      for (size_t k = 0; k < d_.arc_ids_.size(); ++k)
        h[d_.arc_ids_[k]] = paths_[static_cast<size_t>(edge.path) * d_.arc_ids_.size() + k];
    if (option.rule < 0) return;
    if (d_.rule_id_ >= 0) h[d_.rule_id_] = 1.0;
    const auto row = g_.row(static_cast<uint32_t>(option.rule));
    for (const auto& [column, id] : d_.columns_) h[id] = static_cast<double>(row[column]);
  }

  const HieroDecoder& d_;
  const Grammar& g_;
  const size_t models_;
  const HieroSource* source_ = nullptr;
  const double* w_ = nullptr;
  HieroOptions limits_;
  double w_word_ = 0, w_rule_ = 0;
  int32_t length_ = 0, hierarchical_ = 0, widest_ = 0;
  uint64_t sentence_ = 0;

  // of all sentences, and of the copied words since
  IdMap side_of_;  // by the first rule of the side
  std::vector<Side> sides_;
  std::vector<Rule> rules_;
  std::vector<int32_t> targets_;                          // symbols of all rules
  std::array<std::vector<int32_t>, kMaxLms> lm_targets_;  // the same with the words of each language model
  std::vector<int32_t> sparse_ids_;
  std::vector<double> sparse_values_;
  std::vector<int32_t> side_;
  std::vector<Ranked> ranked_;

  std::vector<Option> options_;
  FeatureTemplates::Values fired_;

  std::vector<Item> items_;
  std::vector<uint32_t> item_begin_, item_end_;  // of each span
  std::vector<int32_t> x_cell_;                  // of each span; -1: nothing there
  std::vector<int32_t> s_cell_;                  // of each end
  std::vector<int32_t> fewest_;                  // words of each span; kFar: no path, or none that rules reach
  std::vector<double> paths_;                    // scores of arcs, as many a path as the decoder has features for them
  std::vector<Cell> cells_;
  std::vector<int32_t> sorted_;  // the nodes of each cell, best first

  std::vector<double> scores_;  // of each node
  std::vector<int32_t> node_cell_;
  std::vector<LmState> states_;
  std::vector<Edge> edges_;
  std::vector<double> outside_;

  std::vector<Cube> cubes_;
  std::vector<Place> places_;     // all that were pushed
  std::vector<double> place_lm_;  // and what each language model says of them
  std::vector<LmState> place_state_;
  std::vector<Waiting> queue_;
  std::vector<int32_t> table_;
};

HieroDecoder::HieroDecoder(std::shared_ptr<const Grammar> grammar, std::vector<std::shared_ptr<const LanguageModel>> lms,
                           const std::vector<std::string>& names, const std::vector<std::string>& sparse,
                           std::shared_ptr<const FeatureTemplates> templates, const std::vector<std::string>& arcs)
    : grammar_(std::move(grammar)), lms_(std::move(lms)), templates_(std::move(templates)) {
  if (lms_.size() > kMaxLms) throw InputError("a decoder has at most " + std::to_string(kMaxLms) + " language models");
  for (int32_t word = 0; word < grammar_->target_vocab()->size(); ++word) vocab_->add((*grammar_->target_vocab())[word]);
  for (const auto& name : names) features_->add(name);
  dense_width_ = features_->size();
  for (const auto& name : sparse) features_->add(name);
  if (static_cast<size_t>(features_->size()) != names.size() + sparse.size()) throw InputError("a feature is named twice");
  const auto id = [&](const char* name) {
    const int32_t found = features_->find(name);
    return found < dense_width_ ? found : -1;
  };
  lm_id_ = {id("lm"), id("lm2")};
  rule_id_ = id("rule");
  word_id_ = id("word");
  glue_id_ = id("glue");
  identity_id_ = id("identity");
  unknown_id_ = id("unknown");
  number_id_ = id("number");
  name_id_ = id("name");
  for (const auto& name : arcs) arc_ids_.push_back(id(name.c_str()));
  const std::array own{lm_id_[0], lm_id_[1], rule_id_, word_id_, glue_id_, identity_id_, unknown_id_, number_id_, name_id_};
  for (size_t c = 0; c < grammar_->width(); ++c)
    if (const int32_t found = id(grammar_->names()[c].c_str());
        found >= 0 && std::find(own.begin(), own.end(), found) == own.end())
      columns_.push_back({static_cast<int32_t>(c), found});
  for (const auto& lm : lms_) lm->map_words(*vocab_, lm_words_.emplace_back());
  if (templates_) stateful_ = stateful_features(templates_);
}

HieroDecoder::~HieroDecoder() = default;

/// A search for one thread, given back at the end.
struct HieroDecoder::Borrowed {
  explicit Borrowed(const HieroDecoder& from) : decoder(from) {
    std::lock_guard<std::mutex> lock(decoder.idle_mutex_);
    if (!decoder.idle_.empty()) {
      search = std::move(decoder.idle_.back());
      decoder.idle_.pop_back();
    }
  }
  ~Borrowed() {
    if (!search || !search->modest()) return;
    std::lock_guard<std::mutex> lock(decoder.idle_mutex_);
    decoder.idle_.push_back(std::move(search));
  }
  Forest run(const HieroSource& source, const double* w, const HieroOptions& options) {
    if (!search) search = std::make_unique<HieroSearch>(decoder);
    return search->run(source, w, options);
  }
  const HieroDecoder& decoder;
  std::unique_ptr<HieroSearch> search;
};

Forest HieroDecoder::decode(const HieroSource& source, const double* w, const HieroOptions& options) const {
  if (stateful_.empty()) return Borrowed(*this).run(source, w, options);
  HieroOptions wide = options;
  wide.max_edges = options.rescore_edges;
  wide.beam = -1;
  const Forest forest = rescored(Borrowed(*this).run(source, w, wide), features_, stateful_, nullptr, w, options.rescore_limit);
  PruneOptions prune;
  if (options.max_edges > 0) prune.max_edges = options.max_edges;
  if (options.beam >= 0) prune.beam = options.beam;
  return prune.max_edges || prune.beam ? pruned(forest, w, prune).forest : forest;
}

Pool HieroDecoder::empty_pool() const {
  Pool pool;
  pool.vocab = vocab_;
  pool.features = features_;
  pool.dense_width = dense_width_;
  return pool;
}

Pool HieroDecoder::each(const std::vector<HieroSource>& sources, int jobs,
                        const std::function<Forest(const HieroSource&)>& body) const {
  Pool pool = empty_pool();
  pool.sentences.resize(sources.size());
  std::vector<size_t> order(sources.size());  // long sentences first, so that no thread is left with one at the end
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return sources[a].words.size() > sources[b].words.size(); });
  parallel_for(sources.size(), jobs, [&](size_t k, int) {
    const size_t i = order[k];
    pool.sentences[i] = {sources[i].id, sources[i].text, body(sources[i]), {}};
  });
  return pool;
}

Pool HieroDecoder::decode(const std::vector<HieroSource>& sources, const double* w, const HieroOptions& options, int jobs) const {
  return each(sources, jobs, [&](const HieroSource& source) { return decode(source, w, options); });
}

Pool HieroDecoder::kbest(const std::vector<HieroSource>& sources, const double* w, const HieroOptions& options, int64_t k,
                         bool distinct, int jobs) const {
  HieroOptions limits = options;
  if (k == 1) limits.beam = 1e-6;  // the best, and all that might be the best but for rounding
  return each(sources, jobs, [&](const HieroSource& source) {
    Pool one = empty_pool();
    one.sentences.push_back({source.id, source.text, decode(source, w, limits), {}});
    return hopefear::kbest(one, w, k, distinct, 1).sentences.front().forest;
  });
}

}  // namespace hopefear
