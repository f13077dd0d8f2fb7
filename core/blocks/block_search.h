// The search of block_decoder.h, whatever it is that is maximised: a Scorer says what a hypothesis is worth and which
// hypotheses are alike.
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
#include <limits>
#include <tuple>
#include <vector>

#include "blocks/block_decoder.h"

namespace hopefear {

struct BlockOption {
  BlockView view;
  double score = 0, rank = 0;  // by the scorer: what it is worth, and what orders the blocks of one source phrase
  uint32_t rule = 0;
  uint8_t copy = 0;

  StoredBlock stored() const {
    return {rule, static_cast<uint16_t>(view.begin), static_cast<uint8_t>(view.end - view.begin), copy};
  }
};

struct BlockEdge {
  int32_t head, tail;  // nodes; tail -1: the start
  uint32_t option;
  Orientation orientation;
  double score;  // what it added
};

template <class Scorer>
class BlockSearch {
 public:
  using State = typename Scorer::State;

  BlockSearch(const BlockDecoder& decoder, Scorer& scorer) : d_(decoder), g_(decoder.grammar()), scorer_(scorer) {}

  /// Searches; `edges` keeps all of the lattice, not only the best way to each node.
  void run(const BlockSource& source, const BlockOptions& options, bool swap, bool edges) {
    source_ = &source;
    limits_ = options;
    keep_edges_ = edges;
    length_ = static_cast<int32_t>(source.words.size());
    nodes_.clear();
    edges_.clear();
    sorted_.clear();
    find_options();
    cells_.assign(static_cast<size_t>(length_) + 1, {});
    nodes_.push_back({0.0, scorer_.start(), -1, -1, 0, Orientation::right, 0});
    sorted_.push_back(0);
    cells_[0] = {0, 1};
    const int32_t most = limits_.max_swap > 0 ? static_cast<int32_t>(std::min<int64_t>(limits_.max_swap, widest_)) : widest_;
    for (int32_t l = 1; l <= length_; ++l) {
      gaps_.clear();
      if (swap)
        for (int32_t k = std::max(1, l - most); k < l; ++k) {
          if (span(k, l).second == 0) continue;
          for (int32_t j = std::max(0, k - most); j < k; ++j) {
            if (span(j, k).second == 0 || size(cells_[j]) == 0) continue;
            cubes_.assign(1, {cells_[j], span(k, l)});
            const Cell cell = fill(limits_.swap_limit, j + l - k);
            if (size(cell)) gaps_.push_back({cell, span(j, k)});
          }
        }
      cubes_.clear();
      for (int32_t j = std::max(0, l - widest_); j < l; ++j)
        if (span(j, l).second && size(cells_[j])) cubes_.push_back({cells_[j], span(j, l)});
      cubes_.insert(cubes_.end(), gaps_.begin(), gaps_.end());
      cells_[l] = fill(limits_.pop_limit, l);
    }
    finish();
  }

  struct Node {
    double score;
    State state;
    int32_t option;  // of the last block; -1: none yet
    int32_t back;    // on the best way
    int32_t end;     // of the last block on the source side
    Orientation orientation;
    int32_t covered;
  };
  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<BlockOption>& options() const { return options_; }
  const std::vector<BlockEdge>& edges() const { return edges_; }
  /// Complete hypotheses, and what they are worth when the sentence ends.
  struct Final {
    int32_t node;
    double score;
  };
  const std::vector<Final>& finals() const { return finals_; }

  /// The blocks on the best way to the best end; scores of equal worth: the first.
  void best(std::vector<StoredBlock>& blocks) const {
    const auto found =
        std::max_element(finals_.begin(), finals_.end(), [](const Final& a, const Final& b) { return a.score < b.score; });
    const size_t first = blocks.size();
    for (int32_t v = found->node; nodes_[v].option >= 0; v = nodes_[v].back)
      blocks.push_back(options_[nodes_[v].option].stored());
    std::reverse(blocks.begin() + static_cast<ptrdiff_t>(first), blocks.end());
  }

 private:
  struct Cell {
    uint32_t begin = 0, end = 0;  // in sorted_
  };
  using Range = std::pair<uint32_t, uint32_t>;  // options: first, number
  struct Cube {
    Cell cell;
    Range options;
  };
  struct Place {
    uint32_t cube, option, rank;
    Orientation orientation;
    double score;
    State state;
  };
  struct Waiting {
    double score;
    uint32_t place;
    bool operator<(const Waiting& other) const { return score < other.score || (score == other.score && place > other.place); }
  };

  static uint32_t size(const Cell& cell) { return cell.end - cell.begin; }
  Range span(int32_t i, int32_t j) const {
    return j - i <= widest_ ? spans_[static_cast<size_t>(i) * static_cast<size_t>(widest_ + 1) + static_cast<size_t>(j - i)]
                            : Range{0, 0};
  }

  /// All blocks of the sentence, by source span.
  void find_options() {
    options_.clear();
    widest_ = std::max(1, std::min(length_, static_cast<int32_t>(g_.max_source_symbols())));
    spans_.assign(static_cast<size_t>(length_) * static_cast<size_t>(widest_ + 1), {0, 0});
    for (int32_t i = 0; i < length_; ++i) {
      uint32_t node = Grammar::kRoot;
      uint64_t phrase = kPhrase;
      bool alone = false;
      for (int32_t j = i + 1; j <= std::min(length_, i + widest_); ++j) {
        const int32_t word = source_->words[j - 1];
        node = d_.knows(word) && (j == i + 1 || node != Grammar::kRoot) ? g_.child(node, word) : Grammar::kNone;
        if (node == Grammar::kNone && j > i + 1) break;
        phrase = phrase_add(phrase, d_.source(word));
        const auto first = static_cast<uint32_t>(options_.size());
        const std::span<const int32_t> words(source_->words.data() + i, static_cast<size_t>(j - i));
        if (node != Grammar::kNone) {
          const auto [begin, end] = g_.rules_of(node);
          for (uint32_t rule = begin; rule < end; ++rule) add(words, g_.target(rule), phrase, i, j, rule, 0);
          alone = alone || (j == i + 1 && begin != end);
        }
        if (j == i + 1)
          if (const uint8_t copy = BlockDecoder::copy_kind(*source_, static_cast<size_t>(i), d_.knows(word), alone))
            add(words, std::span<const int32_t>(source_->copies).subspan(static_cast<size_t>(i), 1), phrase, i, j, 0, copy);
        std::stable_sort(options_.begin() + first, options_.end(),
                         [](const BlockOption& a, const BlockOption& b) { return a.rank > b.rank; });
        if (limits_.max_options > 0 && options_.size() - first > static_cast<size_t>(limits_.max_options))
          options_.resize(first + static_cast<size_t>(limits_.max_options));
        for (size_t k = first; k < options_.size(); ++k) {
          uint64_t hash = kPhrase;
          for (const int32_t e : options_[k].view.target) hash = phrase_add(hash, d_.target(e));
          options_[k].view.target_hash = hash;
        }
        spans_[static_cast<size_t>(i) * static_cast<size_t>(widest_ + 1) + static_cast<size_t>(j - i)] = {
            first, static_cast<uint32_t>(options_.size()) - first};
        if (node == Grammar::kNone) break;
      }
    }
  }

  void add(std::span<const int32_t> source, std::span<const int32_t> target, uint64_t source_hash, int32_t begin, int32_t end,
           uint32_t rule, uint8_t copy) {
    BlockOption option{{source, target, source_hash, 0, begin, end}, 0.0, 0.0, rule, copy};
    scorer_.option(option);
    options_.push_back(option);
  }

  /// Cube pruning: the best hypotheses of one cell. All cubes have blocks; a cell may end up empty only if they have no nodes.
  Cell fill(int64_t limit, int32_t covered) {
    places_.clear();
    queue_.clear();
    covered_ = covered;
    const auto first_node = static_cast<int32_t>(nodes_.size());
    size_t table = 64;
    while (limit > 0 && table < static_cast<size_t>(limit) * 2) table *= 2;
    table_.assign(table, -1);
    for (uint32_t c = 0; c < cubes_.size(); ++c) push(c, 0, 0);
    for (int64_t left = limit > 0 ? limit : std::numeric_limits<int64_t>::max(); left > 0 && !queue_.empty(); --left) {
      std::pop_heap(queue_.begin(), queue_.end());
      const uint32_t p = queue_.back().place;
      queue_.pop_back();
      accept(p, first_node);
      const auto [cube, option, rank] = std::tuple{places_[p].cube, places_[p].option, places_[p].rank};
      if (rank == 0 && option + 1 < cubes_[cube].options.second) push(cube, option + 1, 0);
      if (rank + 1 < size(cubes_[cube].cell)) push(cube, option, rank + 1);
    }
    const auto begin = static_cast<uint32_t>(sorted_.size());
    for (auto v = first_node; v < static_cast<int32_t>(nodes_.size()); ++v) sorted_.push_back(v);
    std::stable_sort(sorted_.begin() + begin, sorted_.end(),
                     [&](int32_t a, int32_t b) { return nodes_[a].score > nodes_[b].score; });
    return {begin, static_cast<uint32_t>(sorted_.size())};
  }

  const Node& node_at(uint32_t cube, uint32_t rank) const { return nodes_[sorted_[cubes_[cube].cell.begin + rank]]; }

  void push(uint32_t cube, uint32_t option, uint32_t rank) {
    const Node& from = node_at(cube, rank);
    const BlockOption& block = options_[cubes_[cube].options.first + option];
    const BlockOption* before = from.option >= 0 ? &options_[from.option] : nullptr;
    const Orientation o = block.view.begin == from.end                     ? Orientation::right
                          : before && block.view.end == before->view.begin ? Orientation::left
                                                                           : Orientation::neutral;
    Place& place = places_.emplace_back();
    place.cube = cube;
    place.option = option;
    place.rank = rank;
    place.orientation = o;
    place.score = scorer_.extend(from.score, from.state, before, block, o, block.view.begin - from.end, covered_, place.state);
    queue_.push_back({place.score, static_cast<uint32_t>(places_.size()) - 1});
    std::push_heap(queue_.begin(), queue_.end());
  }

  void accept(uint32_t p, int32_t first_node) {
    const Place& place = places_[p];
    const uint32_t option = cubes_[place.cube].options.first + place.option;
    const int32_t from = sorted_[cubes_[place.cube].cell.begin + place.rank];
    const BlockOption& block = options_[option];
    size_t slot = hash(place.state, block) & (table_.size() - 1);
    int32_t v = -1;
    for (; table_[slot] >= 0; slot = (slot + 1) & (table_.size() - 1)) {
      const Node& known = nodes_[table_[slot]];
      if (known.end == block.view.end && scorer_.same(known.state, options_[known.option], place.state, block)) {
        v = table_[slot];
        break;
      }
    }
    if (v < 0) {
      v = static_cast<int32_t>(nodes_.size());
      table_[slot] = v;
      nodes_.push_back(
          {place.score, place.state, static_cast<int32_t>(option), from, block.view.end, place.orientation, covered_});
      if (static_cast<size_t>(v - first_node + 1) * 2 > table_.size()) regrow(first_node);
    } else if (Node& node = nodes_[v]; place.score > node.score) {
      node.score = place.score;
      node.state = place.state;
      node.option = static_cast<int32_t>(option);
      node.back = from;
      node.orientation = place.orientation;
    }
    if (keep_edges_) edges_.push_back({v, from, option, place.orientation, place.score - nodes_[from].score});
  }
  uint64_t hash(const State& state, const BlockOption& block) const {
    const uint64_t h = mix_key(scorer_.hash(state, block) + static_cast<uint64_t>(block.view.end) * 0x9e3779b97f4a7c15ULL);
    return h;
  }
  void regrow(int32_t first_node) {
    table_.assign(table_.size() * 2, -1);
    for (auto v = first_node; v < static_cast<int32_t>(nodes_.size()); ++v) {
      const Node& node = nodes_[v];
      size_t slot = hash(node.state, options_[node.option]) & (table_.size() - 1);
      while (table_[slot] >= 0) slot = (slot + 1) & (table_.size() - 1);
      table_[slot] = v;
    }
  }

  void finish() {
    finals_.clear();
    const Cell& cell = cells_[length_];
    for (uint32_t k = cell.begin; k < cell.end; ++k) {
      const Node& node = nodes_[sorted_[k]];
      finals_.push_back(
          {sorted_[k], scorer_.finish(node.score, node.state, node.option >= 0 ? &options_[node.option] : nullptr)});
    }
  }

  const BlockDecoder& d_;
  const Grammar& g_;
  Scorer& scorer_;
  const BlockSource* source_ = nullptr;
  BlockOptions limits_;
  bool keep_edges_ = false;
  int32_t length_ = 0, widest_ = 0, covered_ = 0;
  std::vector<BlockOption> options_;
  std::vector<Range> spans_;
  std::vector<Cell> cells_;  // [0, l) is covered
  std::vector<int32_t> sorted_;
  std::vector<Node> nodes_;
  std::vector<BlockEdge> edges_;
  std::vector<Cube> cubes_, gaps_;
  std::vector<Place> places_;
  std::vector<Waiting> queue_;
  std::vector<int32_t> table_;
  std::vector<Final> finals_;
};

}  // namespace hopefear
