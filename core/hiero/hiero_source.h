// The input of the hierarchical decoder: a lattice of words as ids of its vocabularies. Text is a lattice with one path.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "forest/forest.h"
#include "hiero/hiero_model.h"
#include "hiero/sentence_rules.h"
#include "search/source.h"

namespace hopefear {

/// Arcs between nodes 0 .. length(), sorted by the nodes where they end.
struct HieroSource {
  std::string id, text;
  // of each arc
  std::vector<int32_t> words;  // of the grammar's source vocabulary; -1: unknown
  std::vector<WordKind> kinds;
  std::vector<int32_t> copies;                    // the same words in the decoder's target vocabulary
  std::vector<std::array<uint32_t, kMaxLms>> lm;  // and in the language models
  std::vector<uint32_t> joint, joint_copies;      // in the joint model, as a source word and as a target word
  std::vector<int32_t> from;                      // the node where it begins
  std::vector<double> scores;                     // as many per arc as the decoder has features for them; empty for text

  std::vector<int32_t> into;      // the arcs that end at node j are into[j] .. into[j + 1]
  std::vector<SourceRule> rules;  // of this sentence only, sorted by begin and end
  std::vector<uint8_t> forced;    // of each arc, whether a forced rule covers it; none if none does
  bool lattice = false;

  int32_t length() const { return static_cast<int32_t>(into.size()) - 2; }
  bool is_text() const { return !lattice; }
  int32_t to(size_t arc) const {
    return static_cast<int32_t>(std::upper_bound(into.begin(), into.end(), static_cast<int32_t>(arc)) - into.begin()) - 1;
  }
};

/// Adds an arc's word. Words that may be copied are added to the model's target vocabulary.
void add_word(HieroModel& model, HieroSource& source, std::string_view word, char kind);

/// `kinds` has a letter for each word (word_kind).
HieroSource text_source(HieroModel& model, std::string id, std::string_view text, std::string_view kinds);

/// A lattice is a forest whose edges have at most one tail, which comes first. `kinds` has a letter for each word of its
/// vocabulary. Arcs without words are removed; a path without any word is left out if there are others.
HieroSource lattice_source(HieroModel& model, std::string id, const Forest& lattice, std::string_view kinds);

}  // namespace hopefear
