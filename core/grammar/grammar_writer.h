// Writes a grammar's file from the parts that Extractor::merged made, without holding the rules in memory.
//
//   1. Counts of target sides, p(f|e)'s denominators: one part of the target sides at a time, over all files, in which the
//      counts replace the hashes (merged_rules.h).
//   2. The source sides of all shards are merged in lexicographic order, and each section of the file grows in a temporary file.
//      Nodes of the trie are numbered level by level, so there is one file per level.
//   3. The sections are joined.
//
// The bytes are those of Grammar::build on the table of Extractor::finish.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "grammar/parallel_text.h"
#include "grammar/rule_table.h"

namespace hopefear {

struct GrammarWriterOptions {
  bool orientations;       // as in the extractor's options
  double least_ef;         // rules with a smaller log p(e|f) are left out,
  double least_symmetric;  // and with a smaller mean of log p(e|f) and log p(f|e); but not the first rule of a single word
};

struct WrittenGrammar {
  RuleTable words;      // the rules whose source side is one symbol
  uint64_t rules_seen;  // before any were dropped
};

/// `merged`: one file per part, which are overwritten; `folder`: for temporary files; `out`: the file to write.
WrittenGrammar write_grammar(const ParallelText& text, const std::vector<std::string>& merged, const std::string& folder,
                             const std::string& out, const GrammarWriterOptions& options, int jobs);

}  // namespace hopefear
