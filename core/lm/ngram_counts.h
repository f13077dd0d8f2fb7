// Counts of the n-grams of a text, in one go or slice by slice.
//
// By one sort: the occurrences of each word, by the words before it, the nearest first. The n-grams of every order are then runs of that
// order, and adjusted counts are numbers of runs inside runs. All n-grams with the same last word are together, their suffixes too, so
// ranges of last words are counted independently. Slices of a text are sorted independently as well, and merged range by range.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "lm/backoff_model.h"

namespace hopefear {

/// The options of counting: words are ids below `vocab`.
struct NgramSpec {
  uint32_t vocab;
  int order;
  std::vector<uint64_t> prune;  // per order

  /// In the highest order, they are adjusted counts.
  bool needs_raw(int n) const { return n < order || prune[n - 1] > 0; }
};

/// The distinct n-grams of one order, sorted by last word, then the word before it, and so on. Unigrams are all words.
struct Counted {
  KeptVector<uint32_t> word, suffix;  // as in NgramList
  KeptVector<uint32_t> adjusted;      // a(w_1^n) of lm_estimate.h
  KeptVector<uint32_t> raw;           // c(w_1^n), if the order needs_raw()
};
using CountedOrders = std::vector<Counted>;

/// Of a whole text: sentences as in LmText.
CountedOrders count_ngrams(std::span<const uint32_t> words, const NgramSpec& spec, int jobs);

/// The same for slices of a text, which are whole sentences. First, ranges of last words that occur about equally often: range k has the
/// words from cuts[k] to cuts[k + 1]. There are `count` of them at most.
std::vector<uint32_t> ngram_ranges(std::span<const uint32_t> words, uint32_t vocab, size_t count);
/// Then, the counts of each range in a slice.
std::vector<std::vector<uint8_t>> count_slice(std::span<const uint32_t> words, const NgramSpec& spec,
                                              const std::vector<uint32_t>& cuts);
/// Then, the n-grams of a range that ends before the word `last`, from the counts in all slices.
std::vector<uint8_t> merge_slices(const std::vector<std::span<const uint8_t>>& slices, const NgramSpec& spec, uint32_t first,
                                  uint32_t last);
/// Finally, the n-grams of all ranges, in their order.
CountedOrders join_ranges(const std::vector<std::span<const uint8_t>>& ranges, const NgramSpec& spec);

/// Of each n-gram, the index of its context w_1..w_{n-1} in the list one order below.
std::vector<KeptVector<uint32_t>> find_contexts(const CountedOrders& counted, int jobs);

}  // namespace hopefear
