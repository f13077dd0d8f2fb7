#include "blocks/block_decoder.h"

#include <algorithm>

#include "blocks/block_lattice.h"
#include "blocks/model_scorer.h"
#include "blocks/sequence_bleu.h"
#include "util/error.h"
#include "util/parallel.h"

namespace hopefear {
namespace {

constexpr size_t kBatch = 64;  // sentences that a thread takes at a time

}  // namespace

BlockSequences BlockDecoder::best(const std::vector<BlockSource>& sources, const std::vector<std::vector<int32_t>>& references,
                                  const BlockWeights& w, const BlockOptions& options, int jobs) const {
  if (!references.empty()) check_references(sources.size(), references.size());
  std::vector<BlockSequences> batches((sources.size() + kBatch - 1) / kBatch);
  parallel_for(batches.size(), jobs, [&](size_t batch, int) {
    with_search(*this, w, [&](auto& search) {
      std::vector<StoredBlock> blocks;
      for (size_t i = batch * kBatch; i < std::min(sources.size(), (batch + 1) * kBatch); ++i) {
        search.run(sources[i], options, false);
        search.best(blocks);
        batches[batch].blocks.insert(batches[batch].blocks.end(), blocks.begin(), blocks.end());
        batches[batch].end_sequence(references.empty() ? 0.0 : SequenceBleu(references[i])(*this, sources[i], blocks));
        batches[batch].end_sentence();
      }
    });
  });
  return joined(batches);
}

/// make(drafter) for the draft of each sentence; then new features get their ids, and drafts become forests.
template <class Make>
Pool BlockDecoder::forests(const std::vector<BlockSource>& sources, const BlockWeights& w, const BlockOptions& options, int jobs,
                           const Locked& locked, Make&& make) {
  std::vector<BlockDraft> drafts(sources.size());
  parallel_for(sources.size(), jobs, [&](size_t i, int) {
    with_search(*this, w, [&](auto& search) {
      search.run(sources[i], options, true);
      drafts[i] = make(BlockDrafter(*this, search, ids_));
    });
  });
  locked([&] { ids_.add(drafts, *features()); });
  Pool pool;
  pool.vocab = vocab();
  pool.features = features();
  pool.dense_width = static_cast<int32_t>(kBlockReals);
  pool.sentences.resize(sources.size());
  parallel_for(sources.size(), jobs, [&](size_t i, int) {
    pool.sentences[i] = {sources[i].id, sources[i].text, draft_forest(drafts[i], ids_, vocab(), features()), {}};
  });
  return pool;
}

Pool BlockDecoder::decode(const std::vector<BlockSource>& sources, const BlockWeights& w, const BlockOptions& options, int jobs,
                          const Locked& locked) {
  return forests(sources, w, options, jobs, locked, [](auto&& drafter) { return drafter.lattice(); });
}

Pool BlockDecoder::kbest(const std::vector<BlockSource>& sources, const BlockWeights& w, const BlockOptions& options, int64_t k,
                         bool distinct, int jobs, const Locked& locked) {
  return forests(sources, w, options, jobs, locked, [&](auto&& drafter) { return drafter.list(k, distinct); });
}

Forest BlockDecoder::lattice(const BlockSource& source, const BlockWeights& w, const BlockOptions& options) const {
  if (which().phrase || which().word)
    throw InputError("online trainers learn the real-valued features of blocks only. Choose none of the binary ones");
  return with_search(*this, w, [&](auto& search) {
    search.run(source, options, true);
    return draft_forest(BlockDrafter(*this, search, ids_).lattice(), ids_, vocab(), features());
  });
}

}  // namespace hopefear
