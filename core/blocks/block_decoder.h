// Decoding by block sequences: Tillmann and Zhang 2006, "A discriminative global training algorithm for statistical MT", section 2.
//
// The target side is a sequence of blocks (phrase pairs), one after another. Their source phrases cover the sentence
//   monotone   from left to right, or
//   swap       with neighbours exchanged: a block over [k, l) may skip [j, k), and the next block then covers [j, k).
// A block is R, right of its predecessor, if it begins where the predecessor ends (the start of the sentence ends at 0), L if it ends
// where the predecessor begins, and N otherwise: a block that skips words, and the block after a swap. So a swap is N L, and then N.
//
// The score is eq. (1), w.f(b, o, b') over all blocks: the binary features of block_features.h, and real-valued ones, if they
// have weights: lm, lm2, the columns of the grammar, rule, word, swap, and identity, unknown, number, name for words that are copied.
//
// The search fills cells: in a cell, all of [0, l) is covered, or all but [j, k). A cell is filled from cubes (predecessors by score, blocks by
// their own score) by cube pruning, at most pop_limit hypotheses, or swap_limit where a gap is open; hypotheses that no feature
// distinguishes are one node. With limits of 0 the search is exact. Of equal scores the first wins.
//
//   block_model     blocks, language models, real-valued features     block_search    the search, for any objective
//   block_features  the binary features                               model_scorer    eq. (1) for the search
//   block_weights   weights prepared for decoding                                block_lattice   from a search to a forest
//   block_oracle    maximum-BLEU sequences                            block_samples   bags of blocks, random sequences
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "blocks/block_draft.h"
#include "blocks/block_model.h"
#include "blocks/block_options.h"
#include "blocks/block_sequences.h"
#include "blocks/block_weights.h"
#include "forest/pool.h"

namespace hopefear {

class BlockDecoder : public BlockModel {
 public:
  using BlockModel::BlockModel;

  /// Calls a function with exclusive access to the names of features.
  using Locked = std::function<void(const std::function<void()>&)>;

  /// Everything below is constant, except that forests add names of features (under `locked`): make one such call at a time.
  /// The single best sequence of each sentence. `references` (or none) give its BLEU.
  BlockSequences best(const std::vector<BlockSource>& sources, const std::vector<std::vector<int32_t>>& references,
                      const BlockWeights& w, const BlockOptions& options, int jobs) const;
  /// Lattices of all hypotheses that the search visited.
  Pool decode(const std::vector<BlockSource>& sources, const BlockWeights& w, const BlockOptions& options, int jobs,
              const Locked& locked);
  /// The k best of each sentence as lists, best first.
  Pool kbest(const std::vector<BlockSource>& sources, const BlockWeights& w, const BlockOptions& options, int64_t k,
             bool distinct, int jobs, const Locked& locked);

  /// The lattice of one sentence, for models without binary features. Threads may call it concurrently.
  Forest lattice(const BlockSource& source, const BlockWeights& w, const BlockOptions& options) const;

 private:
  template <class Make>
  Pool forests(const std::vector<BlockSource>& sources, const BlockWeights& w, const BlockOptions& options, int jobs,
               const Locked& locked, Make&& make);

  FeatureIds ids_;  // of the features that forests have named
};

}  // namespace hopefear
