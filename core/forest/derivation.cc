#include "forest/derivation.h"

#include <algorithm>

namespace hopefear {

void throw_too_long() {
  throw InputError("a derivation has more than " + std::to_string(kLongestDerivation) +
                   " edges or words: edges that use one node twice double it again and again. Prune the forest");
}

void throw_no_derivation() {
  throw InputError("the forest has no derivation: its goal cannot be built from edges without tails");
}

void throw_out_of_range() { throw InputError("a score is beyond the range of numbers: scale the weights down"); }

std::vector<int32_t> heads(const Forest& forest, std::span<const int32_t> edges) {
  const auto begin = forest.edge_begin;
  std::vector<int32_t> heads;
  for (const int32_t e : edges)
    heads.push_back(static_cast<int32_t>(std::upper_bound(begin.begin(), begin.end(), e) - begin.begin()) - 1);
  return heads;
}

std::vector<double> features_of(const Forest& forest, std::span<const int32_t> edges) {
  std::vector<double> h(forest.features->size());
  for (const int32_t e : edges) add_features(forest, e, 1.0, h.data());
  return h;
}

std::vector<int32_t> parents(const Forest& forest, std::span<const int32_t> edges) {
  std::vector<int32_t> parent(edges.size(), -1);
  std::vector<std::pair<int32_t, int32_t>> open;  // (place, tails still to come)
  for (size_t i = 0; i < edges.size(); ++i) {
    while (!open.empty() && open.back().second == 0) open.pop_back();
    if (!open.empty()) {
      parent[i] = open.back().first;
      --open.back().second;
    }
    open.emplace_back(static_cast<int32_t>(i), static_cast<int32_t>(forest.edge_tails(edges[i]).size()));
  }
  return parent;
}

void yield(const Forest& forest, std::span<const int32_t> edges, std::vector<int32_t>& words, YieldScratch& scratch) {
  words.clear();
  if (edges.size() == 1) {
    const auto all = forest.edge_words(edges[0]);
    words.assign(all.begin(), all.end());
    return;
  }
  // Going backwards, the children of an edge are the subtrees that were finished last.
  auto& [child_begin, children, stack, open] = scratch;
  child_begin.assign(edges.size(), 0);
  children.clear();
  stack.clear();
  for (size_t i = edges.size(); i-- > 0;) {
    const size_t arity = forest.edge_tails(edges[i]).size();
    child_begin[i] = static_cast<int32_t>(children.size());
    for (size_t t = 0; t < arity; ++t) {
      children.push_back(stack.back());
      stack.pop_back();
    }
    stack.push_back(static_cast<int32_t>(i));
  }
  open.clear();
  open.emplace_back(0, forest.word_begin[edges[0]]);
  while (!open.empty()) {
    auto& [place, next] = open.back();
    const int32_t e = edges[place];
    if (next == forest.word_begin[e + 1]) {
      open.pop_back();
      continue;
    }
    const int32_t word = forest.words[next++];
    if (word >= 0) {
      if (words.size() >= kLongestDerivation) throw_too_long();
      words.push_back(word);
    } else {
      const int32_t child = children[child_begin[place] + slot_tail(word)];
      open.emplace_back(child, forest.word_begin[edges[child]]);
    }
  }
}

std::vector<int32_t> yield(const Forest& forest, std::span<const int32_t> edges) {
  std::vector<int32_t> words;
  YieldScratch scratch;
  yield(forest, edges, words, scratch);
  return words;
}

void sparse_features(const Forest& forest, std::span<const int32_t> edges, std::vector<int32_t>& ids,
                     std::vector<double>& values) {
  ids.clear();
  values.clear();
  if (forest.sparse_begin.empty()) return;
  std::vector<std::pair<int32_t, double>> all;
  for (int32_t e : edges)
    for (int32_t k = forest.sparse_begin[e]; k < forest.sparse_begin[e + 1]; ++k)
      all.emplace_back(forest.sparse_ids[k], forest.sparse_values[k]);
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (size_t i = 0; i < all.size();) {
    const int32_t id = all[i].first;
    double sum = 0.0;
    for (; i < all.size() && all[i].first == id; ++i) sum += all[i].second;
    if (sum == 0.0) continue;
    ids.push_back(id);
    values.push_back(sum);
  }
}

}  // namespace hopefear
