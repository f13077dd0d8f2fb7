#include "blocks/block_oracle.h"

#include <bit>
#include <cstring>

#include "blocks/block_search.h"
#include "forest/kbest.h"
#include "metrics/bleu.h"
#include "util/parallel.h"
#include "util/random.h"

namespace hopefear {
namespace {

constexpr int kOrder = 4;

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
    bit_.assign(static_cast<size_t>(ngrams_.size()), 0);  // an n-gram has as many bits as may count
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

  /// Blocks with many matching n-grams first.
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
    uint64_t* used = used_.data() + static_cast<size_t>(next.used) * width_;
    std::memcpy(used, used_.data() + static_cast<size_t>(from.used) * width_, width_ * sizeof(uint64_t));
    for (const int32_t e : option.view.target) {
      int32_t found[kOrder];
      for (int n = kOrder - 1; n > 0; --n) found[n] = next.suffix[n - 1] < 0 ? -1 : ngrams_.child(next.suffix[n - 1], e);
      found[0] = ngrams_.child(ReferenceNgrams::kRoot, e);
      for (int n = 0; n < kOrder; ++n) {
        if (found[n] < 0) continue;
        for (uint32_t b = bit_[found[n]], end = b + static_cast<uint32_t>(ngrams_.clip(found[n])); b < end; ++b)
          if (!(used[b / 64] >> (b % 64) & 1)) {
            used[b / 64] |= uint64_t{1} << (b % 64);
            ++next.matches[n];
            break;
          }
      }
      std::copy_n(found, kOrder - 1, next.suffix);
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

struct Found {
  std::vector<StoredBlock> blocks;
  std::vector<size_t> ends;
  std::vector<float> bleu;
};

BlockSequences joined(const std::vector<Found>& found) {
  BlockSequences out;
  for (const Found& one : found) {
    const uint64_t first = out.blocks.size();
    out.blocks.insert(out.blocks.end(), one.blocks.begin(), one.blocks.end());
    for (const size_t end : one.ends) out.block_begin.push_back(first + end);
    out.bleu.insert(out.bleu.end(), one.bleu.begin(), one.bleu.end());
    out.sentence_begin.push_back(out.block_begin.size() - 1);
  }
  return out;
}

/// The K best ways through the lattice. Nodes know the last option of the best way only, so the blocks come from the edges.
void best_ways(const BlockDecoder& d, const BlockSearch<BleuScorer>& search, int64_t k, bool few, Found& found) {
  constexpr double kBlock = 1e-7;  // below any difference of BLEU+1 that matters
  const auto& nodes = search.nodes();
  const auto& edges = search.edges();
  std::vector<std::vector<uint32_t>> into(nodes.size());
  for (uint32_t e = 0; e < edges.size(); ++e) into[edges[e].head].push_back(e);
  ForestBuilder builder(d.vocab(), d.features());
  std::vector<uint32_t> order;
  std::vector<double> scores;
  const int32_t only[] = {slot(0)};
  for (size_t v = 1; v < nodes.size(); ++v) {
    builder.add_node();
    for (const uint32_t e : into[v]) {
      const int32_t tail[] = {edges[e].tail - 1};
      const size_t arity = edges[e].tail > 0;
      builder.add_edge({tail, arity}, {only, arity}, nullptr);
      order.push_back(e);
      scores.push_back(few ? -kBlock : kBlock);
    }
  }
  builder.add_node();
  for (const auto& final : search.finals()) {
    const int32_t tail[] = {final.node - 1};
    const size_t arity = final.node > 0;
    builder.add_edge({tail, arity}, {only, arity}, nullptr);
    scores.push_back(final.score);
  }
  const Forest forest = builder.finish();
  for (const Derivation& way : kbest(forest, scores, k, false)) {
    for (size_t i = way.edges.size(); i-- > 1;)
      found.blocks.push_back(search.options()[edges[order[way.edges[i]]].option].stored());
    found.ends.push_back(found.blocks.size());
    found.bleu.push_back(static_cast<float>(scores[way.edges[0]]));
  }
}

constexpr size_t kBatch = 64;

}  // namespace

BlockSequences oracle_sequences(const BlockDecoder& decoder, const std::vector<BlockSource>& sources,
                                const std::vector<std::vector<int32_t>>& references, const BlockOptions& options, int64_t k,
                                bool few, int jobs) {
  if (references.size() != sources.size()) throw InputError("one reference a sentence is needed");
  if (k < 1) throw InputError("there must be at least one truth a sentence");
  std::vector<Found> found(sources.size());
  parallel_for((sources.size() + kBatch - 1) / kBatch, jobs, [&](size_t batch, int) {
    BleuScorer scorer;
    BlockSearch<BleuScorer> search(decoder, scorer);
    for (size_t i = batch * kBatch; i < std::min(sources.size(), (batch + 1) * kBatch); ++i) {
      scorer.begin(references[i], sources[i].words.size());
      search.run(sources[i], options, decoder.which().swap, true);
      best_ways(decoder, search, k, few, found[i]);
    }
  });
  return joined(found);
}

BlockSequences bags_of_blocks(const BlockDecoder& decoder, const std::vector<BlockSource>& sources, int jobs) {
  const Grammar& g = decoder.grammar();
  std::vector<Found> found(sources.size());
  parallel_for(sources.size(), jobs, [&](size_t i, int) {
    const BlockSource& source = sources[i];
    Found& bag = found[i];
    for (size_t begin = 0; begin < source.words.size(); ++begin) {
      uint32_t node = Grammar::kRoot;
      bool alone = false;
      for (size_t end = begin; end < source.words.size() && end - begin < 255 && decoder.knows(source.words[end]); ++end) {
        node = g.child(node, source.words[end]);
        if (node == Grammar::kNone) break;
        const auto [first, last] = g.rules_of(node);
        if (first == last) continue;
        bag.blocks.push_back({first, static_cast<uint16_t>(begin), static_cast<uint8_t>(end + 1 - begin), 0});
        alone = alone || end == begin;
      }
      if (!alone)
        if (const uint8_t copy = BlockDecoder::copy_kind(source, begin, decoder.knows(source.words[begin]), false))
          bag.blocks.push_back({0, static_cast<uint16_t>(begin), 1, copy});
    }
    bag.ends.push_back(bag.blocks.size());
    bag.bleu.push_back(0.0f);
  });
  return joined(found);
}

BlockSequences random_sequences(const BlockDecoder& decoder, const std::vector<BlockSource>& sources,
                                const std::vector<std::vector<int32_t>>& references, int64_t count, uint64_t seed, int jobs) {
  if (references.size() != sources.size()) throw InputError("one reference a sentence is needed");
  constexpr uint64_t kOptions = 10;
  const Grammar& g = decoder.grammar();
  const Bleu metric(kOrder);
  std::vector<Found> found(sources.size());
  parallel_for(sources.size(), jobs, [&](size_t i, int) {
    const BlockSource& source = sources[i];
    const size_t length = source.words.size();
    // The blocks of each place, by the number of source words: first rule and number, or a copy.
    struct Choice {
      uint32_t first, count;
      uint8_t length, copy;
    };
    std::vector<std::vector<Choice>> choices(length);
    for (size_t begin = 0; begin < length; ++begin) {
      uint32_t node = Grammar::kRoot;
      for (size_t end = begin; end < length && end - begin < 255 && decoder.knows(source.words[end]); ++end) {
        node = g.child(node, source.words[end]);
        if (node == Grammar::kNone) break;
        const auto [first, last] = g.rules_of(node);
        if (first != last)
          choices[begin].push_back({first, std::min<uint32_t>(kOptions, last - first), static_cast<uint8_t>(end + 1 - begin), 0});
      }
      const bool alone = !choices[begin].empty() && choices[begin].front().length == 1;
      if (!alone)
        if (const uint8_t copy = BlockDecoder::copy_kind(source, begin, decoder.knows(source.words[begin]), false))
          choices[begin].push_back({0, 1, 1, copy});
    }
    Random random(seed, i);
    const auto draw = [&](size_t begin) {
      const Choice& c = choices[begin][random.below(choices[begin].size())];
      return StoredBlock{c.copy ? 0 : c.first + static_cast<uint32_t>(random.below(c.count)), static_cast<uint16_t>(begin),
                         c.length, c.copy};
    };
    const ReferenceNgrams ngrams({references[i]}, kOrder);
    BleuCounter counter(ngrams, kOrder, ReferenceLength::closest);
    std::vector<int32_t> words;
    for (int64_t k = 0; k < count; ++k) {
      const size_t from = found[i].blocks.size();
      for (size_t at = 0; at < length;) {
        const StoredBlock first = draw(at);
        const size_t next = at + first.length;
        if (decoder.which().swap && next < length && random.below(4) == 0) {
          const StoredBlock second = draw(next);
          found[i].blocks.push_back(second);
          at = next + second.length;
        } else {
          at = next;
        }
        found[i].blocks.push_back(first);
      }
      words.clear();
      for (size_t b = from; b < found[i].blocks.size(); ++b) {
        const auto target = decoder.target_of(source, found[i].blocks[b]);
        words.insert(words.end(), target.begin(), target.end());
      }
      double stats[2 * kOrder + 1];
      counter.stats(words, stats);
      found[i].ends.push_back(found[i].blocks.size());
      found[i].bleu.push_back(static_cast<float>(metric.sentence_gain(stats)));
    }
  });
  return joined(found);
}

}  // namespace hopefear
