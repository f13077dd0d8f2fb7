#include <algorithm>
#include <cstring>
#include <limits>
#include <string>

#include "grammar/extractor_state.h"
#include "util/parallel.h"
#include "util/parallel_sort.h"

namespace hopefear {

namespace {

constexpr size_t kPartShards = kShards / Extractor::kParts;

template <class T>
void append_bytes(std::vector<uint8_t>& out, const std::vector<T>& values) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
  out.insert(out.end(), bytes, bytes + values.size() * sizeof(T));
}

/// The bytes of take(): where the entries of each shard begin, then the entries.
using Begins = std::array<uint64_t, kPartShards + 1>;

Begins begins_of(std::span<const uint8_t> taken) {
  Begins begin{};
  if (taken.size() >= sizeof begin) std::memcpy(begin.data(), taken.data(), sizeof begin);
  if (taken.size() < sizeof begin || !std::is_sorted(begin.begin(), begin.end()) ||
      taken.size() != sizeof begin + begin.back() * sizeof(RuleCount))
    throw InputError("a part of the extracted rules is cut off or damaged. Is the disk full? Build again");
  return begin;
}

}  // namespace

std::vector<uint8_t> Extractor::take(int part) {
  if (part < 0 || part >= kParts) throw InputError("there are " + std::to_string(kParts) + " parts, counted from 0");
  Begins begin{};
  std::vector<uint8_t> out(sizeof begin);
  for (size_t i = 0; i < kPartShards; ++i) {
    const std::vector<RuleCount> entries = state_->shards[part * kPartShards + i]->table.take();
    begin[i + 1] = begin[i] + entries.size();
    append_bytes(out, entries);
  }
  std::memcpy(out.data(), begin.data(), sizeof begin);
  return out;
}

/// Sides in lexicographic order, in the format of merged_rules.h.
void Extractor::State::append_merged(const RuleShard& shard, const std::vector<std::vector<Total>>& target_counts,
                                     MergedShard& head, std::vector<uint8_t>& out) const {
  const auto symbols = [&](size_t side) {
    const uint32_t* p = shard.stream.data() + shard.sides[side].offset;
    return std::span<const int32_t>(reinterpret_cast<const int32_t*>(p + 1), *p);
  };
  std::vector<uint32_t> order(shard.sides.size()), stream;
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, [&](uint32_t a, uint32_t b) { return std::ranges::lexicographical_compare(symbols(a), symbols(b)); });
  std::vector<std::vector<uint64_t>> asked(kTargetParts);
  const size_t width = rule_columns(options.orientations).size();
  for (const uint32_t i : order) {
    const uint32_t* begin = shard.stream.data() + shard.sides[i].offset;
    const uint32_t* end = shard.stream.data() + (i + 1 < shard.sides.size() ? shard.sides[i + 1].offset : shard.stream.size());
    stream.push_back(static_cast<uint32_t>(end - begin) + 2);
    stream.push_back(shard.sides[i].rules);
    stream.insert(stream.end(), begin, end);
    MergedRule rule(begin + 1 + *begin, width);
    for (uint32_t r = 0; r < shard.sides[i].rules; ++r, rule = rule.next())
      asked[part_of(rule.target_hash(), kTargetParts)].push_back(rule.target_hash());
  }
  const uint64_t size = out.size();
  for (size_t t = 0; t < kTargetParts; ++t) {
    head.totals[t] = {out.size(), target_counts[t].size()};
    append_bytes(out, target_counts[t]);
  }
  for (size_t t = 0; t < kTargetParts; ++t) {
    head.asked[t] = {out.size(), asked[t].size()};
    append_bytes(out, asked[t]);
  }
  head.stream = {out.size(), stream.size()};
  append_bytes(out, stream);
  out.resize(size + (out.size() - size + 7) / 8 * 8);
}

std::vector<uint8_t> Extractor::merged(std::span<const std::span<const uint8_t>> taken, int jobs) {
  State& state = *state_;
  if (!state.lexical) state.lexical.emplace(*state.text);
  std::vector<Begins> begins;
  for (const auto& one : taken) begins.push_back(begins_of(one));
  std::array<MergedShard, kPartShards> heads{};
  std::array<std::vector<uint8_t>, kPartShards> parts;
  parallel_for(kPartShards, jobs, [&](size_t i, int) {
    RuleShard shard;
    std::vector<RuleCount> entries;
    for (size_t k = 0; k < taken.size(); ++k) {
      entries.resize(begins[k][i + 1] - begins[k][i]);
      std::memcpy(entries.data(), taken[k].data() + sizeof(Begins) + begins[k][i] * sizeof(RuleCount),
                  entries.size() * sizeof(RuleCount));
      for (const RuleCount& e : entries) add(shard.table, e);
    }
    entries = {};
    std::vector<std::vector<Total>> target_counts(kTargetParts);
    state.merge_shard(shard, target_counts, heads[i].rules);
    state.append_merged(shard, target_counts, heads[i], parts[i]);
  });
  std::vector<uint8_t> out(sizeof heads);
  for (size_t i = 0; i < kPartShards; ++i) {
    heads[i].move(out.size());
    state.rules += heads[i].rules;
    append_bytes(out, parts[i]);
    parts[i] = {};
  }
  std::memcpy(out.data(), heads.data(), sizeof heads);
  return out;
}

}  // namespace hopefear
