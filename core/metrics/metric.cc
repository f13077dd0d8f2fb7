#include "metrics/metric.h"

#include "forest/pool.h"
#include "util/parallel.h"

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
  parallel_for(pool.size(), jobs, [&](size_t i, int) {
    try {
      metric.list_stats(pool, pool.sentences[i], stats.data() + row_begin[i] * metric.size());
    } catch (const InputError& error) {
      throw InputError("sentence " + pool.sentences[i].id + ": " + error.what());
    }
  });
  return stats;
}

const References& at_least_one(const References& references) {
  if (references.empty()) throw InputError("there is no reference. Give one, or leave the sentence out");
  return references;
}

}  // namespace hopefear
