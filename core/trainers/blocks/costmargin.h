// Approximate relevant sets with costMargin: Tillmann and Zhang 2006, section 3.
//
//   minimise  1/N sum_i Phi(w, V_K(S_i), V^(r)(S_i)) + lambda w^2                                          (5)
//   Phi = 1/K sum_{z in V_K} max_{z' in V^(r) - V_K} psi,   psi = (b - b') (1 - (s - s'))_+^2              (3), (4)
//
// by stochastic gradient descent: for each sentence and each of its truths z_k, with z'_k the alternative of the largest psi,
//   w <- w + eta (b - b') x_k (1 - w.x_k)_+,   x_k = F(z_k) - F(z'_k)                                      (7)
// (the factor 2 of the gradient is part of eta, and so is 1/K).
//
// Where the paper is silent:
// - A step never goes beyond the place where (1 - w.x_k) is 0: its length is at most (1 - w.x_k) / |x_k|^2. The bag of blocks
//   repeats its features so often that a fixed eta would otherwise diverge.
// - An alternative that is one of the truths, or has no lower BLEU, gives no pair.
// - Features are "seen once" when they are in the sequences of one sentence only.
// - Sentences are taken in a random order, `batch` at a time: each begins with the weights that the batch began with, and a
//   weight that several of them change moves by the mean of their changes: no step overshoots. So the result depends on the
//   batch, but not on the number of threads. batch = 1 is eq. (7) as it stands.
//
// Features are computed from the blocks again in each pass, which is cheaper than storing them. Only weights are in memory.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "trainers/blocks/relevant_sets.h"

namespace hopefear {

struct CostMarginOptions {
  double eta;
  double lambda;
  int64_t batch;
  uint64_t seed;
};

struct CostMarginPass {
  double loss = 0;       // 1/N sum Phi, each with the weights at its sentence
  uint64_t updates = 0;  // pairs that moved the weights
};

class CostMargin {
 public:
  /// `reals`: which of kBlockReal are features too; those of copied words always are. Decoder and sources must outlive this.
  CostMargin(const BlockDecoder& decoder, const std::vector<BlockSource>& sources, const std::vector<bool>& reals);

  void add(std::shared_ptr<const SequenceFile> file, bool truths);

  /// Finds all features of the sequences, those of one sentence only left out if `drop_once`. Weights stay; new ones are 0.
  void find_features(bool drop_once, int jobs);
  CostMarginPass pass(const CostMarginOptions& options, int jobs);
  /// (5) with the current weights.
  double objective(double lambda, int jobs) const;

  const std::shared_ptr<FeatureTable>& table() const { return table_; }
  void set_table(std::shared_ptr<FeatureTable> table) { table_ = std::move(table); }
  /// `name value` lines of all weights that are not 0, in the order in which the sequences have their features; returns how many.
  size_t write_weights(const std::string& path) const;

 private:
  struct Local;
  struct Change {
    size_t slot;
    double by;
  };
  void expand(size_t sentence, Local& local) const;
  void gather(Local& local, const FeatureTable& table, double scale) const;
  double phi(Local& local, double eta, uint64_t& updates) const;
  void changes(const Local& local, std::vector<Change>& out) const;
  template <class Body>
  void each_sentence(int jobs, Body&& body) const;
  uint64_t estimated_keys() const;
  struct Counted {
    std::unique_ptr<FeatureTable> table;
    std::vector<uint8_t> count;  // of each slot
  };
  template <class Wanted>
  Counted count_keys(size_t room, int jobs, Wanted&& wanted) const;
  void apply_means(std::span<const std::vector<Change>> changed, double scale, int jobs);

  const BlockDecoder& decoder_;
  const std::vector<BlockSource>& sources_;
  std::vector<bool> reals_;
  bool lms_ = false;
  std::vector<std::shared_ptr<const SequenceFile>> truths_, alternatives_;
  std::shared_ptr<FeatureTable> table_ = std::make_shared<FeatureTable>();
};

}  // namespace hopefear
