// Maximum-BLEU block sequences: Tillmann and Zhang 2006, section 2. The search of the decoder with the BLEU of the sentence against its one
// reference as the only criterion, and the K best of what it finds: the truth sets V_K(S).
//
// BLEU of a sentence is BLEU+1 (bleu.h): unsmoothed BLEU, which the paper uses, is 0 for most short sentences. Partial hypotheses are
// compared by BLEU+1 against the share of the reference length that belongs to the source words covered. Which n-grams of the
// reference were used is part of the state, so that clipping is exact, and with limits of 0 so is the search.
// Sequences of equal BLEU differ in their blocks only: `few` takes those with fewer blocks first, otherwise those with more.
#pragma once
#include <cstdint>
#include <vector>

#include "blocks/block_model.h"
#include "blocks/block_options.h"
#include "blocks/block_sequences.h"

namespace hopefear {

BlockSequences oracle_sequences(const BlockModel& model, const std::vector<BlockSource>& sources,
                                const std::vector<std::vector<int32_t>>& references, const BlockOptions& options, int64_t k,
                                bool few, int jobs);

}  // namespace hopefear
