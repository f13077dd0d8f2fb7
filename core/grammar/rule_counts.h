// Counts of rules during extraction: tables of occurrences, split into shards by the hash of the source side.
#pragma once
#include <array>
#include <bit>
#include <compare>
#include <cstdint>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "grammar/text_rule.h"
#include "util/hash_table.h"

namespace hopefear {

/// A distinct (rule, alignment, orientation) and its count.
struct RuleCount {
  uint64_t hash = 0;
  uint64_t count = 0;
  RuleOccurrence where;
  bool empty() const { return hash == 0; }
};
static_assert(sizeof(RuleCount) == 32);

/// Entries or totals in a hash table whose keys are hashes.
template <class Slot>
class CountTable : public HashTable<Slot, 5> {
 public:
  const Slot& find(uint64_t hash) const { return Base::find(hash, is(hash)); }
  std::pair<Slot*, bool> insert(uint64_t hash) {
    return Base::insert(hash, is(hash), [](const Slot& slot) { return slot.hash; });
  }

 private:
  using Base = HashTable<Slot, 5>;
  static auto is(uint64_t hash) {
    return [hash](const Slot& slot) { return slot.hash == hash; };
  }
};

inline void add(CountTable<RuleCount>& table, const RuleCount& e) {
  const auto [entry, added] = table.insert(e.hash);
  if (added) {
    *entry = e;
  } else {
    entry->count += e.count;
    entry->where.set_seen(entry->where.seen() + e.where.seen());
  }
}

inline void add(CountTable<Total>& table, uint64_t hash, uint64_t count) {
  Total* total = table.insert(hash).first;
  total->hash = hash;
  total->count += count;
}

// A rule in 32-bit words: source symbols, target symbols | links << 16, the lexical weights, source symbols, target symbols,
// links (two per word).
class RuleRecord {
 public:
  explicit RuleRecord(const uint32_t* p) : p_(p) {}
  static void append(const TextRule& rule, std::pair<double, double> lexical, std::vector<uint32_t>& out) {
    out.push_back(static_cast<uint32_t>(rule.n));
    out.push_back(static_cast<uint32_t>(rule.m | rule.link_count << 16));
    out.push_back(std::bit_cast<uint32_t>(static_cast<float>(lexical.first)));
    out.push_back(std::bit_cast<uint32_t>(static_cast<float>(lexical.second)));
    for (int32_t symbol : rule.gamma()) out.push_back(static_cast<uint32_t>(symbol));
    for (int32_t symbol : rule.alpha()) out.push_back(static_cast<uint32_t>(symbol));
    for (int k = 0; k < rule.link_count; k += 2) out.push_back(packed(rule, k) | packed(rule, k + 1) << 16);
  }
  size_t n() const { return p_[0]; }
  size_t m() const { return p_[1] & 0xffff; }
  size_t links() const { return p_[1] >> 16; }
  std::span<const int32_t> gamma() const { return {reinterpret_cast<const int32_t*>(p_ + 4), n()}; }
  std::span<const int32_t> alpha() const { return {reinterpret_cast<const int32_t*>(p_ + 4 + n()), m()}; }
  Link link(size_t k) const {
    const uint32_t pair = p_[4 + n() + m() + k / 2] >> (16 * (k % 2)) & 0xffff;
    return {static_cast<uint16_t>(pair >> 8), static_cast<uint16_t>(pair & 0xff)};
  }
  std::strong_ordering compare_links(const RuleRecord& other) const {
    for (size_t k = 0; k < std::min(links(), other.links()); ++k)
      if (const auto order = link(k) <=> other.link(k); order != 0) return order;
    return links() <=> other.links();
  }
  /// The rules of a side in a shard's stream, after its source symbols.
  void append_target(std::vector<uint32_t>& out) const {
    out.push_back(p_[2]), out.push_back(p_[3]), out.push_back(p_[1]);
    out.insert(out.end(), p_ + 4 + n(), p_ + 4 + n() + m() + (links() + 1) / 2);
  }

 private:
  static uint32_t packed(const TextRule& rule, int k) {
    return k < rule.link_count ? static_cast<uint32_t>(rule.links[k].s << 8 | rule.links[k].t) : 0u;
  }
  const uint32_t* p_;
};

/// A rule of a source side while its shard is merged.
struct RuleCandidate {
  uint64_t target_hash;
  uint64_t count;
  RuleRecord record;
  uint32_t seen;
  std::array<uint64_t, 3> orientations;
};

/// A source side with its rules in the shard's stream, and its sort key.
struct SourceSide {
  uint64_t key[2];  // its first symbols; the rest, if any, is in the stream
  uint32_t offset;  // in the stream
  uint32_t rules;
  uint32_t target_size, links;  // of all its rules
};

// The stream of a shard, in 32-bit words. A side: number of symbols, symbols, then its rules, as in MergedRule.
struct RuleShard {
  std::mutex mutex;
  CountTable<RuleCount> table;
  std::vector<uint32_t> stream;
  std::vector<SourceSide> sides;
};

}  // namespace hopefear
