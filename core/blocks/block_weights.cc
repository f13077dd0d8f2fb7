#include "blocks/block_weights.h"

#include <algorithm>
#include <cmath>

#include "util/error.h"
#include "util/parallel.h"

namespace hopefear {

BlockWeights::BlockWeights(std::shared_ptr<const FeatureTable> table, const BlockModel& model, bool precompute, int jobs)
    : table_(std::move(table)) {
  for (size_t i = 0; i < kBlockReals; ++i) real_[i] = table_->get(feature_key(kBlockReal[i]));
  if (!precompute) return;
  inside_.resize(model.grammar().rules());
  const auto [begin, end] = model.grammar().children(Grammar::kRoot);
  const uint32_t first = begin;
  parallel_for(end - begin, jobs, [&](size_t k, int) { this->precompute(model, first + static_cast<uint32_t>(k)); });
}

double BlockWeights::inside(const BlockModel& model, const BlockView& b, uint32_t rule, uint8_t copy) const {
  double sum = real(kWord) * static_cast<double>(b.target.size());
  if (copy)
    sum += real(kCopy + copy - 1);
  else
    model.rule_reals(rule, [&](size_t i, double value) { sum += real(i) * value; });
  uint64_t keys[256];  // a batch, so that all of them are prefetched before the first is read
  int n = 0;
  const auto flush = [&] {
    for (int k = 0; k < n; ++k) sum += table_->get(keys[k]);
    n = 0;
  };
  KeySink sink{[&](uint64_t key) {
    table_->prefetch(key);
    keys[n++] = key;
    if (n == 256) flush();
  }};
  FeatureEmitter<BlockModel, decltype(sink)>(model, model.which(), sink).inside(b);
  flush();
  return sum;
}

/// All blocks in the part of the trie below one of its first words.
void BlockWeights::precompute(const BlockModel& model, uint32_t first_node) {
  struct Item {
    uint32_t node, depth;
  };
  const Grammar& g = model.grammar();
  std::vector<Item> open{{first_node, 1}};
  std::vector<int32_t> words;
  std::vector<uint64_t> phrases{kPhrase};
  while (!open.empty()) {
    const Item item = open.back();
    open.pop_back();
    const int32_t word = g.symbol(item.node);
    if (word < 0) continue;  // a nonterminal
    words.resize(item.depth);
    phrases.resize(item.depth + 1);
    words[item.depth - 1] = word;
    phrases[item.depth] = phrase_add(phrases[item.depth - 1], model.source(word));
    const auto [rule_begin, rule_end] = g.rules_of(item.node);
    for (uint32_t rule = rule_begin; rule < rule_end; ++rule) {
      const auto target = g.target(rule);
      const BlockView view{words, target, phrases[item.depth], model.target_hash(target), 0, static_cast<int32_t>(item.depth)};
      inside_[rule] = inside(model, view, rule, 0);
    }
    const auto [child, last] = g.children(item.node);
    for (uint32_t c = child; c < last; ++c) open.push_back({c, item.depth + 1});
  }
}

void set_weight(FeatureTable& table, const std::string& name, double weight) {
  if (!std::isfinite(weight)) throw InputError("the weight of " + name + " is not a finite number");
  table.set(feature_key(name), weight);
}

std::shared_ptr<FeatureTable> weight_table(const Vocab& features, std::span<const double> w) {
  if (w.size() > static_cast<size_t>(features.size()))
    throw InputError("the weight vector has more numbers than there are features");
  auto table = std::make_shared<FeatureTable>(w.size());
  for (size_t j = 0; j < w.size(); ++j)
    if (w[j] != 0.0) set_weight(*table, features[static_cast<int32_t>(j)], w[j]);
  return table;
}

std::vector<uint64_t> sorted_keys(const FeatureTable& table) {
  std::vector<uint64_t> keys;
  for (size_t i = 0; i < table.capacity(); ++i)
    if (table.key(i)) keys.push_back(table.key(i));
  std::sort(keys.begin(), keys.end());
  return keys;
}

std::shared_ptr<FeatureTable> keyed_table(std::span<const uint64_t> keys, std::span<const double> w) {
  if (keys.size() != w.size()) throw InputError("as many keys as weights are needed");
  auto table = std::make_shared<FeatureTable>(keys.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    if (keys[i] == 0 || !std::isfinite(w[i])) throw InputError("a checkpoint is damaged. Start again with --overwrite");
    table->set(keys[i], w[i]);
  }
  return table;
}

}  // namespace hopefear
