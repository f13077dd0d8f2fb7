// Drafts of forests from a search that kept its edges: the lattice, or its k best as a list.
#pragma once
#include <cstdint>
#include <unordered_set>
#include <vector>

#include "blocks/block_draft.h"
#include "blocks/block_model.h"
#include "blocks/block_search.h"
#include "forest/derivation.h"
#include "forest/forest.h"
#include "forest/kbest.h"
#include "search/by_head.h"

namespace hopefear {

/// The lattice without features: its nodes are those of the search that reach an end, then the goal. Edge scores are those of the
/// search.
struct BlockSkeleton {
  Forest forest;
  std::vector<double> scores;
  std::vector<int32_t> edges;  // of the search; -1 - f: the end of final hypothesis f
};

template <class Search>
BlockSkeleton block_skeleton(const BlockModel& m, const Search& search) {
  const auto& nodes = search.nodes();
  const auto& edges = search.edges();
  const auto [begin, order] = by_head(nodes.size(), edges);
  std::vector<int32_t> place(nodes.size(), -1);
  for (const auto& final : search.finals()) place[final.node] = 0;
  for (size_t v = nodes.size(); v-- > 0;)
    if (place[v] >= 0)
      for (uint32_t k = begin[v]; k < begin[v + 1]; ++k) place[edges[order[k]].tail] = 0;
  BlockSkeleton out;
  ForestBuilder builder(m.vocab(), m.features());
  std::vector<int32_t> words;
  for (size_t v = 1; v < nodes.size(); ++v) {  // node 0 is the start: edges from it have no tail
    if (place[v] < 0) continue;
    place[v] = builder.add_node(0, nodes[v].covered);
    for (uint32_t k = begin[v]; k < begin[v + 1]; ++k) {
      const BlockEdge& edge = edges[order[k]];
      const auto target = search.options()[edge.option].view.target;
      const size_t arity = edge.tail > 0;
      words.assign(arity, slot(0));
      words.insert(words.end(), target.begin(), target.end());
      builder.add_edge({&place[edge.tail], arity}, words, nullptr);
      out.scores.push_back(edge.score);
      out.edges.push_back(static_cast<int32_t>(order[k]));
    }
  }
  builder.add_node(0, nodes.empty() ? 0 : nodes.back().covered);
  for (size_t f = 0; f < search.finals().size(); ++f) {
    const auto& final = search.finals()[f];
    const int32_t word = slot(0);
    const size_t arity = final.node > 0;
    builder.add_edge({&place[final.node], arity}, {&word, arity}, nullptr);
    out.scores.push_back(final.score - nodes[final.node].score);
    out.edges.push_back(-1 - static_cast<int32_t>(f));
  }
  out.forest = builder.finish();
  return out;
}

/// Makes the draft of one sentence.
template <class Search>
class BlockDrafter {
 public:
  BlockDrafter(const BlockModel& model, const Search& search, const FeatureIds& known)
      : m_(model), search_(search), known_(known), skeleton_(block_skeleton(model, search)) {}

  BlockDraft lattice() {
    const Forest& f = skeleton_.forest;
    draft_.dense.assign(f.edges() * kBlockReals, 0.0);
    for (int32_t v = 0; v < f.nodes(); ++v) {
      draft_.nodes.push_back({f.spans[2 * v], f.spans[2 * v + 1], 0});
      for (int32_t e = f.edge_begin[v]; e < f.edge_begin[v + 1]; ++e) {
        add_features(e, draft_.dense.data() + e * kBlockReals);
        const auto words = f.edge_words(e);
        draft_.words.insert(draft_.words.end(), words.begin(), words.end());
        draft_.end_edge(f.edge_tails(e).empty() ? -1 : f.edge_tails(e)[0]);
      }
    }
    return std::move(draft_);
  }

  BlockDraft list(int64_t k, bool distinct) {
    draft_.nodes.push_back({0, skeleton_.forest.source_length(), 0});
    std::vector<int32_t> words;
    YieldScratch scratch;
    for (const Derivation& derivation : kbest(skeleton_.forest, skeleton_.scores, k, distinct)) {
      const size_t row = draft_.dense.size();
      draft_.dense.resize(row + kBlockReals, 0.0);
      for (const int32_t e : derivation.edges) add_features(e, draft_.dense.data() + row);
      yield(skeleton_.forest, derivation.edges, words, scratch);
      draft_.words.insert(draft_.words.end(), words.begin(), words.end());
      draft_.end_edge(-1);
    }
    return std::move(draft_);
  }

 private:
  /// Adds h of an edge of the skeleton to the row, and its keys to the draft.
  void add_features(int32_t edge, double* h) {
    if (const int32_t e = skeleton_.edges[edge]; e >= 0)
      add_block(search_.edges()[e], h);
    else
      add_end(search_.nodes()[search_.finals()[-1 - e].node], h);
  }

  void add_block(const BlockEdge& edge, double* h) {
    const BlockOption& option = search_.options()[edge.option];
    const auto& tail = search_.nodes()[edge.tail];
    const BlockOption* before = search_.last_block(tail);
    auto sink = names();
    FeatureEmitter<BlockModel, decltype(sink)> emit(m_, m_.which(), sink);
    emit.inside(option.view);
    emit.between(before ? &before->view : nullptr, tail.state.c, tail.state.d, option.view, edge.orientation,
                 option.view.begin - tail.end);
    if (edge.orientation == Orientation::left) h[kSwap] += 1;
    h[kWord] += static_cast<double>(option.view.target.size());
    if (option.copy)
      h[kCopy + option.copy - 1] += 1;
    else
      m_.rule_reals(option.rule, [&](size_t i, double value) { h[i] += value; });
    for (size_t l = 0; l < tail.state.lm.size(); ++l) {
      LmContext out;
      h[kLm + l] += kLn10 * m_.lm_score(l, tail.state.lm[l], option.view.target, out);
    }
  }

  void add_end(const typename Search::Node& node, double* h) {
    const BlockOption* last = search_.last_block(node);
    if (!last) return;
    auto sink = names();
    FeatureEmitter<BlockModel, decltype(sink)>(m_, m_.which(), sink).end(&last->view, node.state.c, node.state.d);
    for (size_t l = 0; l < node.state.lm.size(); ++l) {
      LmContext out;
      h[kLm + l] += kLn10 * m_.lm(l).score(node.state.lm[l], kEos, out).prob;
    }
  }

  auto names() {
    return NameSink{[this](uint64_t key, auto&& name) {
      draft_.keys.push_back(key);
      if (!known_.has(key) && named_.insert(key).second) draft_.names.emplace_back(key, name());
    }};
  }

  const BlockModel& m_;
  const Search& search_;
  const FeatureIds& known_;
  const BlockSkeleton skeleton_;
  BlockDraft draft_;
  std::unordered_set<uint64_t> named_;
};

}  // namespace hopefear
