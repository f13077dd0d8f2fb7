// Arrays larger than memory. While a store is open, the arrays of forests, and others that ask for it, take so much memory at most; what is
// made beyond that lives in mapped files without a name. The system keeps the pages that are in use, as far as there is room, and
// trainers read them like any other memory.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "forest/forest.h"

namespace hopefear {

/// From now on, for the whole process: `limit` bytes of memory, then files in this folder.
void open_array_store(const std::string& folder, uint64_t limit);
/// What is made from now on lives in memory. Arrays in files stay as long as somebody uses them.
void close_array_store();

/// The same forest, its arrays in a file if a store is open and has no memory left. Whoever makes forests for a pool calls it.
Forest kept(Forest forest);
/// Room for numbers, zero at first: in memory, or in a file.
std::shared_ptr<double[]> kept_numbers(size_t count);

}  // namespace hopefear
