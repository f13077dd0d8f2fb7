// The place of a rule in the text, in 16 bytes, and the rule that is read from there.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "forest/forest.h"
#include "grammar/merged_rules.h"
#include "grammar/parallel_text.h"

namespace hopefear {

inline constexpr int kMaxSymbols = 15;  // positions are nibbles

/// An occurrence of a rule in the text: a phrase, up to two holes in it (in source order), and a few flags.
struct RuleOccurrence {
  uint32_t sentence = 0;
  uint16_t s = 0, t = 0;
  uint8_t size = 0;         // source words << 4 | target words
  uint8_t hole[2][2] = {};  // source and target: offset << 4 | words; no words, no hole
  uint8_t extra[3] = {};

  int s_size() const { return size >> 4; }
  int t_size() const { return size & 15; }
  int holes() const { return (hole[0][0] != 0) + (hole[1][0] != 0); }
  int target_symbols() const { return t_size() - (hole[0][1] & 15) - (hole[1][1] & 15) + holes(); }

  // in entries of the tables: how often seen (saturated at 2^22-1), and the orientation
  uint32_t seen() const { return extra[0] | extra[1] << 8 | (extra[2] & 63) << 16; }
  void set_seen(uint32_t n) {
    n = std::min(n, (1u << 22) - 1);
    extra[0] = static_cast<uint8_t>(n), extra[1] = static_cast<uint8_t>(n >> 8);
    extra[2] = static_cast<uint8_t>((extra[2] & 192) | n >> 16);
  }
  int orientation() const { return extra[2] >> 6; }
  void set_orientation(int o) { extra[2] = static_cast<uint8_t>((extra[2] & 63) | o << 6); }
};
static_assert(sizeof(RuleOccurrence) == 16);

/// A rule read from the text.
struct TextRule {
  int n, m, link_count;
  std::array<int32_t, kMaxSymbols> source, target;
  std::array<Link, kMaxSymbols * kMaxSymbols> links;

  std::span<const int32_t> gamma() const { return {source.data(), static_cast<size_t>(n)}; }
  std::span<const int32_t> alpha() const { return {target.data(), static_cast<size_t>(m)}; }
  std::span<const Link> alignment() const { return {links.data(), static_cast<size_t>(link_count)}; }
};

inline void read_source(const ParallelText& text, const RuleOccurrence& w, TextRule& rule, uint8_t* place = nullptr) {
  const int32_t* words = text.source(w.sentence).data() + w.s;
  rule.n = 0;
  for (int k = 0, hole = 0; k < w.s_size();) {
    if (hole < 2 && w.hole[hole][0] && w.hole[hole][0] >> 4 == k) {
      if (place) std::fill_n(place + k, w.hole[hole][0] & 15, uint8_t{255});
      k += w.hole[hole++][0] & 15;
      rule.source[rule.n++] = kX;
    } else {
      if (place) place[k] = static_cast<uint8_t>(rule.n);
      rule.source[rule.n++] = words[k++];
    }
  }
}

inline void read_target(const ParallelText& text, const RuleOccurrence& w, TextRule& rule, uint8_t* place = nullptr) {
  const int32_t* words = text.target(w.sentence).data() + w.t;
  rule.m = 0;
  for (int k = 0; k < w.t_size();) {
    int hole = 0;
    while (hole < 2 && !((w.hole[hole][1] & 15) && w.hole[hole][1] >> 4 == k)) ++hole;
    if (hole < 2) {
      k += w.hole[hole][1] & 15;
      rule.target[rule.m++] = slot(hole);
    } else {
      if (place) place[k] = static_cast<uint8_t>(rule.m);
      rule.target[rule.m++] = words[k++];
    }
  }
}

/// Both sides, and the links between the remaining words; `first` is the phrase's first link.
inline void read_rule(const ParallelText& text, const RuleOccurrence& w, const Link* first, TextRule& rule) {
  uint8_t s_place[kMaxSymbols + 1], t_place[kMaxSymbols + 1];
  read_source(text, w, rule, s_place);
  read_target(text, w, rule, t_place);
  const auto links = text.links(w.sentence);
  const Link* end = links.data() + links.size();
  rule.link_count = 0;
  for (const Link* link = first; link < end && link->s < w.s + w.s_size(); ++link) {
    const uint8_t s = s_place[link->s - w.s];
    if (s == 255) continue;
    rule.links[rule.link_count++] = {s, t_place[link->t - w.t]};
  }
}

inline void read_rule(const ParallelText& text, const RuleOccurrence& w, TextRule& rule) {
  const auto links = text.links(w.sentence);
  const Link* first = std::lower_bound(links.data(), links.data() + links.size(), Link{w.s, 0});
  read_rule(text, w, first, rule);
}

inline uint64_t mix_symbol(uint64_t h, uint64_t x) {
  h = (h ^ x) * 0x9fb21c651e98df25ULL;
  return h ^ (h >> 28);
}

inline uint64_t hash_of_symbols(std::span<const int32_t> symbols, uint64_t seed) {
  uint64_t h = seed;
  for (int32_t symbol : symbols) h = mix_symbol(h, static_cast<uint32_t>(symbol));
  h = mix_symbol(h, symbols.size());
  return h ? h : 1;  // 0 marks an empty cell
}
inline uint64_t source_hash(const TextRule& rule) { return hash_of_symbols(rule.gamma(), 0x8ebc6af09c88c6e3ULL); }
inline uint64_t target_hash(const TextRule& rule) { return hash_of_symbols(rule.alpha(), 0x589965cc75374cc3ULL); }
inline size_t rule_shard(uint64_t source_hash) { return part_of(source_hash, kShards); }

}  // namespace hopefear
