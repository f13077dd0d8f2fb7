// Forests larger than memory: see util/array_store.h.
#pragma once
#include "forest/forest.h"

namespace hopefear {

/// The same forest, its arrays in a file if a store is open and has no memory left. Whoever makes forests for a pool calls it.
Forest kept(Forest forest);

}  // namespace hopefear
