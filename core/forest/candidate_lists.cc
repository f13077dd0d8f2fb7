#include "forest/candidate_lists.h"

#include <algorithm>
#include <numeric>

#include "forest/stored_forest.h"
#include "util/words.h"

namespace hopefear {
namespace {

/// The arrays of many lists, end to end. Without texts, lists share the words "0", "1", ... of their candidates.
struct Block {
  std::vector<double> dense, numbers;
  std::vector<int32_t> edges, zeros, word_begin, words;
};

}  // namespace

void append_lists(Pool& pool, const std::vector<std::string>& ids, std::span<const int64_t> row_begin, const double* dense,
                  const double* numbers, const std::vector<std::string>& texts,
                  const std::vector<std::vector<std::string>>& references) {
  if (ids.empty()) return;
  const auto width = static_cast<size_t>(pool.features->size()), number_width = pool.number_names.size();
  const int64_t first = row_begin[0], last = row_begin[ids.size()];
  const auto block = std::make_shared<Block>();
  block->dense.assign(dense + first * static_cast<int64_t>(width), dense + last * static_cast<int64_t>(width));
  if (number_width)
    block->numbers.assign(numbers + first * static_cast<int64_t>(number_width),
                          numbers + last * static_cast<int64_t>(number_width));
  size_t longest = 0;
  for (size_t i = 0; i < ids.size(); ++i) {
    const auto count = static_cast<size_t>(row_begin[i + 1] - row_begin[i]);
    longest = std::max(longest, count);
    block->edges.insert(block->edges.end(), {0, static_cast<int32_t>(count)});
    if (texts.empty()) continue;
    const size_t begin = block->words.size();
    block->word_begin.push_back(0);
    for (int64_t row = row_begin[i]; row < row_begin[i + 1]; ++row) {
      for_each_word(texts[static_cast<size_t>(row)],
                    [&](std::string_view word) { block->words.push_back(pool.vocab->add(word)); });
      block->word_begin.push_back(static_cast<int32_t>(block->words.size() - begin));
    }
  }
  block->zeros.assign(longest + 1, 0);
  if (texts.empty()) {
    block->word_begin.resize(longest + 1);
    std::iota(block->word_begin.begin(), block->word_begin.end(), 0);
    for (size_t k = 0; k < longest; ++k) block->words.push_back(pool.vocab->add(std::to_string(k)));
  }
  const int32_t *word_begin = block->word_begin.data(), *words = block->words.data();
  for (size_t i = 0; i < ids.size(); ++i) {
    const auto row = static_cast<size_t>(row_begin[i] - first), count = static_cast<size_t>(row_begin[i + 1] - row_begin[i]);
    Forest f;
    f.edge_begin = {block->edges.data() + 2 * i, 2};
    f.tail_begin = {block->zeros.data(), count + 1};
    f.word_begin = {word_begin, count + 1};
    f.words = {words, static_cast<size_t>(word_begin[count])};
    f.dense = {block->dense.data() + row * width, count * width};
    f.numbers = {block->numbers.data() + row * number_width, count * number_width};
    f.dense_width = static_cast<int32_t>(width);
    f.number_width = static_cast<int32_t>(number_width);
    f.vocab = pool.vocab;
    f.features = pool.features;
    f.owner = block;
    if (!texts.empty()) {
      words += word_begin[count];
      word_begin += count + 1;
    }
    pool.append(ids[i], stored(std::move(f)), "", references.empty() ? std::vector<std::string>{} : references[i]);
  }
}

}  // namespace hopefear
