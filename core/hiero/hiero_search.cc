#include "hiero/hiero_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "search/stop.h"

namespace hopefear {

Forest HieroSearch::run(const HieroSource& source, const double* w, const HieroOptions& options) {
  start(source, w, options);
  const int32_t length = source.length();
  if (length == 0) {
    ForestBuilder builder(m_.vocab, m_.features, m_.dense_width);
    builder.add_node(0, 0);
    builder.add_edge({}, {}, nullptr);
    return builder.finish();
  }
  begin_glue();
  for (int32_t j = 1; j <= length; ++j) {  // column by column, so that the cells used are recent ones
    check_stop();
    for (int32_t i = j - 1; i >= std::max(0, j - spans_.widest()); --i) span(i, j - i);
    glue(j);
  }
  goal();
  return chart_forest(m_, chart_, options_, limits_.max_edges, limits_.beam);
}

bool HieroSearch::modest() const {
  constexpr size_t kKept = size_t{1} << 22;
  return chart_.edges.capacity() <= kKept && pruning_.capacity() <= kKept;
}

size_t HieroSearch::stored() const {
  size_t sum = options_.stored();
  for (const LmSeams& seams : seams_) sum += seams.stored();
  return sum;
}

void HieroSearch::start(const HieroSource& source, const double* w, const HieroOptions& options) {
  source_ = &source;
  w_ = w;
  limits_ = options;
  for (size_t l = 0; l < models_; ++l) w_lm_[l] = m_.lm_id[l] >= 0 ? w[m_.lm_id[l]] : 0.0;
  if (m_.joint) {
    w_joint_ = w[m_.joint_id];
    joint_.start(source.joint);
  }
  int32_t widest_rule = g_.max_source_symbols();
  for (const SourceRule& rule : source.rules) widest_rule = std::max(widest_rule, rule.end - rule.begin);
  spans_.start(source, options.max_span, widest_rule);
  options_.start(w, options.max_options, source.rules);
  if (places_.any()) places_.start(w);
  for (size_t l = 0; l < models_; ++l) {
    const uint32_t end[] = {kEos};
    seams_[l].start();
    end_run_[l] = seams_[l].run(end);
  }
  chart_.clear();
  items_.clear();
  x_cell_.assign(spans_.size(), -1);
  item_begin_.assign(spans_.size(), 0);
  item_end_.assign(spans_.size(), 0);
}

/// All of X over [i, i + width).
void HieroSearch::span(int32_t i, int32_t width) {
  const int32_t words = spans_.words(i, width);
  const size_t here = spans_.at(i, width);
  if (words == SpanTable::kFar) return;
  cubes_.clear();
  begin_ = i;
  item_begin_[here] = static_cast<uint32_t>(items_.size());
  add_words(i, width);
  if (words <= spans_.hierarchical()) add_cells(i, width);
  if (!source_->rules.empty()) add_rules(i, i + width);
  const int32_t cell = x_cell_[here] = fill(i, i + width, limits_.pops(words));
  if (cell >= 0 && words < spans_.hierarchical() && width < spans_.widest()) {
    const uint32_t node = child_x(Grammar::kRoot);  // a rule X -> X could repeat without end: such rules are left out
    if (node != Grammar::kNone && g_.has_children(node)) items_.push_back({node, {cell, -1}, -1, -1});
  }
  item_end_[here] = static_cast<uint32_t>(items_.size());
}

/// Moves dots over the words that end a span.
void HieroSearch::add_words(int32_t i, int32_t width) {
  const int32_t j = i + width;
  const bool flat = spans_.words(i, width) > spans_.hierarchical();
  for (int32_t a = source_->into[j]; a < source_->into[j + 1]; ++a) {
    const int32_t word = source_->words[a], k = source_->from[a];
    if (k < i || (!source_->forced.empty() && source_->forced[a])) continue;
    if (k == i) {
      const size_t before = cubes_.size();
      const int32_t path = joined(-1, a);
      if (word >= 0) advance(g_.child(Grammar::kRoot, word), {-1, -1}, -1, path, width);
      copy(a, cubes_.size() > before, path);
      continue;
    }
    if (word < 0) continue;
    const size_t left = spans_.at(i, k - i);
    for (uint32_t n = item_begin_[left]; n < item_end_[left]; ++n) {
      const Item item = items_[n];
      if (flat && item.cell[0] >= 0) continue;
      if (const uint32_t node = g_.child(item.node, word); node != Grammar::kNone)
        advance(node, {item.cell[0], item.cell[1]}, static_cast<int32_t>(n), joined(item.path, a), width);
    }
  }
}

/// Moves dots over the cells that end a span.
void HieroSearch::add_cells(int32_t i, int32_t width) {
  for (int32_t first = 1; first < width; ++first) {
    const int32_t cell = x_cell_[spans_.at(i + first, width - first)];
    if (cell < 0) continue;
    const size_t left = spans_.at(i, first);
    for (uint32_t n = item_begin_[left]; n < item_end_[left]; ++n) {
      const Item item = items_[n];
      if (item.cell[1] >= 0) continue;
      const std::array<int32_t, 2> tails = item.cell[0] < 0 ? std::array{cell, -1} : std::array{item.cell[0], cell};
      advance(child_x(item.node), tails, static_cast<int32_t>(n), item.path, width);
    }
  }
}

/// The rules of the sentence over [i, j).
void HieroSearch::add_rules(int32_t i, int32_t j) {
  const auto begin = source_->rules.begin();
  const auto first = std::lower_bound(begin, source_->rules.end(), std::pair(i, j), [](const SourceRule& rule, const auto& span) {
    return std::pair(rule.begin, rule.end) < span;
  });
  for (auto rule = first; rule != source_->rules.end() && rule->begin == i && rule->end == j; ++rule) {
    Cube cube{options_.size(), 1, {-1, -1}};
    bool filled = true;
    for (size_t t = 0; t < rule->gaps.size() && filled; ++t) {
      cube.cell[t] = x_cell_[spans_.at(rule->gaps[t][0], rule->gaps[t][1] - rule->gaps[t][0])];
      filled = cube.cell[t] >= 0;
    }
    if (!filled) continue;
    options_.add_rule(static_cast<size_t>(rule - begin));
    cubes_.push_back(cube);
  }
}

/// Adds an item whose dot has moved to `node`.
void HieroSearch::advance(uint32_t node, std::array<int32_t, 2> cell, int32_t before, int32_t path, int32_t width) {
  if (node == Grammar::kNone) return;
  const auto [begin, end] = g_.rules_of(node);
  if (begin != end) {
    int32_t side = options_.find_side(begin);
    if (side < 0) side = options_.add_side(begin, end, source_side(node, before));
    const auto [first, count] = options_.of_side(side, rule_place(begin_, cell.data()));
    cubes_.push_back({first, count, {cell[0], cell[1]}, path});
  }
  if (g_.has_children(node) && width < spans_.widest()) items_.push_back({node, {cell[0], cell[1]}, before, path});
}

/// The symbols before a dot, if templates or the joint model need them.
std::span<const int32_t> HieroSearch::source_side(uint32_t node, int32_t before) {
  if (!m_.templates && !m_.joint) return {};
  side_.assign(1, g_.symbol(node));
  for (int32_t k = before; k >= 0; k = items_[k].before) side_.push_back(g_.symbol(items_[k].node));
  std::reverse(side_.begin(), side_.end());
  return side_;
}

/// The scores of a path and one more arc.
int32_t HieroSearch::joined(int32_t path, int32_t arc) {
  const size_t scores = m_.arc_ids.size();
  if (source_->scores.empty() || scores == 0) return -1;
  const size_t at = chart_.paths.size();
  chart_.paths.resize(at + scores);
  for (size_t k = 0; k < scores; ++k)
    chart_.paths[at + k] = source_->scores[arc * scores + k] + (path >= 0 ? chart_.paths[path * scores + k] : 0.0);
  return static_cast<int32_t>(at / scores);
}

uint32_t HieroSearch::child_x(uint32_t node) const {
  const auto [begin, end] = g_.children(node);
  return begin != end && g_.symbol(begin) == kX ? begin : Grammar::kNone;
}

/// Words that may be copied.
void HieroSearch::copy(int32_t arc, bool translated, int32_t path) {
  const int32_t word = source_->words[arc];
  int32_t extra = -1;
  if (source_->kinds[arc] == WordKind::number)
    extra = m_.number_id;
  else if (source_->kinds[arc] == WordKind::name)
    extra = m_.name_id;
  else if (word < 0)
    extra = m_.unknown_id;
  else if (!translated)
    extra = m_.identity_id;
  else
    return;
  cubes_.push_back({options_.size(), 1, {-1, -1}, path});
  options_.add_copy(word, source_->copies[arc], source_->lm[arc], m_.joint ? source_->joint_copies[arc] : 0, extra);
}

/// The options 0, 1 and 2: S -> <X, X>, S -> <S X, S X>, and the goal.
void HieroSearch::begin_glue() {
  const int32_t one[] = {slot(0)}, two[] = {slot(0), slot(1)};
  options_.add(one, -1).begins = true;
  options_.add(two, m_.glue_id);
  options_.add(one, m_.sentence_id).ends = true;
  s_cell_.assign(source_->length() + 1, -1);
}

/// S over [0, j).
void HieroSearch::glue(int32_t j) {
  cubes_.clear();
  if (j <= spans_.widest() && x_cell_[spans_.at(0, j)] >= 0) cubes_.push_back({0, 1, {x_cell_[spans_.at(0, j)], -1}});
  for (int32_t k = std::max(1, j - spans_.widest()); k < j; ++k) {
    const int32_t left = s_cell_[k], right = x_cell_[spans_.at(k, j - k)];
    if (left >= 0 && right >= 0) cubes_.push_back({1, 1, {left, right}});
  }
  s_cell_[j] = fill(0, j, limits_.glue_pops());
}

/// One node at the very end.
void HieroSearch::goal() {
  cubes_.assign(1, {2, 1, {s_cell_.back(), -1}});
  fill(0, source_->length(), 0);
}

inline uint32_t HieroSearch::size(uint32_t cube, size_t k) const {
  if (k == 0) return cubes_[cube].options;
  const int32_t cell = cubes_[cube].cell[k - 1];
  return cell < 0 ? 1 : chart_.cells[cell].nodes.size();
}

inline double HieroSearch::score(uint32_t cube, const uint32_t* ranks, uint32_t entry) {
  entry_lm_.resize(entry_lm_.size() + models_);
  entry_state_.resize(entry_state_.size() + models_);
  double* lm = entry_lm_.data() + entry * models_;
  LmItem* state = entry_state_.data() + entry * models_;
  const Cube& of = cubes_[cube];
  const HieroOption& option = options_[of.option + ranks[0]];
  const int32_t tails[2] = {tail(of, ranks, 0), tail(of, ranks, 1)};
  double sum = option.score;
  if (of.path >= 0) {
    const size_t scores = m_.arc_ids.size();
    for (size_t k = 0; k < scores; ++k) sum += w_[m_.arc_ids[k]] * chart_.paths[of.path * scores + k];
  }
  if (places_.any()) sum += place_score(of, ranks[0]);
  for (const int32_t v : tails)
    if (v >= 0) sum += chart_.scores[v];
  for (size_t l = 0; l < models_; ++l) {
    lm[l] = kLn10 * lm_score(option, l, tails, state[l]);
    sum += w_lm_[l] * lm[l];
  }
  if (m_.joint) {
    entry_joint_.push_back(joint_score(option, of, tails, entry_joint_state_.emplace_back()));
    sum += w_joint_ * entry_joint_.back();
  }
  entry_scores_.push_back(sum);
  return sum + rest(state);
}

/// The change of language model scores to expect once the words before a span are known.
inline double HieroSearch::rest(const LmItem* state) const {
  double sum = 0;
  for (size_t l = 0; l < models_; ++l) sum += w_lm_[l] * kLn10 * seams_[l].rest(state[l]);
  return sum;
}

inline void HieroSearch::accept(uint32_t cube, const uint32_t* ranks, uint32_t entry, double) {
  const Cube& of = cubes_[cube];
  const double score = entry_scores_[entry];
  const int32_t v = node_of(entry_state_.data() + entry * models_, m_.joint ? &entry_joint_state_[entry] : nullptr);
  chart_.scores[v] = std::max(chart_.scores[v], score);
  HieroEdge& edge = chart_.edges.emplace_back();
  edge.head = v;
  edge.option = of.option + ranks[0];
  for (int t = 0; t < 2; ++t) edge.tail[t] = tail(of, ranks, t);
  edge.path = of.path;
  edge.score = score;
  if (m_.joint) edge.joint = entry_joint_[entry];
  for (size_t l = 0; l < models_; ++l) edge.lm[l] = entry_lm_[entry * models_ + l];
}

/// The node of the t-th cell of a cube, or -1.
inline int32_t HieroSearch::tail(const Cube& cube, const uint32_t* ranks, int t) const {
  return cube.cell[t] < 0 ? -1 : chart_.sorted[chart_.cells[cube.cell[t]].nodes.begin + ranks[t + 1]];
}

/// The log10 score of a rule application by language model l, and the state after it.
inline double HieroSearch::lm_score(const HieroOption& option, size_t l, const int32_t* tails, LmItem& state) {
  SeamScore rule(seams_[l], state);
  if (option.begins) rule.begin_sentence();
  for (const int32_t part : options_.parts(option, l)) {
    if (part >= 0)
      rule.run(static_cast<uint32_t>(part));
    else
      rule.nonterminal(chart_.states[tails[slot_tail(part)] * models_ + l]);
  }
  if (option.ends) {
    rule.run(end_run_[l]);
    state = LmItem();  // nothing follows, so all are one node
  }
  return rule.sum();
}

/// The score of a rule application by the joint model, and the state after it.
inline double HieroSearch::joint_score(const HieroOption& option, const Cube& cube, const int32_t* tails, JointState& state) {
  JointRule rule(joint_, state);
  if (option.begins) rule.begin_sentence();
  const auto at = options_.affiliated(option);
  const auto words = options_.joint_target(option);
  const RulePlace where = rule_place(begin_, cube.cell);
  for (size_t k = 0; k < words.size(); ++k) {
    if (words[k] >= 0)
      rule.terminal(static_cast<uint32_t>(words[k]), static_cast<uint32_t>(where[at[k].after] + at[k].words));
    else
      rule.nonterminal(chart_.joint[tails[slot_tail(words[k])]]);
  }
  if (option.ends) rule.terminal(JointModel::kEos, static_cast<uint32_t>(source_->length()));
  const double sum = rule.finish();
  if (option.ends) state = JointState();
  return sum;
}

/// The score that an option gets from the place of a cube.
double HieroSearch::place_score(const Cube& cube, uint32_t rank) {
  double& score = place_scores_[cube.place_scores + rank];
  if (std::isnan(score)) score = places_.score(options_[cube.option + rank].place, place_spans(chart_, cube.cell));
  return score;
}

inline RulePlace HieroSearch::rule_place(int32_t i, const int32_t* cell) const {
  const auto end = [&](int32_t c) { return c < 0 ? 0 : chart_.cells[c].j; };
  return {i, end(cell[0]), end(cell[1])};
}

/// The node of a state in the current cell, a new one if there is none.
inline int32_t HieroSearch::node_of(const LmItem* state, const JointState* joint) {
  const auto hash = [&](const LmItem* states, const JointState* joint_state) {
    uint64_t h = joint_state ? joint_state->hash() : 0;
    for (size_t l = 0; l < models_; ++l) h = (h ^ states[l].hash()) * 0x9e3779b97f4a7c15ULL;
    return h ^ (h >> 32);
  };
  const auto known = [&](int32_t v) { return chart_.states.data() + v * models_; };
  const auto known_joint = [&](int32_t v) { return joint ? &chart_.joint[v] : nullptr; };
  const auto [v, is_new] = known_.find_or_add(
      hash(state, joint),
      [&](int32_t u) { return std::equal(state, state + models_, known(u)) && (!joint || *joint == *known_joint(u)); },
      [&](int32_t u) { return hash(known(u), known_joint(u)); });
  if (is_new) {
    chart_.scores.push_back(-std::numeric_limits<double>::infinity());
    chart_.cell_of.push_back(static_cast<int32_t>(chart_.cells.size()));
    chart_.states.insert(chart_.states.end(), state, state + models_);
    if (joint) chart_.joint.push_back(*joint);
  }
  return v;
}

/// Recombines the best rule applications of the cubes into nodes by their states. Returns the new cell, or -1.
int32_t HieroSearch::fill(int32_t i, int32_t j, int64_t pop_limit) {
  if (cubes_.empty()) return -1;
  const int32_t first = chart_.nodes(), cell = static_cast<int32_t>(chart_.cells.size());
  entry_scores_.clear();
  entry_lm_.clear();
  entry_state_.clear();
  entry_joint_.clear();
  entry_joint_state_.clear();
  if (places_.any()) {
    uint32_t options = 0;
    for (Cube& cube : cubes_) cube.place_scores = std::exchange(options, options + cube.options);
    place_scores_.assign(options, std::numeric_limits<double>::quiet_NaN());
  }
  known_.start(first, std::clamp<int64_t>(pop_limit / 2, 128, 2048));
  pruning_.run(*this, static_cast<uint32_t>(cubes_.size()), pop_limit);
  estimates_.clear();
  for (int32_t v = first; v < chart_.nodes(); ++v)
    estimates_.push_back(chart_.scores[v] + rest(chart_.states.data() + v * models_));
  chart_.cells.push_back(
      {sort_nodes(first, chart_.nodes(), chart_.sorted, [&](int32_t v) { return estimates_[v - first]; }), i, j});
  return cell;
}

}  // namespace hopefear
