// Weights prepared for decoding by block sequences.
#pragma once
#include <array>
#include <memory>
#include <span>
#include <vector>

#include "blocks/block_model.h"
#include "util/feature_table.h"

namespace hopefear {

class BlockWeights {
 public:
  /// `precompute`: w.f of all blocks of the grammar at once, not sentence by sentence.
  BlockWeights(std::shared_ptr<const FeatureTable> table, const BlockModel& model, bool precompute, int jobs);

  const FeatureTable& table() const { return *table_; }
  double real(size_t i) const { return real_[i]; }
  /// w.f of each block of the grammar by itself, or null if it was not precomputed.
  const double* inside() const { return inside_.empty() ? nullptr : inside_.data(); }
  /// The same of one block. `copy`: as StoredBlock has it.
  double inside(const BlockModel& model, const BlockView& b, uint32_t rule, uint8_t copy) const;

 private:
  void precompute(const BlockModel& model, uint32_t first_node);

  std::shared_ptr<const FeatureTable> table_;
  std::array<double, kBlockReals> real_{};
  std::vector<double> inside_;
};

/// Weights by the ids of features, as a table; those that are 0 are left out.
std::shared_ptr<FeatureTable> weight_table(const Vocab& features, std::span<const double> w);
/// All keys of a table in ascending order, and a table of exactly these keys and weights: the content of a checkpoint.
std::vector<uint64_t> sorted_keys(const FeatureTable& table);
std::shared_ptr<FeatureTable> keyed_table(std::span<const uint64_t> keys, std::span<const double> w);
/// Sets the weight of a feature by its name.
void set_weight(FeatureTable& table, const std::string& name, double weight);

}  // namespace hopefear
