// Maximum-BLEU block sequences: Tillmann and Zhang 2006, section 2. The search of the decoder with the BLEU of the sentence against its one
// reference as the only criterion, and the K best of what it finds: the truth sets V_K(S).
//
// BLEU of a sentence is BLEU+1 (bleu.h): the paper has it unsmoothed, which is 0 for most short sentences. While hypotheses grow they are
// compared by BLEU+1 against the share of the reference length that belongs to the source words covered. Which n-grams of the
// reference were used is part of the state, so that clipping is exact, and with limits of 0 so is the search.
// Sequences of equal BLEU differ in their blocks only: `few` takes those with fewer blocks first, otherwise those with more.
#pragma once
#include "blocks/block_decoder.h"

namespace hopefear {

BlockSequences oracle_sequences(const BlockDecoder& decoder, const std::vector<BlockSource>& sources,
                                const std::vector<std::vector<int32_t>>& references, const BlockOptions& options, int64_t k,
                                bool few, int jobs);

/// The bag of blocks z_0(S) of section 4.1: for each source interval that is matched by some block, the first of its blocks in the
/// grammar (the most frequent). It has no order and no BLEU.
BlockSequences bags_of_blocks(const BlockDecoder& decoder, const std::vector<BlockSource>& sources, int jobs);

/// `count` block sequences of each sentence drawn at random: at each place the length of the source phrase, then one of its first blocks in
/// the grammar, where blocks can swap one step in four is a swap.
BlockSequences random_sequences(const BlockDecoder& decoder, const std::vector<BlockSource>& sources,
                                const std::vector<std::vector<int32_t>>& references, int64_t count, uint64_t seed, int jobs);

}  // namespace hopefear
