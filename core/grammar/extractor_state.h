// The state of an Extractor: the text, the counts so far, and the steps of extraction (extract.cc), of merging the counts of a
// part of the text (rule_merging.cc), and of writing them (rule_table_writer.cc, merged_parts.cc).
#pragma once
#include <array>
#include <bit>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "grammar/extract.h"
#include "grammar/lexical.h"
#include "grammar/merged_rules.h"
#include "grammar/rule_counts.h"

namespace hopefear {

/// An initial phrase pair of one sentence pair.
struct InitialPhrase {
  int s, s_size, t, t_size, links;
  int s_end() const { return s + s_size; }
  int t_end() const { return t + t_size; }
};

/// The buffers of one thread for one sentence pair.
struct ExtractionWork {
  std::vector<int> t_low, t_high, s_low, s_high, link_begin;
  std::vector<InitialPhrase> phrases;
  std::vector<uint32_t> phrase_begin;  // by (first source word, words)
  std::vector<char> ends;              // orientation corners
  std::vector<RuleOccurrence> occurrences;
  std::vector<std::vector<RuleCount>> buffers{kShards};
  TextRule rule;
  size_t instances = 0;
};

struct Extractor::State {
  std::shared_ptr<const ParallelText> text;
  ExtractOptions options;
  std::optional<LexicalTable> lexical;  // made when rules are scored
  std::vector<std::unique_ptr<RuleShard>> shards;
  std::array<std::mutex, kShards> total_mutex;
  std::vector<CountTable<Total>> totals{kShards};  // target sides, by the high bits of their hash
  size_t instances = 0, rules = 0;

  void initial_phrases(size_t n, ExtractionWork& work) const;
  /// each_phrase(first link, rule occurrences in work.occurrences)
  template <class Body>
  void extract_pair(size_t n, ExtractionWork& work, Body&& each_phrase);
  int orientation(const InitialPhrase& p, const ExtractionWork& work, size_t n) const;
  void emit(const RuleOccurrence& where, const Link* first, uint64_t weight, ExtractionWork& work);
  void flush(ExtractionWork& work, size_t shard);
  void end_part(int jobs);
  void append_merged(const RuleShard& shard, const std::vector<std::vector<Total>>& target_counts, MergedShard& head,
                     std::vector<uint8_t>& out) const;
  /// Bits of a source symbol in the key of a side.
  int key_bits() const { return std::bit_width(static_cast<uint32_t>(text->source_types()) + 2u); }

  /// An entry of a shard with the hashes of its sides, and where its record begins.
  struct Ref {
    uint64_t source, target;
    uint32_t index, record;
  };
  std::vector<Ref> read_rules(const std::vector<RuleCount>& entries, std::vector<uint32_t>& records) const;
  using Variants = std::vector<std::pair<uint64_t, RuleRecord>>;  // alignments of one rule with their counts
  RuleCandidate joined(std::span<const Ref> refs, const std::vector<RuleCount>& entries, const std::vector<uint32_t>& records,
                       Variants& variants) const;
  void select(std::vector<RuleCandidate>& group) const;
  void append_side(RuleShard& shard, const std::vector<RuleCandidate>& group, uint64_t total) const;
  void merge_shard(RuleShard& shard, std::vector<std::vector<Total>>& target_counts, uint64_t& rules_seen);
};

}  // namespace hopefear
