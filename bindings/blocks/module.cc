#include "blocks.h"

namespace hopefear {

void init_blocks(nb::module_& m) {
  bind_feature_table(m);
  bind_block_corpus(m);
  bind_block_decoder(m);
  bind_block_sequences(m);
  bind_costmargin(m);
}

}  // namespace hopefear
