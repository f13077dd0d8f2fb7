// Forests larger than memory: see util/array_store.h.
#pragma once
#include "forest/forest.h"

namespace hopefear {

/// The same forest, its arrays in a file if a store is open and has no memory left. Callers: whatever makes forests for a pool.
Forest stored(Forest forest);

}  // namespace hopefear
