#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "grammar/extractor_state.h"
#include "util/parallel.h"

namespace hopefear {

/// Every rule is read from the text once, here: its two hashes, and its record at refs[i].record of `records`.
std::vector<Extractor::State::Ref> Extractor::State::read_rules(const std::vector<RuleCount>& entries,
                                                                std::vector<uint32_t>& records) const {
  std::vector<Ref> refs(entries.size());
  TextRule rule;
  const size_t ahead = 12;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (i + 2 * ahead < entries.size()) text->prefetch_place(entries[i + 2 * ahead].where.sentence);
    if (i + ahead < entries.size()) {
      const RuleOccurrence& next = entries[i + ahead].where;
      text->prefetch_words(next.sentence, next.s, next.t);
    }
    read_rule(*text, entries[i].where, rule);
    refs[i] = {source_hash(rule), target_hash(rule), static_cast<uint32_t>(i), static_cast<uint32_t>(records.size())};
    RuleRecord::append(rule, lexical->weights(rule.gamma(), rule.alpha(), rule.alignment()), records);
    if (records.size() > std::numeric_limits<uint32_t>::max()) throw InputError("too many rules at once. Extract in more parts");
  }
  std::sort(refs.begin(), refs.end(),
            [](const Ref& a, const Ref& b) { return a.source != b.source ? a.source < b.source : a.target < b.target; });
  return refs;
}

/// A rule from the entries of its alignments, of which the most frequent stays. `variants` is reused between calls.
RuleCandidate Extractor::State::joined(std::span<const Ref> refs, const std::vector<RuleCount>& entries,
                                       const std::vector<uint32_t>& records, Variants& variants) const {
  RuleCandidate rule{refs[0].target, 0, RuleRecord(records.data() + refs[0].record), 0, {}};
  variants.clear();
  for (const Ref& ref : refs) {
    const RuleCount& e = entries[ref.index];
    rule.count += e.count;
    rule.seen =
        static_cast<uint32_t>(std::min<uint64_t>(uint64_t{rule.seen} + e.where.seen(), std::numeric_limits<uint32_t>::max()));
    rule.orientations[e.where.orientation()] += e.count;
    const RuleRecord record(records.data() + ref.record);
    const auto known =
        std::find_if(variants.begin(), variants.end(), [&](const auto& v) { return v.second.compare_links(record) == 0; });
    if (known != variants.end())
      known->first += e.count;
    else
      variants.push_back({e.count, record});
  }
  rule.record = std::max_element(variants.begin(), variants.end(), [](const auto& a, const auto& b) {
                  return a.first != b.first ? a.first < b.first : b.second.compare_links(a.second) < 0;
                })->second;
  return rule;
}

/// Applies the limits of the options to the rules of one source side and sorts the rest by descending count.
void Extractor::State::select(std::vector<RuleCandidate>& group) const {
  const auto gamma = group.front().record.gamma();
  const bool hierarchical = std::ranges::find(gamma, kX) != gamma.end();
  const auto least = static_cast<uint32_t>(hierarchical ? options.min_hierarchical : options.min_occurrences);
  std::erase_if(group, [least](const RuleCandidate& g) { return g.seen < least; });
  const auto better = [](const RuleCandidate& a, const RuleCandidate& b) {
    if (a.count != b.count) return a.count > b.count;
    return std::ranges::lexicographical_compare(a.record.alpha(), b.record.alpha());
  };
  if (options.max_options && static_cast<int64_t>(group.size()) > options.max_options) {
    std::nth_element(group.begin(), group.begin() + options.max_options, group.end(), better);
    group.erase(group.begin() + options.max_options, group.end());
  }
  std::sort(group.begin(), group.end(), better);
}

/// Joins the alignments of each rule, adds up target sides, and applies the limits of the options.
void Extractor::State::merge_shard(RuleShard& shard, std::vector<std::vector<Total>>& target_counts, uint64_t& rules_seen) {
  const std::vector<RuleCount> entries = shard.table.take();
  if (entries.empty()) return;
  std::vector<uint32_t> records;
  const std::vector<Ref> refs = read_rules(entries, records);
  std::vector<RuleCandidate> group;  // the rules of one source side
  Variants variants;
  for (size_t i = 0, j; i < refs.size(); i = j) {
    group.clear();
    uint64_t total = 0;
    for (j = i; j < refs.size() && refs[j].source == refs[i].source;) {
      size_t k = j;
      while (k < refs.size() && refs[k].source == refs[j].source && refs[k].target == refs[j].target) ++k;
      group.push_back(joined(std::span(refs).subspan(j, k - j), entries, records, variants));
      ++rules_seen;
      total += group.back().count;
      const RuleCandidate& rule = group.back();
      target_counts[part_of(rule.target_hash, target_counts.size())].push_back({rule.target_hash, rule.count});
      j = k;
    }
    select(group);
    if (!group.empty()) append_side(shard, group, total);
  }
}

void Extractor::State::append_side(RuleShard& shard, const std::vector<RuleCandidate>& group, uint64_t total) const {
  std::vector<uint32_t>& out = shard.stream;
  const auto gamma = group.front().record.gamma();
  SourceSide side{{0, 0}, static_cast<uint32_t>(out.size()), static_cast<uint32_t>(group.size()), 0, 0};
  const int bits = key_bits();
  for (size_t k = 0, in_word = 64 / bits; k < 2 * in_word; ++k)
    side.key[k / in_word] = side.key[k / in_word] << bits | (k < gamma.size() ? static_cast<uint64_t>(gamma[k] + 2) : 0);
  out.push_back(static_cast<uint32_t>(gamma.size()));
  for (int32_t symbol : gamma) out.push_back(static_cast<uint32_t>(symbol));
  const auto push_float = [&out](double value) { out.push_back(std::bit_cast<uint32_t>(static_cast<float>(value))); };
  for (const RuleCandidate& kept : group) {
    out.push_back(static_cast<uint32_t>(kept.target_hash >> 32)), out.push_back(static_cast<uint32_t>(kept.target_hash));
    out.push_back(static_cast<uint32_t>(kept.count >> 32)), out.push_back(static_cast<uint32_t>(kept.count));
    push_float(std::log(static_cast<double>(kept.count) / static_cast<double>(total)));
    for (size_t o = 0; options.orientations && o < 3; ++o) push_float(as_count(kept.orientations[o]));
    kept.record.append_target(out);
    side.target_size += static_cast<uint32_t>(kept.record.m());
    side.links += static_cast<uint32_t>(kept.record.links());
  }
  if (out.size() > std::numeric_limits<uint32_t>::max())
    throw InputError("too many rules. Drop rare rules (min_hierarchical, max_options)");
  shard.sides.push_back(side);
}

void Extractor::State::end_part(int jobs) {
  if (!lexical) lexical.emplace(*text);
  using Counts = std::vector<std::vector<Total>>;
  std::vector<Counts> counts(resolve_jobs(jobs), Counts(kShards));
  std::vector<uint64_t> seen(kShards);
  parallel_for(kShards, jobs, [&](size_t i, int thread) {
    Counts& mine = counts[thread];
    merge_shard(*shards[i], mine, seen[i]);
    for (size_t t = 0; t < kShards; ++t) {
      if (mine[t].empty()) continue;
      std::lock_guard<std::mutex> lock(total_mutex[t]);
      for (const auto& [hash, count] : mine[t]) add(totals[t], hash, count);
      mine[t].clear();
    }
  });
  for (uint64_t n : seen) rules += n;
}

}  // namespace hopefear
