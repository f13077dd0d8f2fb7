#include "lm/lm_columns.h"

#include "forest/each_sentence.h"

namespace hopefear {

std::vector<double> lm_columns(const Pool& pool, const LanguageModel& model, int jobs) {
  std::vector<uint32_t> words;
  model.map_words(*pool.vocab, words);
  const auto row_begin = pool.row_begin();
  std::vector<double> columns(2 * row_begin.back());
  each_sentence(pool, jobs, [&](size_t i, const Sentence& s) {
    for (int32_t e = 0; e < s.forest.edges(); ++e) {
      LmContext context = model.begin_sentence(), next;
      double log10 = 0, unknown = 0;
      for (int32_t word : s.forest.edge_words(e)) {
        const WordScore got = model.score(context, words[word], next);
        log10 += got.prob;
        unknown += got.unknown;
        context = next;
      }
      log10 += model.score(context, kEos, next).prob;
      columns[2 * (row_begin[i] + e)] = log10 * kLn10;
      columns[2 * (row_begin[i] + e) + 1] = unknown;
    }
  });
  return columns;
}

}  // namespace hopefear
