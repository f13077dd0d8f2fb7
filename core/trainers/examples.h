// Sentences to learn from, behind whatever makes their forests: nothing in a learner knows which decoder that is.
#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "forest/pool.h"
#include "forest/prune.h"
#include "hiero/hiero_decoder.h"
#include "metrics/metric.h"

namespace hopefear {

struct Examples {
  virtual ~Examples() = default;
  virtual size_t size() const = 0;
  virtual int32_t features() const = 0;
  virtual const std::string& id(size_t i) const = 0;
  virtual const References& references(size_t i) const = 0;
  /// D(f_i) under weights w, at most so many edges a source word (0: all), by the best derivation that uses them. Constant:
  /// learners on several threads share the examples.
  virtual Forest decode(size_t i, const double* w, int64_t edges_per_word) const = 0;
};

/// Fixed lists, lattices or forests.
class PoolExamples final : public Examples {
 public:
  explicit PoolExamples(Pool pool) : pool_(std::move(pool)) {}
  size_t size() const override { return pool_.size(); }
  int32_t features() const override { return pool_.features->size(); }
  const std::string& id(size_t i) const override { return pool_.sentences[i].id; }
  const References& references(size_t i) const override { return pool_.sentences[i].references; }
  Forest decode(size_t i, const double* w, int64_t edges_per_word) const override {
    const Forest& forest = pool_.sentences[i].forest;
    const int64_t limit = edges_per_word * forest.source_length();
    return limit > 0 ? pruned(forest, w, {.beam = {}, .posterior = {}, .max_edges = limit}).forest : forest;
  }

 private:
  Pool pool_;
};

/// Sentences that the hierarchical decoder translates anew each time. The decoder must outlive this.
class HieroExamples final : public Examples {
 public:
  HieroExamples(const HieroDecoder& decoder, std::vector<HieroSource> sources, std::vector<References> references,
                HieroOptions options)
      : decoder_(decoder), sources_(std::move(sources)), references_(std::move(references)), options_(options) {
    if (sources_.size() != references_.size()) throw InputError("one set of references a sentence");
  }
  size_t size() const override { return sources_.size(); }
  int32_t features() const override { return decoder_.features()->size(); }
  const std::string& id(size_t i) const override { return sources_[i].id; }
  const References& references(size_t i) const override { return references_[i]; }
  Forest decode(size_t i, const double* w, int64_t edges_per_word) const override {
    HieroOptions options = options_;
    options.max_edges = edges_per_word * static_cast<int64_t>(sources_[i].words.size());
    return decoder_.decode(sources_[i], w, options);
  }

 private:
  const HieroDecoder& decoder_;
  std::vector<HieroSource> sources_;
  std::vector<References> references_;
  HieroOptions options_;
};

}  // namespace hopefear
