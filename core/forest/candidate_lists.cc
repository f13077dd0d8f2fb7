#include "forest/candidate_lists.h"

#include "util/words.h"

namespace hopefear {

void append_lists(Pool& pool, const std::vector<std::string>& ids, std::span<const int64_t> row_begin, const double* dense,
                  const double* numbers, const std::vector<std::string>& texts,
                  const std::vector<std::vector<std::string>>& references) {
  const int32_t width = pool.features->size();
  const auto number_width = static_cast<int32_t>(pool.number_names.size());
  std::vector<int32_t> words;
  for (size_t i = 0; i < ids.size(); ++i) {
    ForestBuilder builder(pool.vocab, pool.features, width, number_width);
    const auto count = static_cast<size_t>(row_begin[i + 1] - row_begin[i]);
    builder.reserve(1, count, 0, count, 0);
    builder.add_node();
    for (int64_t row = row_begin[i]; row < row_begin[i + 1]; ++row) {
      words.clear();
      const std::string text = texts.empty() ? std::to_string(row - row_begin[i]) : texts[static_cast<size_t>(row)];
      for_each_word(text, [&](std::string_view word) { words.push_back(pool.vocab->add(word)); });
      builder.add_edge({}, words, dense + row * width, {}, {}, number_width ? numbers + row * number_width : nullptr);
    }
    pool.append(ids[i], builder.finish(), "", references.empty() ? std::vector<std::string>{} : references[i]);
  }
}

}  // namespace hopefear
