#include "forest/stored_forest.h"

#include <algorithm>
#include <type_traits>

#include "util/array_store.h"

namespace hopefear {
namespace {

size_t rounded(size_t bytes) { return (bytes + 63) / 64 * 64; }

/// each(array) for all arrays of a forest.
template <class Each>
void each_array(Forest& f, Each&& each) {
  each(f.edge_begin), each(f.tail_begin), each(f.tails), each(f.word_begin), each(f.words), each(f.spans), each(f.dense);
  each(f.sparse_begin), each(f.sparse_ids), each(f.sparse_values), each(f.numbers);
}

}  // namespace

Forest stored(Forest forest) {
  const auto store = ArrayStore::now();
  if (!store) return forest;
  using Chunks = std::vector<std::shared_ptr<ArrayStore::Chunk>>;
  auto chunks = std::make_shared<Chunks>();
  const auto keep = [&](std::shared_ptr<ArrayStore::Chunk> chunk) {
    if (std::find(chunks->begin(), chunks->end(), chunk) == chunks->end()) chunks->push_back(std::move(chunk));
  };
  size_t bytes = 0;
  each_array(forest, [&](auto& array) {
    if (array.empty()) return;
    if (auto chunk = store->file_of(array.data()))
      keep(std::move(chunk));
    else
      bytes += rounded(array.size_bytes());
  });
  if (bytes == 0) return forest;
  if (store->hold(bytes)) {
    forest.owner = std::make_shared<Held>(store, bytes, std::move(forest.owner));
    return forest;
  }
  auto [place, mine] = store->take(bytes);
  each_array(forest, [&, at = place](auto& array) mutable {
    if (array.empty() || store->file_of(array.data())) return;
    std::memcpy(at, array.data(), array.size_bytes());
    using Element = typename std::remove_reference_t<decltype(array)>::element_type;
    array = {reinterpret_cast<Element*>(at), array.size()};
    at += rounded(array.size_bytes());
  });
  keep(std::move(mine));
  forest.owner = std::move(chunks);
  return forest;
}

}  // namespace hopefear
