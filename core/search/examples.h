// Sentences to learn from: an interface that makes learners independent of the decoder.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "forest/pool.h"
#include "forest/prune.h"
#include "metrics/metric.h"

namespace hopefear {

struct Examples {
  virtual ~Examples() = default;
  virtual size_t size() const = 0;
  virtual int32_t features() const = 0;
  virtual const std::string& id(size_t i) const = 0;
  virtual const References& references(size_t i) const = 0;
  /// D(f_i) under weights w. Only edges with the best derivations stay, at most this many per source word; 0: all.
  /// Learners on several threads share the examples.
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

}  // namespace hopefear
