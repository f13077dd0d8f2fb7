#include "grammar/extract.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "grammar/extractor_state.h"
#include "util/parallel.h"

namespace hopefear {
namespace {

constexpr size_t kBuffer = 128;  // entries that a thread collects for a shard before it takes the lock
enum Orientation { kLeft, kRight, kNeutral };

}  // namespace

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
  for (int i = 0; i < kShards; ++i) state_->shards.push_back(std::make_unique<RuleShard>());
}

Extractor::~Extractor() = default;

/// All initial phrase pairs of pair n, ordered by (first source word, source words).
void Extractor::State::initial_phrases(size_t n, ExtractionWork& w) const {
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

/// A block is to the right of its predecessor if some phrase ends where it begins on both sides; to the left if some
/// phrase ends before it on the target side and begins after it on the source side; otherwise the two are detached.
int Extractor::State::orientation(const InitialPhrase& p, const ExtractionWork& w, size_t n) const {
  if (p.t == 0) return p.s == 0 ? kRight : kNeutral;
  const size_t columns = text->target(n).size();
  const auto corner = [&](int s) { return w.ends[s * columns + p.t - 1]; };
  if (p.s > 0 && corner(p.s - 1) & 1) return kRight;
  if (p.s_end() < static_cast<int>(text->source(n).size()) && corner(p.s_end()) & 2) return kLeft;
  return kNeutral;
}

template <class Body>
void Extractor::State::extract_pair(size_t n, ExtractionWork& w, Body&& each_phrase) {
  initial_phrases(n, w);
  const int longest = options.max_phrase, symbols = options.max_source_symbols;
  if (options.orientations) {
    const size_t columns = text->target(n).size();
    w.ends.assign(text->source(n).size() * columns, 0);
    for (const InitialPhrase& p : w.phrases) {
      w.ends[(p.s_end() - 1) * columns + p.t_end() - 1] |= 1;
      w.ends[p.s * columns + p.t_end() - 1] |= 2;
    }
  }
  const auto inside = [](const InitialPhrase& q, const InitialPhrase& p) { return q.t >= p.t && q.t_end() <= p.t_end(); };
  const auto place = [&](int s, int words) { return static_cast<size_t>(s) * longest + words - 1; };

  for (const InitialPhrase& p : w.phrases) {
    RuleOccurrence where;
    where.sentence = static_cast<uint32_t>(n);
    where.s = static_cast<uint16_t>(p.s), where.t = static_cast<uint16_t>(p.t);
    where.size = static_cast<uint8_t>(p.s_size << 4 | p.t_size);
    where.set_seen(1);
    where.set_orientation(options.orientations ? orientation(p, w, n) : 0);
    w.occurrences.clear();
    if (p.s_size <= symbols) w.occurrences.push_back(where);
    const auto dig = [&](const InitialPhrase& q, int which) {
      where.hole[which][0] = static_cast<uint8_t>((q.s - p.s) << 4 | q.s_size);
      where.hole[which][1] = static_cast<uint8_t>((q.t - p.t) << 4 | q.t_size);
    };
    const auto fill = [&](int which) { where.hole[which][0] = where.hole[which][1] = 0; };
    for (int s = p.s; options.max_nonterminals >= 1 && s < p.s_end(); ++s) {
      for (int words = options.min_hole; words <= p.s_end() - s; ++words) {
        for (size_t i = w.phrase_begin[place(s, words)]; i < w.phrase_begin[place(s, words) + 1]; ++i) {
          const InitialPhrase& q = w.phrases[i];
          if (!inside(q, p) || p.links == q.links) continue;
          dig(q, 0);
          if (p.s_size - words + 1 <= symbols) w.occurrences.push_back(where);
          if (options.max_nonterminals < 2) continue;
          for (int s2 = s + words + 1; s2 < p.s_end(); ++s2) {
            for (int words2 = std::max(options.min_hole, p.s_size - words + 2 - symbols); words2 <= p.s_end() - s2; ++words2) {
              for (size_t k = w.phrase_begin[place(s2, words2)]; k < w.phrase_begin[place(s2, words2) + 1]; ++k) {
                const InitialPhrase& r = w.phrases[k];
                if (!inside(r, p) || (r.t < q.t_end() && q.t < r.t_end()) || p.links == q.links + r.links) continue;
                dig(r, 1);
                w.occurrences.push_back(where);
              }
            }
          }
          fill(1);
        }
      }
    }
    if (w.occurrences.empty()) continue;
    each_phrase(text->links(n).data() + w.link_begin[p.s]);
  }
}

void Extractor::State::emit(const RuleOccurrence& where, const Link* first, uint64_t weight, ExtractionWork& w) {
  TextRule& rule = w.rule;
  read_rule(*text, where, first, rule);
  const uint64_t hs = source_hash(rule);
  uint64_t h = mix_symbol(mix_symbol(0x1d8e4e27c47d124fULL, hs), target_hash(rule));
  for (const Link link : rule.alignment()) h = mix_symbol(h, static_cast<uint64_t>(link.s << 4 | link.t));
  h = mix_symbol(h, static_cast<uint64_t>(where.orientation()));
  const size_t shard = rule_shard(hs);
  auto& buffer = w.buffers[shard];
  buffer.push_back({h ? h : 1, weight, where});
  if (buffer.size() >= kBuffer) flush(w, shard);
}

void Extractor::State::flush(ExtractionWork& w, size_t index) {
  RuleShard& shard = *shards[index];
  {
    std::lock_guard<std::mutex> lock(shard.mutex);
    for (const RuleCount& e : w.buffers[index]) add(shard.table, e);
  }
  w.buffers[index].clear();
}

void Extractor::run(size_t begin, size_t end, int jobs) {
  State& state = *state_;
  end = std::min(end, state.text->size());
  if (begin >= end) return;
  std::vector<ExtractionWork> work(resolve_jobs(jobs));
  parallel_for(end - begin, jobs, [&](size_t i, int thread) {
    ExtractionWork& w = work[thread];
    state.extract_pair(begin + i, w, [&](const Link* first) {
      const size_t count = w.occurrences.size();
      w.instances += count;
      const uint64_t weight = state.options.fractional ? (kOneCount + count / 2) / count : kOneCount;
      for (const RuleOccurrence& instance : w.occurrences) state.emit(instance, first, weight, w);
    });
  });
  for (ExtractionWork& w : work) {
    for (size_t shard = 0; shard < kShards; ++shard)
      if (!w.buffers[shard].empty()) state.flush(w, shard);
    state.instances += w.instances;
  }
}

void Extractor::each(size_t pair, const std::function<void(const ExtractedRule&)>& body) const {
  ExtractionWork w;
  state_->extract_pair(pair, w, [&](const Link* first) {
    for (const RuleOccurrence& instance : w.occurrences) {
      read_rule(*state_->text, instance, first, w.rule);
      body({w.rule.gamma(), w.rule.alpha(), w.rule.alignment()});
    }
  });
}

size_t Extractor::instances() const { return state_->instances; }
size_t Extractor::rules() const { return state_->rules; }
size_t Extractor::entries() const {
  size_t sum = 0;
  for (const auto& shard : state_->shards) sum += shard->table.size();
  return sum;
}

}  // namespace hopefear
