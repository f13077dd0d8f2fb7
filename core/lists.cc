#include "lists.h"

#include "parallel.h"

namespace hopefear {

OneBest one_best(const Lists& lists, const double* w, int jobs) {
  OneBest best{std::vector<int32_t>(lists.sentences(), -1), std::vector<double>(lists.width, 0.0)};
  parallel_for(lists.sentences(), jobs, [&](size_t i, int) {
    const Forest& list = lists.list(i);
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
    if (best.candidate[i] < 0) continue;
    const double* row = lists.row_stats(i, best.candidate[i]);
    for (size_t k = 0; k < lists.width; ++k) best.stats[k] += row[k];
  }
  return best;
}

}  // namespace hopefear
