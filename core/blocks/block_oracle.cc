#include "blocks/block_oracle.h"

#include <algorithm>
#include <cstring>

#include "blocks/block_search.h"
#include "blocks/sequence_bleu.h"
#include "forest/kbest.h"
#include "metrics/bleu.h"
#include "search/by_head.h"
#include "util/error.h"
#include "util/parallel.h"

namespace hopefear {
namespace {

constexpr int kOrder = SequenceBleu::kOrder;

class BleuScorer {
 public:
  struct State {
    uint32_t used;               // where its bits begin in used_, in units of width_
    int32_t suffix[kOrder - 1];  // the n-gram of the reference that the last n words are, or -1
    uint32_t length;
    uint16_t matches[kOrder];
  };

  void begin(const std::vector<int32_t>& reference, size_t source_words) {
    ngrams_ = ReferenceNgrams({reference}, kOrder);
    reference_ = static_cast<double>(reference.size());
    source_ = static_cast<double>(std::max<size_t>(1, source_words));
    bit_.assign(ngrams_.size(), 0);  // an n-gram has a bit for each match that counts
    uint32_t bits = 0;
    for (int32_t node = 1; node < ngrams_.size(); ++node) {
      bit_[node] = bits;
      bits += static_cast<uint32_t>(ngrams_.clip(node));
    }
    width_ = bits / 64 + 1;
    used_.clear();
  }

  State start() {
    used_.assign(width_, 0);
    return {0, {-1, -1, -1}, 0, {0, 0, 0, 0}};
  }

  /// Ranks blocks with many matching n-grams first.
  void option(BlockOption& option) const {
    int32_t suffix[kOrder] = {-1, -1, -1, -1};
    double worth = 0;
    for (const int32_t e : option.view.target) {
      for (int n = kOrder - 1; n > 0; --n) suffix[n] = suffix[n - 1] < 0 ? -1 : ngrams_.child(suffix[n - 1], e);
      suffix[0] = ngrams_.child(ReferenceNgrams::kRoot, e);
      worth -= 1.0;
      for (const int32_t s : suffix) worth += s >= 0;
    }
    option.rank = worth;
  }

  double extend(double, const State& from, const BlockOption*, const BlockOption& option, Orientation, int32_t, int32_t covered,
                State& next) {
    next = from;
    next.used = static_cast<uint32_t>(used_.size() / width_);
    used_.resize(used_.size() + width_);
    uint64_t* used = used_.data() + next.used * width_;
    std::memcpy(used, used_.data() + from.used * width_, width_ * sizeof(uint64_t));
    for (const int32_t e : option.view.target) {
      int32_t grown[kOrder];
      for (int n = kOrder - 1; n > 0; --n) grown[n] = next.suffix[n - 1] < 0 ? -1 : ngrams_.child(next.suffix[n - 1], e);
      grown[0] = ngrams_.child(ReferenceNgrams::kRoot, e);
      for (int n = 0; n < kOrder; ++n) {
        if (grown[n] < 0) continue;
        for (uint32_t b = bit_[grown[n]], end = b + static_cast<uint32_t>(ngrams_.clip(grown[n])); b < end; ++b)
          if (!(used[b / 64] >> (b % 64) & 1)) {
            used[b / 64] |= uint64_t{1} << (b % 64);
            ++next.matches[n];
            break;
          }
      }
      std::copy_n(grown, kOrder - 1, next.suffix);
      ++next.length;
    }
    return bleu(next, reference_ * covered / source_);
  }

  double finish(double, const State& state, const BlockOption*) const { return bleu(state, reference_); }

  uint64_t hash(const State& state, const BlockOption&) const {
    uint64_t h = state.length;
    for (const int32_t s : state.suffix) h = mix_key((h + static_cast<uint32_t>(s)) * 0x9e3779b97f4a7c15ULL);
    for (size_t i = 0; i < width_; ++i) h = mix_key((h ^ used_[state.used * width_ + i]) * 0x9fb21c651e98df25ULL);
    return h;
  }
  bool same(const State& a, const BlockOption&, const State& b, const BlockOption&) const {
    return a.length == b.length && std::equal(a.suffix, a.suffix + kOrder - 1, b.suffix) &&
           std::memcmp(used_.data() + a.used * width_, used_.data() + b.used * width_, width_ * sizeof(uint64_t)) == 0;
  }

 private:
  double bleu(const State& state, double reference) const {
    double b[2 * kOrder + 1];
    for (int n = 0; n < kOrder; ++n) {
      b[n] = state.matches[n];
      b[kOrder + n] = std::max(0.0, static_cast<double>(state.length) - n);
    }
    b[2 * kOrder] = reference;
    return metric_.sentence_gain(b);
  }

  Bleu metric_{kOrder};
  ReferenceNgrams ngrams_;
  double reference_ = 0, source_ = 1;
  size_t width_ = 1;
  std::vector<uint32_t> bit_;
  std::vector<uint64_t> used_;
};

/// The K best ways through the lattice. Nodes know the last option of the best way only, so the blocks come from the edges.
void best_ways(const BlockModel& m, const BlockSearch<BleuScorer>& search, int64_t k, bool few, BlockSequences& sequences) {
  constexpr double kBlock = 1e-7;  // below any difference of BLEU+1 that matters
  const auto& nodes = search.nodes();
  const auto& edges = search.edges();
  const auto [begin, order] = by_head(nodes.size(), edges);  // node 0 has no edges: they are numbered as in the forest
  ForestBuilder builder(m.vocab(), m.features());
  std::vector<double> scores(edges.size(), few ? -kBlock : kBlock);
  const auto add_edge = [&](int32_t node) {
    const int32_t tail = node - 1, only = slot(0);
    const size_t arity = node > 0;
    builder.add_edge({&tail, arity}, {&only, arity}, nullptr);
  };
  for (size_t v = 1; v < nodes.size(); ++v) {
    builder.add_node();
    for (uint32_t e = begin[v]; e < begin[v + 1]; ++e) add_edge(edges[order[e]].tail);
  }
  builder.add_node();
  for (const auto& final : search.finals()) {
    add_edge(final.node);
    scores.push_back(final.score);
  }
  const Forest forest = builder.finish();
  for (const Derivation& way : kbest(forest, scores, k, false)) {
    for (size_t i = way.edges.size(); i-- > 1;)
      sequences.blocks.push_back(search.options()[edges[order[way.edges[i]]].option].stored());
    sequences.end_sequence(scores[way.edges[0]]);
  }
}

constexpr size_t kBatch = 64;  // sentences that a thread takes at a time

}  // namespace

BlockSequences oracle_sequences(const BlockModel& model, const std::vector<BlockSource>& sources,
                                const std::vector<std::vector<int32_t>>& references, const BlockOptions& options, int64_t k,
                                bool few, int jobs) {
  check_references(sources.size(), references.size());
  if (k < 1) throw InputError("there must be at least one truth per sentence");
  std::vector<BlockSequences> batches((sources.size() + kBatch - 1) / kBatch);
  parallel_for(batches.size(), jobs, [&](size_t batch, int) {
    BleuScorer scorer;
    BlockSearch<BleuScorer> search(model, scorer);
    for (size_t i = batch * kBatch; i < std::min(sources.size(), (batch + 1) * kBatch); ++i) {
      scorer.begin(references[i], sources[i].words.size());
      search.run(sources[i], options, true);
      best_ways(model, search, k, few, batches[batch]);
      batches[batch].end_sentence();
    }
  });
  return joined(batches);
}

}  // namespace hopefear
