#include "metrics/metric.h"

#include "forest/each_sentence.h"

namespace hopefear {

std::unique_ptr<Scorer> Metric::scorer(const Vocab&, const References&) const {
  throw InputError("the metric " + name() + " cannot be computed from words alone");
}

void Metric::list_stats(const Pool& pool, const Sentence& sentence, double* rows) const {
  const auto counter = scorer(*pool.vocab, sentence.references);
  for (int32_t e = 0; e < sentence.forest.edges(); ++e)
    counter->stats(sentence.forest.edge_words(e), rows + static_cast<ptrdiff_t>(e) * size());
}

std::vector<double> pool_stats(const Metric& metric, const Pool& pool, int jobs) {
  const auto row_begin = pool.row_begin();
  std::vector<double> stats(static_cast<size_t>(row_begin.back()) * metric.size());
  each_sentence(pool, jobs, [&](size_t i, const Sentence& sentence) {
    metric.list_stats(pool, sentence, stats.data() + row_begin[i] * metric.size());
  });
  return stats;
}

const References& at_least_one(const References& references) {
  if (references.empty()) throw InputError("there is no reference. Give one, or leave the sentence out");
  return references;
}

}  // namespace hopefear
