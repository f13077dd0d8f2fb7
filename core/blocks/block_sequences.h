// Block sequences of many sentences, as decoding, oracles and training pass them on.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace hopefear {

/// A block as relevant sets have it.
struct StoredBlock {
  uint32_t rule;   // of the grammar
  uint16_t begin;  // source words [begin, begin + length)
  uint8_t length;
  uint8_t copy;  // 0: a rule; 1 identity, 2 unknown, 3 number, 4 name

  bool operator==(const StoredBlock&) const = default;
};

struct BlockSequences {
  std::vector<uint64_t> sentence_begin{0};  // sequences of each sentence
  std::vector<uint64_t> block_begin{0};     // blocks of each sequence
  std::vector<float> bleu;
  std::vector<StoredBlock> blocks;

  size_t sentences() const { return sentence_begin.size() - 1; }
  std::span<const StoredBlock> blocks_of(uint64_t sequence) const {
    return std::span(blocks).subspan(block_begin[sequence], block_begin[sequence + 1] - block_begin[sequence]);
  }
  /// Ends a sequence after its last block.
  void end_sequence(double gain) {
    block_begin.push_back(blocks.size());
    bleu.push_back(static_cast<float>(gain));
  }
  void end_sentence() { sentence_begin.push_back(bleu.size()); }
  /// Appends sentences.
  void append(const BlockSequences& more) {
    const uint64_t first_sequence = bleu.size(), first_block = blocks.size();
    for (size_t i = 1; i < more.sentence_begin.size(); ++i) sentence_begin.push_back(first_sequence + more.sentence_begin[i]);
    for (size_t z = 1; z < more.block_begin.size(); ++z) block_begin.push_back(first_block + more.block_begin[z]);
    bleu.insert(bleu.end(), more.bleu.begin(), more.bleu.end());
    blocks.insert(blocks.end(), more.blocks.begin(), more.blocks.end());
  }
};

/// The sequences of several ranges of sentences, in their order.
inline BlockSequences joined(const std::vector<BlockSequences>& parts) {
  BlockSequences out;
  for (const BlockSequences& part : parts) out.append(part);
  return out;
}

}  // namespace hopefear
