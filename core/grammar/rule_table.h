// Synchronous rules X -> <gamma, alpha> in flat arrays, sorted by source side. Extraction and the reader of text grammars
// make it, and a Grammar is written from it.
//
// Source symbols are word ids, or kX for a nonterminal; the nonterminals of a rule are numbered by their order on the
// source side. Target symbols are word ids, or slot(k) = -1-k for the k-th nonterminal, as on the edges of a Forest.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "grammar/parallel_text.h"
#include "util/vocab.h"

namespace hopefear {

inline constexpr int32_t kX = -1;

/// A word alignment point inside a rule, as stored in files.
struct PackedLink {
  uint8_t s, t;
};

struct RuleTable {
  std::vector<uint32_t> source_begin{0};  // sides + 1
  std::vector<int32_t> source;
  std::vector<uint32_t> rule_begin{0};    // sides + 1
  std::vector<uint32_t> target_begin{0};  // rules + 1
  std::vector<int32_t> target;
  std::vector<uint32_t> link_begin{0};  // rules + 1
  std::vector<Link> links;              // word alignment inside the rule, positions counted in symbols
  std::vector<float> columns;           // rules * names.size()
  std::vector<std::string> names;       // of the columns
  std::shared_ptr<Vocab> source_vocab, target_vocab;

  size_t sides() const { return source_begin.size() - 1; }
  size_t rules() const { return target_begin.size() - 1; }
  std::span<const int32_t> source_of(size_t side) const {
    return {source.data() + source_begin[side], source_begin[side + 1] - source_begin[side]};
  }
  std::span<const int32_t> target_of(size_t rule) const {
    return {target.data() + target_begin[rule], target_begin[rule + 1] - target_begin[rule]};
  }
  std::span<const Link> links_of(size_t rule) const {
    return {links.data() + link_begin[rule], link_begin[rule + 1] - link_begin[rule]};
  }
  std::span<const float> row(size_t rule) const { return {columns.data() + rule * names.size(), names.size()}; }

  /// The marked rules and their source sides; vocabularies are kept whole.
  RuleTable selected(std::span<const uint8_t> keep) const;
};

}  // namespace hopefear
