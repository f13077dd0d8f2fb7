// The search of block_decoder.h for any objective: a Scorer rates hypotheses and tells which of them
// are equivalent.
//
//   struct State                                      what a hypothesis must remember
//   State start()
//   void option(BlockOption&)                         sets score and rank
//   double extend(score, state, before, option, orientation, jump, covered, next)
//                                                     the score with one block more, and its state; before: null at the start
//   double finish(score, state, before)               the score of the whole
//   uint64_t hash(state, option)  bool same(state, option, state, option)
#pragma once
#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "blocks/block_model.h"
#include "blocks/block_options.h"
#include "blocks/sequence_features.h"
#include "search/cube_pruning.h"
#include "search/stop.h"

namespace hopefear {

struct BlockOption {
  BlockView view;
  double score = 0, rank = 0;  // from the scorer: the value, and the order among the blocks of one source phrase
  uint32_t rule = 0;
  uint8_t copy = 0;

  StoredBlock stored() const {
    return {rule, static_cast<uint16_t>(view.begin), static_cast<uint8_t>(view.end - view.begin), copy};
  }
};

struct BlockEdge {
  int32_t head, tail;  // nodes; tail 0: the start
  uint32_t option;
  Orientation orientation;
  double score;  // of this edge alone
};

template <class Scorer>
class BlockSearch {
 public:
  using State = typename Scorer::State;

  BlockSearch(const BlockModel& model, Scorer& scorer) : m_(model), g_(model.grammar()), scorer_(scorer) {}

  /// Searches; with `edges` the whole lattice is kept, not only the best path to each node.
  void run(const BlockSource& source, const BlockOptions& options, bool edges) {
    source_ = &source;
    limits_ = options;
    keep_edges_ = edges;
    length_ = static_cast<int32_t>(source.words.size());
    nodes_.clear();
    edges_.clear();
    sorted_.clear();
    find_options();
    cells_.assign(length_ + 1, {});
    nodes_.push_back({0.0, scorer_.start(), -1, -1, 0, Orientation::right, 0});
    sorted_.push_back(0);
    cells_[0] = {0, 1};
    for (int32_t l = 1; l <= length_; ++l) {
      check_stop();
      gaps_.clear();
      if (m_.which().swap) fill_gaps(l);
      cubes_.clear();
      for (int32_t j = std::max(0, l - widest_); j < l; ++j)
        if (span(j, l).second && cells_[j].size()) cubes_.push_back({cells_[j], span(j, l)});
      cubes_.insert(cubes_.end(), gaps_.begin(), gaps_.end());
      cells_[l] = fill(limits_.pop_limit, l);
    }
    finish();
  }

  struct Node {
    double score;
    State state;
    int32_t option;  // of the last block; -1: none yet
    int32_t back;    // on the best path
    int32_t end;     // of the last block on the source side
    Orientation orientation;
    int32_t covered;
  };
  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<BlockOption>& options() const { return options_; }
  const std::vector<BlockEdge>& edges() const { return edges_; }
  /// The last block on the best path to a node, or null.
  const BlockOption* last_block(const Node& node) const { return node.option >= 0 ? &options_[node.option] : nullptr; }
  /// Complete hypotheses and their final scores.
  struct Final {
    int32_t node;
    double score;
  };
  const std::vector<Final>& finals() const { return finals_; }

  /// The blocks on the path to the best end; of equal scores the first.
  void best(std::vector<StoredBlock>& blocks) const {
    const auto found =
        std::max_element(finals_.begin(), finals_.end(), [](const Final& a, const Final& b) { return a.score < b.score; });
    blocks.clear();
    for (int32_t v = found->node; nodes_[v].option >= 0; v = nodes_[v].back)
      blocks.push_back(options_[nodes_[v].option].stored());
    std::reverse(blocks.begin(), blocks.end());
  }

  // the interface of cube pruning: rank 0 is of the block, rank 1 of the node before it
  uint32_t size(uint32_t cube, size_t k) const { return k == 0 ? cubes_[cube].options.second : cubes_[cube].cell.size(); }

  double score(uint32_t cube, const uint32_t* ranks, uint32_t) {
    const Node& from = nodes_[node_at(cube, ranks)];
    const BlockOption& block = options_[option_at(cube, ranks)];
    const BlockOption* before = last_block(from);
    const Orientation o = orientation(before ? &before->view : nullptr, from.end, block.view);
    Entry& entry = entries_.emplace_back();
    entry.orientation = o;
    return scorer_.extend(from.score, from.state, before, block, o, block.view.begin - from.end, covered_, entry.state);
  }

  void accept(uint32_t cube, const uint32_t* ranks, uint32_t p, double score) {
    const Entry& entry = entries_[p];
    const uint32_t option = option_at(cube, ranks);
    const int32_t from = node_at(cube, ranks);
    const BlockOption& block = options_[option];
    const auto [v, is_new] = known_.find_or_add(
        hash(entry.state, block),
        [&](int32_t u) {
          const Node& node = nodes_[u];
          return node.end == block.view.end && scorer_.same(node.state, options_[node.option], entry.state, block);
        },
        [&](int32_t u) { return hash(nodes_[u].state, options_[nodes_[u].option]); });
    if (is_new) {
      nodes_.push_back({score, entry.state, static_cast<int32_t>(option), from, block.view.end, entry.orientation, covered_});
    } else if (Node& node = nodes_[v]; score > node.score) {
      node.score = score;
      node.state = entry.state;
      node.option = static_cast<int32_t>(option);
      node.back = from;
      node.orientation = entry.orientation;
    }
    if (keep_edges_) edges_.push_back({v, from, option, entry.orientation, score - nodes_[from].score});
  }

 private:
  using Range = std::pair<uint32_t, uint32_t>;  // options: first, number
  struct Cube {
    NodeRange cell;
    Range options;
  };
  struct Entry {
    Orientation orientation;
    State state;
  };

  size_t at(int32_t i, int32_t j) const { return size_t(i) * (widest_ + 1) + (j - i); }
  Range span(int32_t i, int32_t j) const { return j - i <= widest_ ? spans_[at(i, j)] : Range{0, 0}; }
  uint32_t option_at(uint32_t cube, const uint32_t* ranks) const { return cubes_[cube].options.first + ranks[0]; }
  int32_t node_at(uint32_t cube, const uint32_t* ranks) const { return sorted_[cubes_[cube].cell.begin + ranks[1]]; }

  /// All blocks of the sentence, by source span.
  void find_options() {
    options_.clear();
    widest_ = std::max(1, std::min(length_, g_.max_source_symbols()));
    spans_.assign(at(length_, length_), {0, 0});
    for (int32_t i = 0; i < length_; ++i) {
      const auto add_span = [&](int32_t j, uint32_t first_rule, uint32_t last_rule) {
        const std::span<const int32_t> words(source_->words.data() + i, source_->words.data() + j);
        const BlockView view{words, {}, m_.source_hash(words), 0, i, j};
        const size_t first = options_.size();
        for (uint32_t rule = first_rule; rule < last_rule; ++rule) add_option(view, g_.target(rule), rule, 0);
        if (j == i + 1)
          if (const uint8_t copy = m_.copy_kind(*source_, i, first_rule != last_rule))
            add_option(view, {source_->copies.data() + i, 1}, 0, copy);
        choose(first);
        spans_[at(i, j)] = {static_cast<uint32_t>(first), static_cast<uint32_t>(options_.size() - first)};
      };
      m_.each_phrase(source_->words, i,
                     [&](size_t j, uint32_t first, uint32_t last) { add_span(static_cast<int32_t>(j), first, last); });
      if (span(i, i + 1).second == 0) add_span(i + 1, 0, 0);  // a word without its own block
    }
  }

  void add_option(const BlockView& view, std::span<const int32_t> target, uint32_t rule, uint8_t copy) {
    BlockOption& option = options_.emplace_back(BlockOption{view, 0.0, 0.0, rule, copy});
    option.view.target = target;
    scorer_.option(option);
  }

  /// Keeps the best of the options of one span, which begin at `first`.
  void choose(size_t first) {
    std::stable_sort(options_.begin() + first, options_.end(),
                     [](const BlockOption& a, const BlockOption& b) { return a.rank > b.rank; });
    if (limits_.max_options > 0 && options_.size() - first > static_cast<size_t>(limits_.max_options))
      options_.resize(first + limits_.max_options);
    for (size_t k = first; k < options_.size(); ++k) options_[k].view.target_hash = m_.target_hash(options_[k].view.target);
  }

  /// The cells where [k, l) is covered and [j, k) is not yet: cubes for all of [0, l).
  void fill_gaps(int32_t l) {
    const int32_t most = limits_.max_swap > 0 ? static_cast<int32_t>(std::min<int64_t>(limits_.max_swap, widest_)) : widest_;
    for (int32_t k = std::max(1, l - most); k < l; ++k) {
      if (span(k, l).second == 0) continue;
      for (int32_t j = std::max(0, k - most); j < k; ++j) {
        if (span(j, k).second == 0 || cells_[j].size() == 0) continue;
        cubes_.assign(1, {cells_[j], span(k, l)});
        if (const NodeRange cell = fill(limits_.swap_limit, j + l - k); cell.size()) gaps_.push_back({cell, span(j, k)});
      }
    }
  }

  /// The best hypotheses of one cell. All cubes have blocks; a cell may end up empty only if they have no nodes.
  NodeRange fill(int64_t limit, int32_t covered) {
    entries_.clear();
    covered_ = covered;
    const auto first = static_cast<int32_t>(nodes_.size());
    known_.start(first, std::max<int64_t>(32, limit));
    pruning_.run(*this, static_cast<uint32_t>(cubes_.size()), limit);
    return sort_nodes(first, static_cast<int32_t>(nodes_.size()), sorted_, [&](int32_t v) { return nodes_[v].score; });
  }

  uint64_t hash(const State& state, const BlockOption& block) const {
    return mix_key(scorer_.hash(state, block) + static_cast<uint64_t>(block.view.end) * 0x9e3779b97f4a7c15ULL);
  }

  void finish() {
    finals_.clear();
    const NodeRange cell = cells_[length_];
    for (uint32_t k = cell.begin; k < cell.end; ++k) {
      const Node& node = nodes_[sorted_[k]];
      finals_.push_back({sorted_[k], scorer_.finish(node.score, node.state, last_block(node))});
    }
  }

  const BlockModel& m_;
  const Grammar& g_;
  Scorer& scorer_;
  const BlockSource* source_ = nullptr;
  BlockOptions limits_{};
  bool keep_edges_ = false;
  int32_t length_ = 0, widest_ = 0, covered_ = 0;
  std::vector<BlockOption> options_;
  std::vector<Range> spans_;
  std::vector<NodeRange> cells_;  // [0, l) is covered
  std::vector<int32_t> sorted_;
  std::vector<Node> nodes_;
  std::vector<BlockEdge> edges_;
  std::vector<Final> finals_;

  // of one cell
  std::vector<Cube> cubes_, gaps_;
  std::vector<Entry> entries_;
  CubePruning<2> pruning_;
  Recombination known_;
};

}  // namespace hopefear
