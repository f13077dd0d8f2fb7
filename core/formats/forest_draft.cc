#include "formats/forest_draft.h"

#include <algorithm>
#include <numeric>

#include "util/text.h"

namespace hopefear {
namespace {

enum class Colour : uint8_t { white, grey, black };

[[noreturn]] void fail(const std::string& where, const std::string& finding) { throw InputError(where + ": " + finding); }

}  // namespace

void ForestDraft::emit(PoolBuilder& builder, const std::string& where) const {
  if (nodes == 0) fail(where, "the forest has no nodes. Was the file cut off?");
  if (goal < 0 || goal >= nodes) fail(where, "the forest has no goal node. Name one");
  const ByHead sorted = by_head();
  for (int32_t v = 0; v < nodes; ++v)
    if (sorted.begin[v] == sorted.begin[v + 1])
      fail(where, "node " + name(v) + " has no edges: the forest is not connected. Leave the node out");
  const std::vector<int32_t> order = topological_order(sorted, where);
  std::vector<int32_t> place(nodes);
  for (size_t i = 0; i < order.size(); ++i) place[order[i]] = static_cast<int32_t>(i);
  std::vector<uint8_t> named;
  for (const int32_t v : order) {
    int32_t i = -1, j = -1;
    if (!spans.empty() && spans[2 * v] >= 0) {
      i = spans[2 * v];
      j = spans[2 * v + 1];
      if (i > j) fail(where, "node " + name(v) + " has a span that ends before it begins. Correct it");
    }
    builder.add_node(i, j);
    for (size_t k = sorted.begin[v]; k < sorted.begin[v + 1]; ++k) emit_edge(builder, sorted.edges[k], place, named, where);
  }
}

ForestDraft::ByHead ForestDraft::by_head() const {
  ByHead sorted{std::vector<size_t>(nodes + 1, 0), std::vector<size_t>(edges())};
  for (const int32_t head : heads) ++sorted.begin[head + 1];
  std::partial_sum(sorted.begin.begin(), sorted.begin.end(), sorted.begin.begin());
  std::vector<size_t> next(sorted.begin.begin(), sorted.begin.end() - 1);
  for (size_t e = 0; e < edges(); ++e) sorted.edges[next[heads[e]]++] = e;
  return sorted;
}

/// Depth first from the goal.
std::vector<int32_t> ForestDraft::topological_order(const ByHead& sorted, const std::string& where) const {
  const auto& [begin, by_head] = sorted;
  std::vector<Colour> colour(nodes, Colour::white);
  std::vector<int32_t> order;
  order.reserve(nodes);
  struct Frame {  // a node, and a position in the tails of its edges
    int32_t node;
    size_t edge, tail;
  };
  std::vector<Frame> stack{{goal, begin[goal], 0}};
  colour[goal] = Colour::grey;
  bool in_order = goal == nodes - 1;
  while (!stack.empty()) {
    Frame& frame = stack.back();
    if (frame.edge == begin[frame.node + 1]) {
      colour[frame.node] = Colour::black;
      order.push_back(frame.node);
      stack.pop_back();
      continue;
    }
    const size_t e = by_head[frame.edge];
    if (tail_begin[e] + frame.tail == tail_begin[e + 1]) {
      ++frame.edge;
      frame.tail = 0;
      continue;
    }
    const int32_t tail = tails[tail_begin[e] + frame.tail++];
    if (tail < 0 || tail >= nodes)
      fail(where, "an edge of node " + name(frame.node) + " uses node " + std::to_string(tail) +
                      ", which does not exist. Was the file cut off?");
    if (tail >= frame.node) in_order = false;
    if (colour[tail] == Colour::grey)
      fail(where, "node " + name(tail) + " is below itself: the forest is cyclic. Write it without cycles");
    if (colour[tail] == Colour::white) {
      colour[tail] = Colour::grey;
      stack.push_back({tail, begin[tail], 0});
    }
  }
  for (int32_t v = 0; v < nodes; ++v)
    if (colour[v] == Colour::white && (optional.empty() || !optional[v]))
      fail(where, "node " + name(v) + " does not lead to the goal: the forest is not connected. Leave the node out");
  if (in_order) std::sort(order.begin(), order.end());
  return order;
}

/// `place`: the new number of each node; `named` is reused between calls.
void ForestDraft::emit_edge(PoolBuilder& builder, size_t e, const std::vector<int32_t>& place, std::vector<uint8_t>& named,
                            const std::string& where) const {
  const auto fail_edge = [&](const std::string& finding) { fail(where, "an edge of node " + name(heads[e]) + finding); };
  for (size_t t = tail_begin[e]; t < tail_begin[e + 1]; ++t) builder.add_tail(place[tails[t]]);
  named.assign(tail_begin[e + 1] - tail_begin[e], 0);
  const auto check_once = [&](bool once) {
    if (!once) fail_edge(" must name each of its " + std::to_string(named.size()) + " tails once. Correct its rule");
  };
  for (size_t w = word_begin[e]; w < word_begin[e + 1]; ++w) {
    if (words[w] < 0) {
      const size_t t = slot_tail(words[w]);
      check_once(t < named.size() && !named[t]++);
    }
    builder.add_word_id(words[w]);
  }
  for (const uint8_t n : named) check_once(n);
  for (size_t h = feature_begin[e]; h < feature_begin[e + 1]; ++h)
    if (!builder.add_feature(feature_ids[h], feature_values[h]))
      fail_edge(" has the feature " + quoted((*builder.features())[feature_ids[h]]) + " twice. Keep one");
  builder.end_candidate();
}

}  // namespace hopefear
