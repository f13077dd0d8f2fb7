#include "trainers/lists.h"

#include "forest/derivation.h"
#include "forest/viterbi.h"
#include "util/parallel.h"

namespace hopefear {

Lists::Lists(const Pool& pool, const double* stats, const Metric& metric)
    : pool(pool), row_begin{0}, stats(stats), metric(metric), width(static_cast<size_t>(metric.size())) {
  for (const Sentence& s : pool.sentences) {
    if (stats && !s.forest.is_list()) throw InputError("sentence " + s.id + ": is not a candidate list");
    row_begin.push_back(row_begin.back() + s.forest.edges());
    if (!stats) scorers.push_back(metric.scorer(*pool.vocab, s.references));
  }
}

OneBest one_best(const Lists& lists, const double* w, int jobs) {
  OneBest best{std::vector<int32_t>(lists.sentences(), -1), std::vector<double>(lists.width, 0.0)};
  std::vector<double> counted(lists.stats ? 0 : lists.sentences() * lists.width);
  parallel_for(lists.sentences(), jobs, [&](size_t i, int) {
    const Forest& list = lists.list(i);
    if (!lists.stats) {
      lists.scorers[i]->stats(yield(list, viterbi(list, w).edges), counted.data() + i * lists.width);
      return;
    }
    double top = 0;
    for (int32_t e = 0; e < list.edges(); ++e) {
      const double score = list.edge_score(e, w);
      if (e == 0 || score > top) {
        top = score;
        best.candidate[i] = e;
      }
    }
  });
  for (size_t i = 0; i < lists.sentences(); ++i) {
    if (lists.stats && best.candidate[i] < 0) continue;
    const double* row = lists.stats ? lists.row_stats(i, best.candidate[i]) : counted.data() + i * lists.width;
    for (size_t k = 0; k < lists.width; ++k) best.stats[k] += row[k];
  }
  return best;
}

}  // namespace hopefear
