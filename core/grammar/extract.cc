#include "grammar/extract.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "forest/forest.h"
#include "grammar/lexical.h"
#include "grammar/merged_rules.h"
#include "util/hash_table.h"
#include "util/parallel.h"
#include "util/parallel_sort.h"

namespace hopefear {
namespace {

constexpr int kMaxSymbols = 15;  // positions are nibbles
constexpr size_t kBuffer = 128;  // entries that a thread collects for a shard before it takes the lock
enum Orientation { kLeft, kRight, kNeutral };

uint64_t mix(uint64_t h, uint64_t x) {
  h = (h ^ x) * 0x9fb21c651e98df25ULL;
  return h ^ (h >> 28);
}

/// An initial phrase pair of one sentence pair.
struct Phrase {
  int s, s_size, t, t_size, links;
  int s_end() const { return s + s_size; }
  int t_end() const { return t + t_size; }
};

/// One place of the text where a rule is seen: a phrase, up to two holes in it (in source order), and small change.
struct Where {
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
static_assert(sizeof(Where) == 16);

/// A rule read off the text.
struct Rule {
  int n, m, link_count;
  std::array<int32_t, kMaxSymbols> source, target;
  std::array<Link, kMaxSymbols * kMaxSymbols> links;

  std::span<const int32_t> gamma() const { return {source.data(), static_cast<size_t>(n)}; }
  std::span<const int32_t> alpha() const { return {target.data(), static_cast<size_t>(m)}; }
  std::span<const Link> alignment() const { return {links.data(), static_cast<size_t>(link_count)}; }
};

void read_source(const ParallelText& text, const Where& w, Rule& rule, uint8_t* place = nullptr) {
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

void read_target(const ParallelText& text, const Where& w, Rule& rule, uint8_t* place = nullptr) {
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

/// Both sides, and the links between the words that are left, which `first` (the phrase's first link) leads to.
void read_rule(const ParallelText& text, const Where& w, const Link* first, Rule& rule) {
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

void read_rule(const ParallelText& text, const Where& w, Rule& rule) {
  const auto links = text.links(w.sentence);
  const Link* first = std::lower_bound(links.data(), links.data() + links.size(), Link{w.s, 0});
  read_rule(text, w, first, rule);
}

uint64_t hash_of(std::span<const int32_t> symbols, uint64_t seed) {
  uint64_t h = seed;
  for (int32_t symbol : symbols) h = mix(h, static_cast<uint32_t>(symbol));
  h = mix(h, symbols.size());
  return h ? h : 1;  // 0 marks an empty cell
}
uint64_t source_hash(const Rule& rule) { return hash_of(rule.gamma(), 0x8ebc6af09c88c6e3ULL); }
uint64_t target_hash(const Rule& rule) { return hash_of(rule.alpha(), 0x589965cc75374cc3ULL); }
size_t shard_of(uint64_t source_hash) { return part_of(source_hash, kShards); }

/// A distinct (rule, alignment, orientation) and its count.
struct Entry {
  uint64_t hash = 0;
  uint64_t count = 0;
  Where where;
  bool empty() const { return hash == 0; }
};
static_assert(sizeof(Entry) == 32);

/// Entries and totals by hashes that are keys themselves.
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

void add(CountTable<Entry>& table, const Entry& e) {
  const auto [entry, added] = table.insert(e.hash);
  if (added) {
    *entry = e;
  } else {
    entry->count += e.count;
    entry->where.set_seen(entry->where.seen() + e.where.seen());
  }
}

void add(CountTable<Total>& table, uint64_t hash, uint64_t count) {
  Total* total = table.insert(hash).first;
  total->hash = hash;
  total->count += count;
}

// A rule in 32-bit words: source symbols, target symbols | links << 16, the lexical weights, source symbols, target symbols,
// links (two per word).
class Record {
 public:
  explicit Record(const uint32_t* p) : p_(p) {}
  static void append(const Rule& rule, std::pair<double, double> lexical, std::vector<uint32_t>& out) {
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
  std::strong_ordering compare_links(const Record& other) const {
    for (size_t k = 0; k < std::min(links(), other.links()); ++k)
      if (const auto order = link(k) <=> other.link(k); order != 0) return order;
    return links() <=> other.links();
  }
  /// What follows the source symbols of a side in a shard's stream.
  void append_target(std::vector<uint32_t>& out) const {
    out.push_back(p_[2]), out.push_back(p_[3]), out.push_back(p_[1]);
    out.insert(out.end(), p_ + 4 + n(), p_ + 4 + n() + m() + (links() + 1) / 2);
  }

 private:
  static uint32_t packed(const Rule& rule, int k) {
    return k < rule.link_count ? static_cast<uint32_t>(rule.links[k].s << 8 | rule.links[k].t) : 0u;
  }
  const uint32_t* p_;
};

/// A rule of a source side while its shard is merged.
struct Candidate {
  uint64_t target_hash;
  uint64_t count;
  Record record;
  uint32_t seen;
  std::array<uint64_t, 3> orientations;
};

/// One source side with its rules in the shard's stream, and where it sorts.
struct Side {
  uint64_t key[2];  // its first symbols; the rest, if any, is in the stream
  uint32_t offset;  // in the stream
  uint32_t rules;
  uint32_t target_size, links;  // of all its rules
};

// The stream of a shard, in 32-bit words. A side: number of symbols, symbols, then its rules, as in MergedRule.
struct Shard {
  std::mutex mutex;
  CountTable<Entry> table;
  std::vector<uint32_t> stream;
  std::vector<Side> sides;
};

/// What one thread needs for one sentence pair.
struct Work {
  std::vector<int> t_low, t_high, s_low, s_high, link_begin;
  std::vector<Phrase> phrases;
  std::vector<uint32_t> phrase_begin;  // by (first source word, words)
  std::vector<char> ends;              // orientation corners
  std::vector<Where> found;
  std::vector<std::vector<Entry>> buffers{kShards};
  Rule rule;
  size_t instances = 0;
};

}  // namespace

struct Extractor::State {
  std::shared_ptr<const ParallelText> text;
  ExtractOptions options;
  std::optional<LexicalTable> lexical;  // made when rules are scored
  std::vector<std::unique_ptr<Shard>> shards;
  std::array<std::mutex, kShards> total_mutex;
  std::vector<CountTable<Total>> totals{kShards};  // target sides, by the high bits of their hash
  size_t instances = 0, rules = 0;

  void initial_phrases(size_t n, Work& work) const;
  /// each_phrase(first link, rule occurrences in work.found)
  template <class Body>
  void extract_pair(size_t n, Work& work, Body&& each_phrase);
  int orientation(const Phrase& p, const Work& work, size_t n) const;
  void emit(const Where& where, const Link* first, uint64_t weight, Work& work);
  void flush(Work& work, size_t shard);
  void end_part(int jobs);
  void append_merged(const Shard& shard, const std::vector<std::vector<Total>>& target_counts, MergedShard& head,
                     std::vector<uint8_t>& out) const;
  /// Bits of a source symbol in the key of a side.
  int key_bits() const { return std::bit_width(static_cast<uint32_t>(text->source_types()) + 2u); }

  /// An entry of a shard with the hashes of its sides, and where its record begins.
  struct Ref {
    uint64_t source, target;
    uint32_t index, record;
  };
  std::vector<Ref> read_rules(const std::vector<Entry>& entries, std::vector<uint32_t>& records) const;
  using Variants = std::vector<std::pair<uint64_t, Record>>;  // alignments of one rule with their counts
  Candidate joined(std::span<const Ref> refs, const std::vector<Entry>& entries, const std::vector<uint32_t>& records,
                   Variants& variants) const;
  void select(std::vector<Candidate>& group) const;
  void append_side(Shard& shard, const std::vector<Candidate>& group, uint64_t total) const;
  void merge_shard(Shard& shard, std::vector<std::vector<Total>>& target_counts, uint64_t& rules_seen);
};

Extractor::Extractor(std::shared_ptr<const ParallelText> text, ExtractOptions options) : state_(std::make_unique<State>()) {
  if (!text->aligned()) throw InputError("the parallel text has no word alignment yet");
  const auto check = [](const char* name, int value, int low, int high) {
    if (value < low || value > high)
      throw InputError(std::string(name) + ": " + std::to_string(value) + " is not between " + std::to_string(low) + " and " +
                       std::to_string(high));
  };
  check("max_phrase", options.max_phrase, 1, kMaxSymbols);
  check("max_source_symbols", options.max_source_symbols, 1, kMaxSymbols);
  check("max_nonterminals", options.max_nonterminals, 0, 2);
  check("min_hole", options.min_hole, 1, kMaxSymbols);
  check("min_occurrences", options.min_occurrences, 1, 1 << 22);
  check("min_hierarchical", options.min_hierarchical, 1, 1 << 22);
  check("max_options", options.max_options, 0, std::numeric_limits<int>::max());
  if (options.orientations && options.max_nonterminals)
    throw InputError("orientations are counted for phrase pairs only: max_nonterminals must be 0");
  state_->text = std::move(text);
  state_->options = options;
  for (int i = 0; i < kShards; ++i) state_->shards.push_back(std::make_unique<Shard>());
}

Extractor::~Extractor() = default;

/// All initial phrase pairs of pair n, ordered by (first source word, source words).
void Extractor::State::initial_phrases(size_t n, Work& w) const {
  const auto source = text->source(n), target = text->target(n);
  const auto links = text->links(n);
  const int size = static_cast<int>(source.size()), target_size = static_cast<int>(target.size()), longest = options.max_phrase;
  w.t_low.assign(source.size(), target_size), w.t_high.assign(source.size(), -1);
  w.s_low.assign(target.size(), size), w.s_high.assign(target.size(), -1);
  w.link_begin.assign(source.size() + 1, 0);
  for (const Link link : links) {
    w.t_low[link.s] = std::min<int>(w.t_low[link.s], link.t), w.t_high[link.s] = std::max<int>(w.t_high[link.s], link.t);
    w.s_low[link.t] = std::min<int>(w.s_low[link.t], link.s), w.s_high[link.t] = std::max<int>(w.s_high[link.t], link.s);
    ++w.link_begin[link.s + 1u];
  }
  for (size_t s = 0; s < source.size(); ++s) w.link_begin[s + 1] += w.link_begin[s];

  w.phrases.clear();
  w.phrase_begin.clear();
  for (int s = 0; s < size; ++s) {
    int low = target_size, high = -1;
    for (int words = 1; words <= longest; ++words) {
      w.phrase_begin.push_back(static_cast<uint32_t>(w.phrases.size()));
      const int last = s + words - 1;
      if (last >= size) continue;
      const size_t index = last;
      low = std::min(low, w.t_low[index]), high = std::max(high, w.t_high[index]);
      if (high < 0 || high - low >= longest) continue;
      if (options.tight && (w.t_high[s] < 0 || w.t_high[index] < 0)) continue;
      bool consistent = true;
      for (int t = low; t <= high && consistent; ++t) consistent = w.s_high[t] < 0 || (w.s_low[t] >= s && w.s_high[t] <= last);
      if (!consistent) continue;
      const int count = w.link_begin[index + 1] - w.link_begin[s];
      for (int t = low; t >= 0 && high - t < longest; --t) {
        if (t < low && (options.tight || w.s_high[t] >= 0)) break;
        for (int end = high; end < target_size && end - t < longest; ++end) {
          if (end > high && (options.tight || w.s_high[end] >= 0)) break;
          w.phrases.push_back({s, words, t, end - t + 1, count});
        }
      }
    }
  }
  w.phrase_begin.push_back(static_cast<uint32_t>(w.phrases.size()));
}

/// A block stands to the right of its predecessor when some phrase ends where it begins on both sides; to the left when some
/// phrase ends before it on the target side and begins after it on the source side; otherwise the two are detached.
int Extractor::State::orientation(const Phrase& p, const Work& w, size_t n) const {
  if (p.t == 0) return p.s == 0 ? kRight : kNeutral;
  const size_t columns = text->target(n).size();
  const auto corner = [&](int s) { return w.ends[s * columns + p.t - 1]; };
  if (p.s > 0 && corner(p.s - 1) & 1) return kRight;
  if (p.s_end() < static_cast<int>(text->source(n).size()) && corner(p.s_end()) & 2) return kLeft;
  return kNeutral;
}

template <class Body>
void Extractor::State::extract_pair(size_t n, Work& w, Body&& each_phrase) {
  initial_phrases(n, w);
  const int longest = options.max_phrase, symbols = options.max_source_symbols;
  if (options.orientations) {
    const size_t columns = text->target(n).size();
    w.ends.assign(text->source(n).size() * columns, 0);
    for (const Phrase& p : w.phrases) {
      w.ends[(p.s_end() - 1) * columns + p.t_end() - 1] |= 1;
      w.ends[p.s * columns + p.t_end() - 1] |= 2;
    }
  }
  const auto inside = [](const Phrase& q, const Phrase& p) { return q.t >= p.t && q.t_end() <= p.t_end(); };
  const auto place = [&](int s, int words) { return static_cast<size_t>(s) * longest + words - 1; };

  for (const Phrase& p : w.phrases) {
    Where where;
    where.sentence = static_cast<uint32_t>(n);
    where.s = static_cast<uint16_t>(p.s), where.t = static_cast<uint16_t>(p.t);
    where.size = static_cast<uint8_t>(p.s_size << 4 | p.t_size);
    where.set_seen(1);
    where.set_orientation(options.orientations ? orientation(p, w, n) : 0);
    w.found.clear();
    if (p.s_size <= symbols) w.found.push_back(where);
    const auto dig = [&](const Phrase& q, int which) {
      where.hole[which][0] = static_cast<uint8_t>((q.s - p.s) << 4 | q.s_size);
      where.hole[which][1] = static_cast<uint8_t>((q.t - p.t) << 4 | q.t_size);
    };
    const auto fill = [&](int which) { where.hole[which][0] = where.hole[which][1] = 0; };
    for (int s = p.s; options.max_nonterminals >= 1 && s < p.s_end(); ++s) {
      for (int words = options.min_hole; words <= p.s_end() - s; ++words) {
        for (size_t i = w.phrase_begin[place(s, words)]; i < w.phrase_begin[place(s, words) + 1]; ++i) {
          const Phrase& q = w.phrases[i];
          if (!inside(q, p) || p.links == q.links) continue;
          dig(q, 0);
          if (p.s_size - words + 1 <= symbols) w.found.push_back(where);
          if (options.max_nonterminals < 2) continue;
          for (int s2 = s + words + 1; s2 < p.s_end(); ++s2) {
            for (int words2 = std::max(options.min_hole, p.s_size - words + 2 - symbols); words2 <= p.s_end() - s2; ++words2) {
              for (size_t k = w.phrase_begin[place(s2, words2)]; k < w.phrase_begin[place(s2, words2) + 1]; ++k) {
                const Phrase& r = w.phrases[k];
                if (!inside(r, p) || (r.t < q.t_end() && q.t < r.t_end()) || p.links == q.links + r.links) continue;
                dig(r, 1);
                w.found.push_back(where);
              }
            }
          }
          fill(1);
        }
      }
    }
    if (w.found.empty()) continue;
    each_phrase(text->links(n).data() + w.link_begin[p.s]);
  }
}

void Extractor::State::emit(const Where& where, const Link* first, uint64_t weight, Work& w) {
  Rule& rule = w.rule;
  read_rule(*text, where, first, rule);
  const uint64_t hs = source_hash(rule);
  uint64_t h = mix(mix(0x1d8e4e27c47d124fULL, hs), target_hash(rule));
  for (const Link link : rule.alignment()) h = mix(h, static_cast<uint64_t>(link.s << 4 | link.t));
  h = mix(h, static_cast<uint64_t>(where.orientation()));
  const size_t shard = shard_of(hs);
  auto& buffer = w.buffers[shard];
  buffer.push_back({h ? h : 1, weight, where});
  if (buffer.size() >= kBuffer) flush(w, shard);
}

void Extractor::State::flush(Work& w, size_t index) {
  Shard& shard = *shards[index];
  {
    std::lock_guard<std::mutex> lock(shard.mutex);
    for (const Entry& e : w.buffers[index]) add(shard.table, e);
  }
  w.buffers[index].clear();
}

void Extractor::run(size_t begin, size_t end, int jobs) {
  State& state = *state_;
  end = std::min(end, state.text->size());
  if (begin >= end) return;
  std::vector<Work> work(resolve_jobs(jobs));
  parallel_for(end - begin, jobs, [&](size_t i, int thread) {
    Work& w = work[thread];
    state.extract_pair(begin + i, w, [&](const Link* first) {
      const size_t found = w.found.size();
      w.instances += found;
      const uint64_t weight = state.options.fractional ? (kOneCount + found / 2) / found : kOneCount;
      for (const Where& instance : w.found) state.emit(instance, first, weight, w);
    });
  });
  for (Work& w : work) {
    for (size_t shard = 0; shard < kShards; ++shard)
      if (!w.buffers[shard].empty()) state.flush(w, shard);
    state.instances += w.instances;
  }
}

void Extractor::each(size_t pair, const std::function<void(const ExtractedRule&)>& body) const {
  Work w;
  state_->extract_pair(pair, w, [&](const Link* first) {
    for (const Where& instance : w.found) {
      read_rule(*state_->text, instance, first, w.rule);
      body({w.rule.gamma(), w.rule.alpha(), w.rule.alignment()});
    }
  });
}

/// Every rule is read off the text once, here: its two hashes, and its record at refs[i].record of `records`.
std::vector<Extractor::State::Ref> Extractor::State::read_rules(const std::vector<Entry>& entries,
                                                                std::vector<uint32_t>& records) const {
  std::vector<Ref> refs(entries.size());
  Rule rule;
  const size_t ahead = 12;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (i + 2 * ahead < entries.size()) text->prefetch_place(entries[i + 2 * ahead].where.sentence);
    if (i + ahead < entries.size()) {
      const Where& next = entries[i + ahead].where;
      text->prefetch_words(next.sentence, next.s, next.t);
    }
    read_rule(*text, entries[i].where, rule);
    refs[i] = {source_hash(rule), target_hash(rule), static_cast<uint32_t>(i), static_cast<uint32_t>(records.size())};
    Record::append(rule, lexical->weights(rule.gamma(), rule.alpha(), rule.alignment()), records);
    if (records.size() > std::numeric_limits<uint32_t>::max()) throw InputError("too many rules at once. Extract in more parts");
  }
  std::sort(refs.begin(), refs.end(),
            [](const Ref& a, const Ref& b) { return a.source != b.source ? a.source < b.source : a.target < b.target; });
  return refs;
}

/// One rule out of the entries of its alignments: the most frequent one stays. `variants` is reused between calls.
Candidate Extractor::State::joined(std::span<const Ref> refs, const std::vector<Entry>& entries,
                                   const std::vector<uint32_t>& records, Variants& variants) const {
  Candidate rule{refs[0].target, 0, Record(records.data() + refs[0].record), 0, {}};
  variants.clear();
  for (const Ref& ref : refs) {
    const Entry& e = entries[ref.index];
    rule.count += e.count;
    rule.seen =
        static_cast<uint32_t>(std::min<uint64_t>(uint64_t{rule.seen} + e.where.seen(), std::numeric_limits<uint32_t>::max()));
    rule.orientations[e.where.orientation()] += e.count;
    const Record record(records.data() + ref.record);
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

/// Drops the rules of one source side that the options drop; the others stand by falling count.
void Extractor::State::select(std::vector<Candidate>& group) const {
  const auto gamma = group.front().record.gamma();
  const bool hierarchical = std::ranges::find(gamma, kX) != gamma.end();
  const auto least = static_cast<uint32_t>(hierarchical ? options.min_hierarchical : options.min_occurrences);
  std::erase_if(group, [least](const Candidate& g) { return g.seen < least; });
  const auto better = [](const Candidate& a, const Candidate& b) {
    if (a.count != b.count) return a.count > b.count;
    return std::ranges::lexicographical_compare(a.record.alpha(), b.record.alpha());
  };
  if (options.max_options && static_cast<int64_t>(group.size()) > options.max_options) {
    std::nth_element(group.begin(), group.begin() + options.max_options, group.end(), better);
    group.erase(group.begin() + options.max_options, group.end());
  }
  std::sort(group.begin(), group.end(), better);
}

/// Joins the alignments of each rule, adds up target sides, and drops what the options drop.
void Extractor::State::merge_shard(Shard& shard, std::vector<std::vector<Total>>& target_counts, uint64_t& rules_seen) {
  const std::vector<Entry> entries = shard.table.take();
  if (entries.empty()) return;
  std::vector<uint32_t> records;
  const std::vector<Ref> refs = read_rules(entries, records);
  std::vector<Candidate> group;  // the rules of one source side
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
      const Candidate& rule = group.back();
      target_counts[part_of(rule.target_hash, target_counts.size())].push_back({rule.target_hash, rule.count});
      j = k;
    }
    select(group);
    if (!group.empty()) append_side(shard, group, total);
  }
}

void Extractor::State::append_side(Shard& shard, const std::vector<Candidate>& group, uint64_t total) const {
  std::vector<uint32_t>& out = shard.stream;
  const auto gamma = group.front().record.gamma();
  Side side{{0, 0}, static_cast<uint32_t>(out.size()), static_cast<uint32_t>(group.size()), 0, 0};
  const int bits = key_bits();
  for (size_t k = 0, in_word = 64 / bits; k < 2 * in_word; ++k)
    side.key[k / in_word] = side.key[k / in_word] << bits | (k < gamma.size() ? static_cast<uint64_t>(gamma[k] + 2) : 0);
  out.push_back(static_cast<uint32_t>(gamma.size()));
  for (int32_t symbol : gamma) out.push_back(static_cast<uint32_t>(symbol));
  const auto push_float = [&out](double value) { out.push_back(std::bit_cast<uint32_t>(static_cast<float>(value))); };
  for (const Candidate& kept : group) {
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

namespace {

/// The streams of all shards as one table.
class TableWriter {
 public:
  TableWriter(const std::vector<std::unique_ptr<Shard>>& shards, const std::vector<CountTable<Total>>& totals,
              const ParallelText& text, bool orientations)
      : totals_(totals) {
    size_t count = 0;
    for (const auto& shard : shards) count += shard->sides.size();
    sides_.reserve(count);
    for (const auto& shard : shards)
      for (const Side& side : shard->sides)
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
        each_rule(i, [&](size_t, const MergedRule& rule) { totals_[shard_of(rule.target_hash())].prefetch(rule.target_hash()); });
      for (size_t i = begin; i < end; ++i) write_side(i);
    });
    return std::move(table_);
  }

 private:
  static constexpr size_t kBlock = 32;  // sides that are written together, so that memory is fetched before it is needed
  struct Ref {
    uint64_t key[2];
    const uint32_t* stream;
    const Side* side;
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
    const size_t ahead = 16;  // sides that are fetched before they are needed: their order is not that of memory
    for (size_t i = 0; i < count; ++i) {
      if (i + ahead < count) {
        __builtin_prefetch(sides_[i + ahead].side);
        __builtin_prefetch(sides_[i + ahead].stream);
      }
      const Side& side = *sides_[i].side;
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
                totals_[shard_of(rule.target_hash())].find(rule.target_hash()).count);
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
  for (int i = 0; i < kShards; ++i) state.shards.push_back(std::make_unique<Shard>());
  return table;
}

namespace {

constexpr size_t kPartShards = kShards / Extractor::kParts;

template <class T>
void append_bytes(std::vector<uint8_t>& out, const std::vector<T>& values) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
  out.insert(out.end(), bytes, bytes + values.size() * sizeof(T));
}

/// What take() gives: where the entries of each shard begin, then the entries.
using Begins = std::array<uint64_t, kPartShards + 1>;

Begins begins_of(std::span<const uint8_t> taken) {
  Begins begin{};
  if (taken.size() >= sizeof begin) std::memcpy(begin.data(), taken.data(), sizeof begin);
  if (taken.size() < sizeof begin || !std::is_sorted(begin.begin(), begin.end()) ||
      taken.size() != sizeof begin + begin.back() * sizeof(Entry))
    throw InputError("a part of the extracted rules is cut off or damaged. Is the disk full? Build again");
  return begin;
}

}  // namespace

std::vector<uint8_t> Extractor::take(int part) {
  if (part < 0 || part >= kParts) throw InputError("there are " + std::to_string(kParts) + " parts, counted from 0");
  Begins begin{};
  std::vector<uint8_t> out(sizeof begin);
  for (size_t i = 0; i < kPartShards; ++i) {
    const std::vector<Entry> entries = state_->shards[part * kPartShards + i]->table.take();
    begin[i + 1] = begin[i] + entries.size();
    append_bytes(out, entries);
  }
  std::memcpy(out.data(), begin.data(), sizeof begin);
  return out;
}

/// Sides in lexicographic order, as merged_rules.h says.
void Extractor::State::append_merged(const Shard& shard, const std::vector<std::vector<Total>>& target_counts, MergedShard& head,
                                     std::vector<uint8_t>& out) const {
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
    Shard shard;
    std::vector<Entry> entries;
    for (size_t k = 0; k < taken.size(); ++k) {
      entries.resize(begins[k][i + 1] - begins[k][i]);
      std::memcpy(entries.data(), taken[k].data() + sizeof(Begins) + begins[k][i] * sizeof(Entry),
                  entries.size() * sizeof(Entry));
      for (const Entry& e : entries) add(shard.table, e);
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

size_t Extractor::instances() const { return state_->instances; }
size_t Extractor::rules() const { return state_->rules; }
size_t Extractor::entries() const {
  size_t sum = 0;
  for (const auto& shard : state_->shards) sum += shard->table.size();
  return sum;
}

}  // namespace hopefear
