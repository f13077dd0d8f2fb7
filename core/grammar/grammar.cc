#include "grammar/grammar.h"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <unordered_set>
#include <utility>

#include "forest/forest.h"
#include "grammar/grammar_file.h"
#include "util/checksum.h"
#include "util/parallel.h"
#include "util/text.h"

namespace hopefear {
namespace {

template <class T>
std::span<const std::byte> as_bytes(const std::vector<T>& values) {
  return std::as_bytes(std::span<const T>(values));
}

/// Source sides level by level: each node holds the range of sides that begin with its symbols.
struct Trie {
  std::vector<uint32_t> child_begin, first_side{0};
  std::vector<int32_t> symbol{0};

  explicit Trie(const RuleTable& table) {
    std::vector<uint32_t> side_end{static_cast<uint32_t>(table.sides())};
    size_t level_end = 1, depth = 0;
    for (size_t n = 0; n < symbol.size(); ++n) {
      if (n == level_end) level_end = symbol.size(), ++depth;
      child_begin.push_back(static_cast<uint32_t>(symbol.size()));
      const uint32_t end = side_end[n];
      uint32_t i = first_side[n];
      if (i < end && table.source_of(i).size() == depth) ++i;  // the node's own side
      while (i < end) {
        const int32_t next = table.source_of(i)[depth];
        uint32_t j = i + 1;
        while (j < end && table.source_of(j)[depth] == next) ++j;
        symbol.push_back(next);
        first_side.push_back(i);
        side_end.push_back(j);
        i = j;
      }
      if (symbol.size() > std::numeric_limits<uint32_t>::max())
        throw InputError("the grammar has more than 2^32 source prefixes");
    }
    child_begin.push_back(static_cast<uint32_t>(symbol.size()));
  }
};

/// A file in memory: header, table and sections.
std::shared_ptr<MemoryMap> lay_out(const std::array<std::span<const std::byte>, kSections>& sections, int jobs) {
  GrammarTable table;
  for (size_t i = 0; i < kSections; ++i) table.place(i, sections[i].size());
  auto memory = MemoryMap::anonymous(table.size());
  parallel_for(kSections, jobs, [&](size_t i, int) {
    SectionEntry& entry = table.entries[i];
    if (!sections[i].empty()) std::memcpy(memory->data() + entry.offset, sections[i].data(), sections[i].size());
    entry.checksum = checksum(sections[i]);
  });
  const auto bytes = table.bytes();
  std::memcpy(memory->data(), bytes.data(), bytes.size());
  return memory;
}

/// The sections of a file, all of which are inside it. Throws InputError for a damaged header or table.
class Sections {
 public:
  Sections(const MemoryMap& memory, const std::string& name) : data_(memory.data()), name_(name) {
    if (memory.size() < kTableSize || std::memcmp(data_, kMagic, sizeof kMagic) != 0)
      throw input_error(name, 0, "not a grammar of hopefear, or cut short. Build the model again");
    GrammarHeader header;
    std::memcpy(&header, data_, sizeof header);
    if (header.byte_order != kByteOrder)
      throw input_error(name, 0, "written on a machine with another byte order. Build the model here");
    if (header.version != Grammar::kVersion)
      throw input_error(name, 0,
                        "a grammar of version " + std::to_string(header.version) + ", this hopefear reads version " +
                            std::to_string(Grammar::kVersion) + ". Build the model again");
    if (header.sections != kSections || header.checksum != table_checksum(data_))
      throw input_error(name, 0, "the header is damaged. Copy the model again, or build it again");
    if (header.size != memory.size())
      throw input_error(name, 0,
                        "has " + std::to_string(memory.size()) + " bytes instead of " + std::to_string(header.size) +
                            ". Was it cut off? Copy the model again, or build it again");
    std::memcpy(entries_.data(), data_ + sizeof header, sizeof entries_);
    for (size_t i = 0; i < kSections; ++i) {
      const SectionEntry& e = entries_[i];
      if (e.offset % kAlign || e.offset > memory.size() || e.size > memory.size() - e.offset) throw damaged(i);
    }
  }

  InputError damaged(size_t i) const {
    return input_error(name_, 0,
                       std::string("section ") + kSectionNames[i] + " is damaged. Copy the model again, or build it again");
  }
  void verify_checksums(int jobs) const {
    std::array<char, kSections> bad{};
    parallel_for(kSections, jobs, [&](size_t i, int) {
      bad[i] = checksum({data_ + entries_[i].offset, entries_[i].size}) != entries_[i].checksum;
    });
    for (size_t i = 0; i < kSections; ++i)
      if (bad[i]) throw damaged(i);
  }
  template <class T>
  void attach(std::span<const T>& view, Section i) const {
    if (entries_[i].size % sizeof(T)) throw damaged(i);
    view = {reinterpret_cast<const T*>(data_ + entries_[i].offset), entries_[i].size / sizeof(T)};
  }
  /// Offsets from 0 to `end`; does not check that they are ascending.
  void check_offsets(std::span<const uint32_t> begin, size_t end, Section i) const {
    if (begin.empty() || begin.front() != 0 || begin.back() != end) throw damaged(i);
  }
  std::vector<std::string> lines(Section i) const {
    std::span<const char> text;
    attach(text, i);
    std::vector<std::string> lines;
    for (const char *p = text.data(), *end = p + text.size(); p < end;) {
      const char* stop = std::find(p, end, '\n');
      lines.emplace_back(p, stop);
      p = stop + 1;
    }
    return lines;
  }
  std::shared_ptr<Vocab> vocab(Section offsets, Section bytes) const {
    std::span<const uint32_t> begin;
    std::span<const char> text;
    attach(begin, offsets), attach(text, bytes);
    check_offsets(begin, text.size(), offsets);
    auto vocab = std::make_shared<Vocab>();
    for (size_t w = 0; w + 1 < begin.size(); ++w) {
      if (begin[w + 1] < begin[w] || begin[w + 1] > text.size()) throw damaged(offsets);
      if (vocab->add({text.data() + begin[w], begin[w + 1] - begin[w]}) != static_cast<int32_t>(w))
        throw damaged(offsets);  // the same word twice
    }
    return vocab;
  }

 private:
  const std::byte* data_;
  const std::string& name_;
  std::array<SectionEntry, kSections> entries_;
};

/// "de [X,1]"; nonterminals of a source side are numbered in their order, those of a target side have their numbers.
std::string symbols_text(std::span<const int32_t> symbols, const Vocab& vocab, bool target) {
  std::string text;
  int number = 0;
  for (int32_t symbol : symbols) {
    if (!text.empty()) text += ' ';
    if (symbol < 0)
      text += "[X," + std::to_string(target ? slot_tail(symbol) + 1 : ++number) + "]";
    else
      text += vocab[symbol];
  }
  return text;
}

}  // namespace

std::shared_ptr<Grammar> Grammar::build(const RuleTable& table, int jobs) {
  const Trie trie(table);
  std::string names, source_text, target_text;
  for (const auto& name : table.names) names += name + "\n";
  std::vector<uint32_t> source_begin, target_begin;
  pack_words(*table.source_vocab, source_begin, source_text);
  pack_words(*table.target_vocab, target_begin, target_text);
  std::vector<PackedLink> links;
  links.reserve(table.links.size());
  for (const Link link : table.links) links.push_back({static_cast<uint8_t>(link.s), static_cast<uint8_t>(link.t)});
  std::array<std::span<const std::byte>, kSections> sections;
  sections[kNames] = std::as_bytes(std::span(names));
  sections[kSourceBegin] = as_bytes(source_begin);
  sections[kSourceText] = std::as_bytes(std::span(source_text));
  sections[kTargetBegin] = as_bytes(target_begin);
  sections[kTargetText] = std::as_bytes(std::span(target_text));
  sections[kChildBegin] = as_bytes(trie.child_begin);
  sections[kSymbol] = as_bytes(trie.symbol);
  sections[kFirstSide] = as_bytes(trie.first_side);
  sections[kRuleBegin] = as_bytes(table.rule_begin);
  sections[kRuleTarget] = as_bytes(table.target_begin);
  sections[kSymbols] = as_bytes(table.target);
  sections[kRuleLinks] = as_bytes(table.link_begin);
  sections[kLinks] = as_bytes(links);
  sections[kColumns] = as_bytes(table.columns);
  return attach(lay_out(sections, jobs), "grammar", false, jobs);
}

std::shared_ptr<Grammar> Grammar::open(const std::string& path, bool verify, int jobs) {
  return attach(MemoryMap::file(path), path, verify, jobs);
}

std::shared_ptr<Grammar> Grammar::attach(std::shared_ptr<MemoryMap> memory, const std::string& name, bool verify, int jobs) {
  const Sections sections(*memory, name);
  if (verify) sections.verify_checksums(jobs);
  std::shared_ptr<Grammar> grammar(new Grammar);
  Grammar& g = *grammar;
  g.names_ = sections.lines(kNames);
  sections.attach(g.child_begin_, kChildBegin);
  sections.attach(g.symbol_, kSymbol);
  sections.attach(g.first_side_, kFirstSide);
  sections.attach(g.rule_begin_, kRuleBegin);
  sections.attach(g.target_begin_, kRuleTarget);
  sections.attach(g.target_, kSymbols);
  sections.attach(g.link_begin_, kRuleLinks);
  sections.attach(g.links_, kLinks);
  sections.attach(g.columns_, kColumns);
  const size_t nodes = g.symbol_.size();
  if (nodes == 0 || g.child_begin_.size() != nodes + 1) throw sections.damaged(kChildBegin);
  if (g.first_side_.size() != nodes) throw sections.damaged(kFirstSide);
  if (g.target_begin_.empty()) throw sections.damaged(kRuleTarget);
  sections.check_offsets(g.rule_begin_, g.target_begin_.size() - 1, kRuleBegin);
  sections.check_offsets(g.target_begin_, g.target_.size(), kRuleTarget);
  sections.check_offsets(g.link_begin_, g.links_.size(), kRuleLinks);
  if (g.link_begin_.size() != g.target_begin_.size()) throw sections.damaged(kRuleLinks);
  if (g.columns_.size() != g.rules() * g.width()) throw sections.damaged(kColumns);
  g.source_vocab_ = sections.vocab(kSourceBegin, kSourceText);
  g.target_vocab_ = sections.vocab(kTargetBegin, kTargetText);
  g.memory_ = std::move(memory);
  if (verify) g.check(name, jobs);

  g.root_child_.assign(g.source_vocab_->size(), kNone);
  for (uint32_t c = g.child_begin_[0]; c < std::min<size_t>(g.child_begin_[1], nodes); ++c)
    if (g.symbol_[c] >= 0 && g.symbol_[c] < g.source_vocab_->size()) g.root_child_[g.symbol_[c]] = c;
  for (uint32_t begin = g.child_begin_[0], end = g.child_begin_[1]; begin < end; ++g.max_source_symbols_) {  // level by level
    if (end > nodes || g.child_begin_[end] < end) throw sections.damaged(kChildBegin);
    begin = std::exchange(end, g.child_begin_[end]);
  }
  return grammar;
}

/// Checks that all indices are in range, all sequences sorted, and each nonterminal of a source side once on each target side.
void Grammar::check(const std::string& name, int jobs) const {
  const auto damaged = [&](Section i) {
    return input_error(name, 0, std::string("section ") + kSectionNames[i] + " makes no sense. Build the model again");
  };
  const auto nodes = static_cast<uint32_t>(symbol_.size());
  const auto rising = [&](std::span<const uint32_t> begin, Section i) {
    for (size_t k = 1; k < begin.size(); ++k)
      if (begin[k] < begin[k - 1]) throw damaged(i);
  };
  rising(child_begin_, kChildBegin);
  rising(rule_begin_, kRuleBegin);
  rising(target_begin_, kRuleTarget);
  rising(link_begin_, kRuleLinks);
  if (child_begin_[0] != 1 || child_begin_[nodes] != nodes) throw damaged(kChildBegin);
  std::vector<uint8_t> depth(nodes, 0), nonterminals(nodes, 0);
  for (uint32_t n = 0; n < nodes; ++n) {
    if (child_begin_[n] <= n) throw damaged(kChildBegin);
    if (first_side_[n] > sides() || (n > 0 && first_side_[n] == sides())) throw damaged(kFirstSide);
    for (uint32_t c = child_begin_[n]; c < child_begin_[n + 1]; ++c) {
      const bool first = c == child_begin_[n];
      if (symbol_[c] < kX || symbol_[c] >= source_vocab_->size() || (!first && symbol_[c] <= symbol_[c - 1]))
        throw damaged(kSymbol);
      if (first ? first_side_[c] != first_side_[n] && first_side_[c] != first_side_[n] + 1 : first_side_[c] <= first_side_[c - 1])
        throw damaged(kFirstSide);
      if (depth[n] == kMaxSymbols) throw damaged(kChildBegin);
      depth[c] = static_cast<uint8_t>(depth[n] + 1);
      nonterminals[c] = static_cast<uint8_t>(nonterminals[n] + (symbol_[c] == kX));
    }
  }
  if (nodes > 1 && has_children(kRoot) && first_side_[child_begin_[0]] != 0) throw damaged(kFirstSide);
  const size_t pieces = 64;
  parallel_for(pieces, jobs, [&](size_t piece, int) {
    std::vector<char> used(kMaxSymbols + 1);
    for (size_t n = nodes * piece / pieces; n < nodes * (piece + 1) / pieces; ++n) {
      const auto [begin, end] = rules_of(static_cast<uint32_t>(n));
      for (uint32_t r = begin; r < end; ++r) {
        const auto symbols = target(r);
        if (symbols.size() > kMaxSymbols) throw damaged(kSymbols);
        std::fill_n(used.begin(), nonterminals[n], 0);
        int slots = 0;
        for (int32_t s : symbols) {
          if (s >= target_vocab_->size()) throw damaged(kSymbols);
          if (s >= 0) continue;
          if (slot_tail(s) >= nonterminals[n] || used[slot_tail(s)]++) throw damaged(kSymbols);
          ++slots;
        }
        if (slots != nonterminals[n]) throw damaged(kSymbols);
        for (const PackedLink link : links(r))
          if (link.s >= depth[n] || link.t >= symbols.size() || symbols[link.t] < 0) throw damaged(kLinks);
        for (float value : row(r))
          if (!std::isfinite(value)) throw damaged(kColumns);
      }
    }
  });
}

int Grammar::column(const std::string& name) const {
  const auto found = std::find(names_.begin(), names_.end(), name);
  return found == names_.end() ? -1 : static_cast<int>(found - names_.begin());
}

std::vector<int32_t> Grammar::source(uint32_t rule) const {
  const auto side =
      static_cast<uint32_t>(std::upper_bound(rule_begin_.begin(), rule_begin_.end(), rule) - rule_begin_.begin()) - 1;
  std::vector<int32_t> symbols;
  for (uint32_t node = kRoot;;) {
    const auto [begin, end] = rules_of(node);
    if (begin <= rule && rule < end) return symbols;
    if (!has_children(node)) return symbols;
    const auto [first, last] = children(node);
    node = static_cast<uint32_t>(std::upper_bound(first_side_.begin() + first, first_side_.begin() + last, side) -
                                 first_side_.begin()) -
           1;
    symbols.push_back(symbol_[node]);
  }
}

std::string Grammar::source_text(uint32_t rule) const { return symbols_text(source(rule), *source_vocab_, false); }

std::string Grammar::target_text(uint32_t rule) const { return symbols_text(target(rule), *target_vocab_, true); }

std::pair<uint32_t, uint32_t> Grammar::find(std::string_view source) const {
  uint32_t node = kRoot;
  int number = 0;
  bool known = true;
  for_each_word(source, [&](std::string_view token) {
    const bool x = token == "[X]" || token == "[X," + std::to_string(number + 1) + "]";
    number += x;
    const int32_t symbol = x ? kX : source_vocab_->find(token);
    known = known && (x || symbol >= 0) && (node = child(node, symbol)) != kNone;
  });
  return known ? rules_of(node) : std::pair<uint32_t, uint32_t>{0, 0};
}

RuleTable Grammar::selected(const std::vector<char>* wanted) const {
  RuleTable table;
  table.names = names_;
  table.source_vocab = source_vocab_;
  table.target_vocab = target_vocab_;
  std::vector<int32_t> path;
  const auto visit = [&](auto&& self, uint32_t node) -> void {  // recursion as deep as the longest source side
    const auto [begin, end] = rules_of(node);
    if (begin < end && (!wanted || (*wanted)[first_side_[node]])) {
      table.source.insert(table.source.end(), path.begin(), path.end());
      table.source_begin.push_back(static_cast<uint32_t>(table.source.size()));
      for (uint32_t r = begin; r < end; ++r) {
        const auto symbols = target(r);
        table.target.insert(table.target.end(), symbols.begin(), symbols.end());
        table.target_begin.push_back(static_cast<uint32_t>(table.target.size()));
        for (const PackedLink link : links(r)) table.links.push_back({link.s, link.t});
        table.link_begin.push_back(static_cast<uint32_t>(table.links.size()));
        const auto values = row(r);
        table.columns.insert(table.columns.end(), values.begin(), values.end());
      }
      table.rule_begin.push_back(static_cast<uint32_t>(table.target_begin.size() - 1));
    }
    for (uint32_t c = child_begin_[node]; c < child_begin_[node + 1]; ++c) {
      path.push_back(symbol_[c]);
      self(self, c);
      path.pop_back();
    }
  };
  visit(visit, kRoot);
  return table;
}

RuleTable Grammar::table() const { return selected(nullptr); }

void Grammar::mark(std::span<const int32_t> words, int max_span, std::vector<char>& marked, std::vector<uint64_t>& queue) const {
  std::unordered_set<uint64_t> seen;  // dotted items without their spans: (node, next word)
  queue.clear();
  const auto visit = [&](uint32_t node, size_t next) {
    if (node == kNone) return;
    const uint64_t item = static_cast<uint64_t>(node) << 32 | next;
    if (!seen.insert(item).second) return;
    queue.push_back(item);
    const auto [begin, end] = rules_of(node);
    if (begin < end) marked[first_side_[node]] = 1;
  };
  const auto advance = [&](uint32_t node, size_t at) {
    if (at >= words.size()) return;
    if (words[at] >= 0) visit(child(node, words[at]), at + 1);
    const uint32_t x = child(node, kX);
    for (size_t next = at + 1; x != kNone && next <= words.size() && next - at <= static_cast<size_t>(max_span); ++next)
      visit(x, next);
  };
  for (size_t i = 0; i < words.size(); ++i) advance(kRoot, i);
  while (!queue.empty()) {
    const uint64_t item = queue.back();
    queue.pop_back();
    advance(static_cast<uint32_t>(item >> 32), item & 0xffffffffU);
  }
}

RuleTable Grammar::filtered(const std::vector<std::string>& sentences, int max_span, int jobs) const {
  if (max_span < 1) throw InputError("max_span: " + std::to_string(max_span) + " is too small: 1 or more");
  std::vector<std::vector<char>> marked(resolve_jobs(jobs));
  std::vector<std::vector<uint64_t>> queues(marked.size());
  parallel_for(sentences.size(), jobs, [&](size_t i, int thread) {
    auto& mine = marked[thread];
    if (mine.empty()) mine.assign(sides(), 0);
    std::vector<int32_t> words;
    for_each_word(sentences[i], [&](std::string_view word) {
      const int32_t id = source_vocab_->find(word);
      words.push_back(id < 0 ? -2 : id);
    });
    mark(words, max_span, mine, queues[thread]);
  });
  std::vector<char> wanted(sides(), 0);
  for (const auto& mine : marked)
    for (size_t i = 0; i < mine.size(); ++i) wanted[i] |= mine[i];
  return selected(&wanted);
}

}  // namespace hopefear
