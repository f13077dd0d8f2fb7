#include "forest/more_features.h"

#include <algorithm>
#include <cmath>

#include "forest/each_sentence.h"
#include "util/text.h"

namespace hopefear {
namespace {

void check_new(const Forest& list, int32_t e, std::span<const int32_t> ids, const Vocab& features) {
  if (list.sparse_begin.empty()) return;
  for (int32_t k = list.sparse_begin[e]; k < list.sparse_begin[e + 1]; ++k)
    if (std::find(ids.begin(), ids.end(), list.sparse_ids[k]) != ids.end())
      throw InputError("a feature " + quoted(features[list.sparse_ids[k]]) +
                       " is there already. Rename it, or choose another prefix");
}

}  // namespace

Pool with_columns(const Pool& pool, const std::vector<std::string>& names, const double* values, int jobs) {
  const auto row_begin = pool.row_begin();
  const size_t width = names.size();
  for (size_t k = 0; k < row_begin.back() * width; ++k)
    if (!std::isfinite(values[k])) throw InputError("the new feature " + quoted(names[k % width]) + " is NaN or infinite");
  const auto features = std::make_shared<Vocab>();  // a copy: other pools may share those of `pool`
  for (const std::string& name : pool.features->texts()) features->add(name);
  std::vector<int32_t> ids;
  for (const std::string& name : names) {
    ids.push_back(features->add(name));
    if (ids.back() < pool.dense_width)
      throw InputError("a feature " + quoted(name) + " is there already. Rename it, or choose another prefix");
  }
  Pool out = pool;
  out.features = features;
  each_sentence(pool, jobs, [&](size_t i, const Sentence& s) {
    const Forest& from = s.forest;
    ForestBuilder builder(from.vocab, features, from.dense_width, from.number_width);
    builder.copy_node(from, 0);
    std::vector<int32_t> sparse;
    std::vector<double> sparse_values;
    for (int32_t e = 0; e < from.edges(); ++e) {
      check_new(from, e, ids, *features);
      sparse.clear();
      sparse_values.clear();
      if (!from.sparse_begin.empty())
        for (int32_t k = from.sparse_begin[e]; k < from.sparse_begin[e + 1]; ++k) {
          sparse.push_back(from.sparse_ids[k]);
          sparse_values.push_back(from.sparse_values[k]);
        }
      const double* row = values + (row_begin[i] + e) * width;
      sparse.insert(sparse.end(), ids.begin(), ids.end());
      sparse_values.insert(sparse_values.end(), row, row + width);
      builder.add_edge({}, from.edge_words(e), from.dense_row(e), sparse, sparse_values, from.number_row(e));
    }
    out.sentences[i].forest = builder.finish();
  });
  return out;
}

}  // namespace hopefear
