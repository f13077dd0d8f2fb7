#include <algorithm>
#include <limits>

#include "grammar/extractor_state.h"
#include "util/parallel.h"
#include "util/parallel_sort.h"

namespace hopefear {

namespace {

/// The streams of all shards as one table.
class TableWriter {
 public:
  TableWriter(const std::vector<std::unique_ptr<RuleShard>>& shards, const std::vector<CountTable<Total>>& totals,
              const ParallelText& text, bool orientations)
      : totals_(totals) {
    size_t count = 0;
    for (const auto& shard : shards) count += shard->sides.size();
    sides_.reserve(count);
    for (const auto& shard : shards)
      for (const SourceSide& side : shard->sides)
        sides_.push_back({{side.key[0], side.key[1]}, shard->stream.data() + side.offset, &side});
    table_.source_vocab = text.source_vocab;
    table_.target_vocab = text.target_vocab;
    table_.names = rule_columns(orientations);
  }

  RuleTable run(int jobs) {
    sort_sides(jobs);
    make_room();
    parallel_for((sides_.size() + kBlock - 1) / kBlock, jobs, [&](size_t block, int) {
      const size_t begin = block * kBlock, end = std::min(sides_.size(), begin + kBlock);
      for (size_t i = end; i < std::min(sides_.size(), end + kBlock); ++i)
        for (size_t line = 0; line < 3; ++line) __builtin_prefetch(sides_[i].stream + 16 * line);
      for (size_t i = begin; i < end; ++i)
        each_rule(i,
                  [&](size_t, const MergedRule& rule) { totals_[rule_shard(rule.target_hash())].prefetch(rule.target_hash()); });
      for (size_t i = begin; i < end; ++i) write_side(i);
    });
    return std::move(table_);
  }

 private:
  static constexpr size_t kBlock = 32;  // sides that are written together, so that memory can be prefetched
  struct Ref {
    uint64_t key[2];
    const uint32_t* stream;
    const SourceSide* side;
  };
  static std::span<const int32_t> symbols_of(const Ref& ref) {
    return {reinterpret_cast<const int32_t*>(ref.stream + 1), *ref.stream};
  }

  /// In lexicographic order of their symbols, X first.
  void sort_sides(int jobs) {
    parallel_sort(sides_, jobs, [](const Ref& a, const Ref& b) {
      if (a.key[0] != b.key[0]) return a.key[0] < b.key[0];
      if (a.key[1] != b.key[1]) return a.key[1] < b.key[1];
      return std::ranges::lexicographical_compare(symbols_of(a), symbols_of(b));
    });
  }

  void make_room() {
    const size_t count = sides_.size(), width = table_.names.size();
    uint64_t source_size = 0, target_size = 0, links = 0, rules = 0;
    table_.source_begin.resize(count + 1), table_.rule_begin.resize(count + 1);
    target_at_.resize(count), link_at_.resize(count);
    const size_t ahead = 16;  // sides to prefetch: their order is not that of memory
    for (size_t i = 0; i < count; ++i) {
      if (i + ahead < count) {
        __builtin_prefetch(sides_[i + ahead].side);
        __builtin_prefetch(sides_[i + ahead].stream);
      }
      const SourceSide& side = *sides_[i].side;
      target_at_[i] = static_cast<uint32_t>(target_size), link_at_[i] = static_cast<uint32_t>(links);
      source_size += *sides_[i].stream, target_size += side.target_size, links += side.links, rules += side.rules;
      table_.source_begin[i + 1] = static_cast<uint32_t>(source_size);
      table_.rule_begin[i + 1] = static_cast<uint32_t>(rules);
    }
    if (std::max({source_size, target_size, links, rules * width}) > std::numeric_limits<uint32_t>::max())
      throw InputError("the rule table would have more than 2^32 symbols. Drop rare rules (min_hierarchical, max_options)");
    table_.source.resize(source_size), table_.target.resize(target_size), table_.links.resize(links);
    table_.target_begin.resize(rules + 1), table_.link_begin.resize(rules + 1);
    table_.columns.resize(rules * width);
  }

  /// body(number of the rule, rule)
  template <class Body>
  void each_rule(size_t i, Body&& body) const {
    MergedRule rule(sides_[i].stream + 1 + *sides_[i].stream, table_.names.size());
    for (size_t r = table_.rule_begin[i]; r < table_.rule_begin[i + 1]; ++r, rule = rule.next()) body(r, rule);
  }

  void write_side(size_t i) {
    std::ranges::copy(symbols_of(sides_[i]), table_.source.begin() + table_.source_begin[i]);
    uint32_t target_at = target_at_[i], link_at = link_at_[i];
    each_rule(i, [&](size_t r, const MergedRule& rule) {
      rule.fill(table_.columns.data() + r * table_.names.size(),
                totals_[rule_shard(rule.target_hash())].find(rule.target_hash()).count);
      std::ranges::copy(rule.target(), table_.target.begin() + target_at);
      target_at += static_cast<uint32_t>(rule.target_size());
      for (size_t k = 0; k < rule.links(); ++k) table_.links[link_at++] = {rule.link(k).first, rule.link(k).second};
      table_.target_begin[r + 1] = target_at, table_.link_begin[r + 1] = link_at;
    });
  }

  const std::vector<CountTable<Total>>& totals_;
  std::vector<Ref> sides_;
  RuleTable table_;
  std::vector<uint32_t> target_at_, link_at_;  // where each side's rules begin
};

}  // namespace

RuleTable Extractor::finish(int jobs) {
  State& state = *state_;
  state.end_part(jobs);
  RuleTable table = TableWriter(state.shards, state.totals, *state.text, state.options.orientations).run(jobs);
  state.shards.clear();
  for (int i = 0; i < kShards; ++i) state.shards.push_back(std::make_unique<RuleShard>());
  return table;
}

}  // namespace hopefear
