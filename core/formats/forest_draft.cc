#include "formats/forest_draft.h"

#include <algorithm>
#include <numeric>

#include "util/text.h"

namespace hopefear {
namespace {

enum class Colour : uint8_t { white, grey, black };

}  // namespace

void ForestDraft::emit(PoolBuilder& builder, const std::string& where) const {
  const auto count = static_cast<size_t>(nodes);
  auto name = [&](int32_t v) { return std::to_string(names.empty() ? v : names[v]); };
  auto fail = [&](const std::string& finding) { throw InputError(where + ": " + finding); };
  if (nodes == 0) fail("the forest has no nodes. Was the file cut off?");
  if (goal < 0 || goal >= nodes) fail("the forest has no goal node. Name one");

  // edges by head, in the order of the file
  std::vector<size_t> begin(count + 1, 0), by_head(edges());
  for (const int32_t head : heads) ++begin[static_cast<size_t>(head) + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  {
    std::vector<size_t> next(begin.begin(), begin.end() - 1);
    for (size_t e = 0; e < edges(); ++e) by_head[next[heads[e]]++] = e;
  }
  for (int32_t v = 0; v < nodes; ++v)
    if (begin[v] == begin[static_cast<size_t>(v) + 1])
      fail("node " + name(v) + " has no edges: the forest is not connected. Leave the node out");

  // depth first from the goal; a frame is (node, place in its tails, edge after edge)
  std::vector<Colour> colour(count, Colour::white);
  std::vector<int32_t> order;
  order.reserve(count);
  struct Frame {
    int32_t node;
    size_t edge, tail;
  };
  std::vector<Frame> stack{{goal, begin[goal], 0}};
  colour[goal] = Colour::grey;
  bool in_order = goal == nodes - 1;
  while (!stack.empty()) {
    Frame& frame = stack.back();
    if (frame.edge == begin[static_cast<size_t>(frame.node) + 1]) {
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
      fail("an edge of node " + name(frame.node) + " uses node " + std::to_string(tail) +
           ", which does not exist. Was the file cut off?");
    if (tail >= frame.node) in_order = false;
    if (colour[tail] == Colour::grey)
      fail("node " + name(tail) + " is below itself: the forest is cyclic. Write it without cycles");
    if (colour[tail] == Colour::white) {
      colour[tail] = Colour::grey;
      stack.push_back({tail, begin[tail], 0});
    }
  }
  for (int32_t v = 0; v < nodes; ++v)
    if (colour[v] == Colour::white && (optional.empty() || !optional[v]))
      fail("node " + name(v) + " does not lead to the goal: the forest is not connected. Leave the node out");
  if (in_order) std::sort(order.begin(), order.end());

  std::vector<int32_t> place(count);
  for (size_t i = 0; i < order.size(); ++i) place[order[i]] = static_cast<int32_t>(i);
  std::vector<uint8_t> named;
  for (const int32_t v : order) {
    int32_t i = -1, j = -1;
    if (!spans.empty()) {
      i = spans[2 * static_cast<size_t>(v)];
      j = spans[2 * static_cast<size_t>(v) + 1];
      if (i < 0) i = j = -1;
      if (i > j) fail("node " + name(v) + " has a span that ends before it begins. Correct it");
    }
    builder.add_node(i, j);
    for (size_t k = begin[v]; k < begin[static_cast<size_t>(v) + 1]; ++k) {
      const size_t e = by_head[k];
      for (size_t t = tail_begin[e]; t < tail_begin[e + 1]; ++t) builder.add_tail(place[tails[t]]);
      named.assign(tail_begin[e + 1] - tail_begin[e], 0);
      for (size_t w = word_begin[e]; w < word_begin[e + 1]; ++w) {
        if (words[w] < 0) {
          const auto t = static_cast<size_t>(slot_tail(words[w]));
          if (t >= named.size() || named[t]++)
            fail("an edge of node " + name(v) + " must name each of its " + std::to_string(named.size()) +
                 " tails once. Correct its rule");
        }
        builder.add_word_id(words[w]);
      }
      for (const uint8_t n : named)
        if (!n)
          fail("an edge of node " + name(v) + " must name each of its " + std::to_string(named.size()) +
               " tails once. Correct its rule");
      for (size_t h = feature_begin[e]; h < feature_begin[e + 1]; ++h)
        if (!builder.add_feature(feature_ids[h], feature_values[h]))
          fail("an edge of node " + name(v) + " has the feature " + quoted((*builder.features())[feature_ids[h]]) +
               " twice. Keep one");
      builder.end_candidate();
    }
  }
}

}  // namespace hopefear
