// Forests larger than memory: see util/array_store.h.
#pragma once
#include "forest/forest.h"

namespace hopefear {

/// The same forest, with its arrays in a file if a store is open and its memory is used up. Everything that makes forests for a pool calls it.
Forest stored(Forest forest);

}  // namespace hopefear
