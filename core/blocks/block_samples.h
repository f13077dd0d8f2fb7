// Block sequences without a search: bags of blocks, and sequences drawn at random.
#pragma once
#include <cstdint>
#include <vector>

#include "blocks/block_model.h"
#include "blocks/block_sequences.h"

namespace hopefear {

/// The bag of blocks z_0(S) of Tillmann and Zhang 2006, section 4.1: for each source interval that is matched by some block, the first of
/// its blocks in the grammar (the most frequent). It has no order and no BLEU.
BlockSequences bags_of_blocks(const BlockModel& model, const std::vector<BlockSource>& sources, int jobs);

/// `count` block sequences of each sentence drawn at random: at each position the length of the source phrase, then one of its first blocks in
/// the grammar; where blocks can swap one step in four is a swap.
BlockSequences random_sequences(const BlockModel& model, const std::vector<BlockSource>& sources,
                                const std::vector<std::vector<int32_t>>& references, int64_t count, uint64_t seed, int jobs);

}  // namespace hopefear
