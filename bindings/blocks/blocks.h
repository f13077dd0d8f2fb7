// Block sequences for Python, a function for each group of classes.
#pragma once
#include "blocks/block_decoder.h"
#include "common.h"

namespace hopefear {

/// Sentences that are prepared once, for many passes.
struct BlockCorpus {
  std::vector<BlockSource> sources;
  std::vector<std::vector<int32_t>> references;
};

void bind_feature_table(nb::module_& m);
void bind_block_corpus(nb::module_& m);
void bind_block_decoder(nb::module_& m);
void bind_block_sequences(nb::module_& m);
void bind_costmargin(nb::module_& m);

}  // namespace hopefear
