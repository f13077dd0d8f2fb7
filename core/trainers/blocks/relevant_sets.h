// Block sequences on disk, which training reads repeatedly: truths, bags of blocks, and the alternatives of each decoding
// iteration (Tillmann and Zhang 2006, section 4.1). One memory-mapped file each; a block takes 8 bytes.
//
//   header | sentence_begin: sentences + 1 | block_begin: sequences + 1 | bleu: sequences | blocks
#pragma once
#include <memory>
#include <span>
#include <string>

#include "blocks/block_decoder.h"
#include "util/memory_map.h"

namespace hopefear {

class SequenceFile {
 public:
  /// The bytes of a file. `model` identifies its model.
  static std::string bytes(const BlockSequences& sequences, bool bag, uint64_t model);
  /// Maps a file and checks that it is whole, belongs to this model and fits these sentences.
  static std::shared_ptr<SequenceFile> open(const std::string& path, const BlockDecoder& decoder,
                                            const std::vector<BlockSource>& sources, uint64_t model);

  bool bag() const { return bag_; }
  size_t sentences() const { return sentence_begin_.size() - 1; }
  size_t sequences() const { return bleu_.size(); }
  /// The sequences of a sentence, [begin, end).
  std::pair<uint64_t, uint64_t> of(size_t sentence) const { return {sentence_begin_[sentence], sentence_begin_[sentence + 1]}; }
  std::span<const StoredBlock> blocks(uint64_t sequence) const {
    return blocks_.subspan(block_begin_[sequence], block_begin_[sequence + 1] - block_begin_[sequence]);
  }
  float bleu(uint64_t sequence) const { return bleu_[sequence]; }
  /// Of the first sequence of each sentence, the mean over all that have one.
  double mean_bleu() const;
  /// Sentences whose first sequence has other blocks than here, of files of the same text.
  size_t changed(const SequenceFile& other) const;

 private:
  std::shared_ptr<MemoryMap> memory_;
  bool bag_ = false;
  std::span<const uint64_t> sentence_begin_, block_begin_;
  std::span<const float> bleu_;
  std::span<const StoredBlock> blocks_;
};

}  // namespace hopefear
