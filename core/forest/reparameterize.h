// The same candidates over other features: scaled, or several tied to one weight.
#pragma once
#include "forest/pool.h"

namespace hopefear {

/// Feature j becomes factor[j] times feature id[j] of `features`; those with the same id are added up. Ids below `dense_width` are dense.
Pool reparameterized(const Pool& pool, std::span<const int32_t> id, std::span<const double> factor,
                     std::shared_ptr<Vocab> features, int32_t dense_width);

/// The same lists with sparse features relative to the value that most candidates of the list share. Differences between the
/// candidates of a list, which alone matter for ranking, stay; the common part is not stored 200 times.
Pool centred(const Pool& pool, int jobs);

/// Of each feature: the mean over lists of its variance within a list, 0 for one that never differs. Candidates that lack a sparse
/// feature count as 0.
std::vector<double> within_variance(const Pool& pool);

/// The mean over lists of the covariance within a list of the dense features, dense_width * dense_width.
std::vector<double> within_covariance(const Pool& pool, int jobs);

}  // namespace hopefear
