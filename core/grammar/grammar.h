// A synchronous grammar for chart parsing, in one memory-mapped block.
//
// Source sides are a trie. Nodes are numbered level by level, so that the children of a node are consecutive nodes:
//
//   child_begin[n] .. child_begin[n+1]   the children of node n; symbol[c] leads to child c; X (kX) comes first, then words
//   first_side[n]                        the first source side below n; sides are in lexicographic order
//   rule_begin[i] .. rule_begin[i+1]     the rules of side i, by falling p(e|f)
//   target, links, columns               of each rule, as in a RuleTable
//
// A node's own side, if it has one, is the first below it. A dotted item of a CKY parser is a node and the spans of the
// nonterminals before the dot; moving the dot is child(node, word) or child(node, kX).
//
// The file: a header, a table of sections (name, place, size, checksum), then the sections, each aligned to 64 bytes.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "grammar/rule_table.h"
#include "util/memory_map.h"
#include "util/vocab.h"

namespace hopefear {

class Grammar {
 public:
  static constexpr uint32_t kVersion = 1;
  static constexpr uint32_t kNone = 0;  // the root is no node's child
  static constexpr uint32_t kRoot = 0;
  static constexpr size_t kMaxSymbols = 255;  // of either side of a rule

  /// Lays out a table as a file in memory.
  static std::shared_ptr<Grammar> build(const RuleTable& table, int jobs);
  /// Maps a file. verify: compare all checksums and check every index, so that no damaged file is ever used.
  static std::shared_ptr<Grammar> open(const std::string& path, bool verify, int jobs);

  std::span<const std::byte> bytes() const { return {memory_->data(), memory_->size()}; }
  const std::shared_ptr<Vocab>& source_vocab() const { return source_vocab_; }
  const std::shared_ptr<Vocab>& target_vocab() const { return target_vocab_; }
  const std::vector<std::string>& names() const { return names_; }
  size_t width() const { return names_.size(); }
  /// The column of a name, or -1.
  int column(const std::string& name) const;

  uint32_t nodes() const { return static_cast<uint32_t>(symbol_.size()); }
  uint32_t sides() const { return static_cast<uint32_t>(rule_begin_.size() - 1); }
  uint32_t rules() const { return static_cast<uint32_t>(target_begin_.size() - 1); }
  int max_source_symbols() const { return max_source_symbols_; }

  /// The child of `node` for a symbol (a word of source_vocab, or kX), or kNone.
  uint32_t child(uint32_t node, int32_t symbol) const {
    if (node == kRoot && symbol >= 0) return static_cast<size_t>(symbol) < root_child_.size() ? root_child_[symbol] : kNone;
    const int32_t *begin = symbol_.data() + child_begin_[node], *end = symbol_.data() + child_begin_[node + 1];
    const int32_t* found = std::lower_bound(begin, end, symbol);
    return found != end && *found == symbol ? static_cast<uint32_t>(found - symbol_.data()) : kNone;
  }
  bool has_children(uint32_t node) const { return child_begin_[node] != child_begin_[node + 1]; }
  std::pair<uint32_t, uint32_t> children(uint32_t node) const { return {child_begin_[node], child_begin_[node + 1]}; }
  int32_t symbol(uint32_t node) const { return symbol_[node]; }
  /// The rules of a node, [begin, end).
  std::pair<uint32_t, uint32_t> rules_of(uint32_t node) const {
    const uint32_t side = first_side_[node];
    if (node == kRoot || (has_children(node) && first_side_[child_begin_[node]] == side)) return {0, 0};
    return {rule_begin_[side], rule_begin_[side + 1]};
  }

  std::span<const int32_t> target(uint32_t rule) const {
    return {target_.data() + target_begin_[rule], target_begin_[rule + 1] - target_begin_[rule]};
  }
  std::span<const PackedLink> links(uint32_t rule) const {
    return {links_.data() + link_begin_[rule], link_begin_[rule + 1] - link_begin_[rule]};
  }
  std::span<const float> row(uint32_t rule) const { return {columns_.data() + rule * width(), width()}; }
  std::span<const float> columns() const { return columns_; }

  /// The source side of a rule, by a walk from the root: for messages, too slow for parsers.
  std::vector<int32_t> source(uint32_t rule) const;
  /// The sides of a rule as in `de [X,1]`.
  std::string source_text(uint32_t rule) const;
  std::string target_text(uint32_t rule) const;
  /// The rules [begin, end) of a source side written as `de [X,1]` or `de [X]`.
  std::pair<uint32_t, uint32_t> find(std::string_view source) const;

  RuleTable table() const;
  /// The rules that can apply to some of these sentences (words separated by blanks), where a nonterminal stands for at
  /// least one word and at most max_span. Vocabularies are kept whole.
  RuleTable filtered(const std::vector<std::string>& sentences, int max_span, int jobs) const;

 private:
  Grammar() = default;
  static std::shared_ptr<Grammar> attach(std::shared_ptr<MemoryMap> memory, const std::string& name, bool verify, int jobs);
  void check(const std::string& name, int jobs) const;
  RuleTable selected(const std::vector<char>* sides) const;
  void mark(std::span<const int32_t> words, int max_span, std::vector<char>& marked, std::vector<uint64_t>& seen) const;

  std::shared_ptr<MemoryMap> memory_;
  std::shared_ptr<Vocab> source_vocab_, target_vocab_;
  std::vector<std::string> names_;
  std::span<const uint32_t> child_begin_, first_side_, rule_begin_, target_begin_, link_begin_;
  std::span<const int32_t> symbol_, target_;
  std::span<const PackedLink> links_;
  std::span<const float> columns_;
  std::vector<uint32_t> root_child_;
  int max_source_symbols_ = 0;
};

}  // namespace hopefear
