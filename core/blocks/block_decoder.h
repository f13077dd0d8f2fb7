// Decoding by block sequences: Tillmann and Zhang 2006, "A discriminative global training algorithm for statistical MT", section 2.
//
// Blocks (phrase pairs) are put one behind the other on the target side. Their source phrases cover the sentence
//   monotone   from left to right, or
//   swap       with neighbours exchanged: [j, k) may be skipped by one block over [k, l), and then one block covers [j, k).
// A block is R, right of its predecessor, when it begins where that one ends (the start of the sentence ends at 0), L when it ends
// where that one begins, and N otherwise: the block that skips, and the one behind a swap. So a swap is N L, and then N.
//
// The score is eq. (1), w.f(b, o, b') over all blocks: the binary features of block_features.h, and real-valued ones, if they
// have weights: lm, lm2, the columns of the grammar, rule, word, swap, and identity, unknown, number, name for words that are copied.
//
// The search goes by cells: all of [0, l) is covered, or all but [j, k). A cell is filled from cubes (predecessors by score, blocks by
// their own score) by cube pruning, pop_limit of them at most, swap_limit where a gap is open; hypotheses that no feature can
// tell apart are one node. With limits of 0 the search is exact. Equal scores: what came first wins.
//
//   block_model     blocks, language models, real-valued features     block_search    the search, whatever is maximised
//   block_features  the binary features                               model_scorer    eq. (1) for the search
//   block_weights   weights made ready                                block_lattice   from a search to a forest
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

  /// Calls a function while nobody reads the names of features.
  using Locked = std::function<void(const std::function<void()>&)>;

  /// Everything below is constant, but that forests bring new names of features (added under `locked`): one such call at a time.
  /// The single best sequence of each sentence. `references` (or none) give its BLEU.
  BlockSequences best(const std::vector<BlockSource>& sources, const std::vector<std::vector<int32_t>>& references,
                      const BlockWeights& w, const BlockOptions& options, int jobs) const;
  /// Lattices of all that was looked at.
  Pool decode(const std::vector<BlockSource>& sources, const BlockWeights& w, const BlockOptions& options, int jobs,
              const Locked& locked);
  /// Only the k best of each: lists, best first.
  Pool kbest(const std::vector<BlockSource>& sources, const BlockWeights& w, const BlockOptions& options, int64_t k,
             bool distinct, int jobs, const Locked& locked);

  /// One lattice, where no binary features are on: threads may call it at once.
  Forest lattice(const BlockSource& source, const BlockWeights& w, const BlockOptions& options) const;

 private:
  template <class Make>
  Pool forests(const std::vector<BlockSource>& sources, const BlockWeights& w, const BlockOptions& options, int jobs,
               const Locked& locked, Make&& make);

  FeatureIds ids_;  // of the features that forests have named
};

}  // namespace hopefear
