#include "forest/prune.h"

#include <algorithm>

#include "forest/each_sentence.h"
#include "forest/expectations.h"
#include "forest/inside_outside.h"
#include "forest/viterbi.h"

namespace hopefear {

Pruned restricted(const Forest& forest, const Reachable& used) {
  ForestBuilder builder(forest.vocab, forest.features, forest.dense_width, forest.number_width);
  Pruned out;
  std::vector<int32_t> number(forest.nodes(), -1), tails;
  for (int32_t v = 0; v < forest.nodes(); ++v) {
    if (!used.node[v] && v != forest.goal()) continue;
    number[v] = builder.copy_node(forest, v);
    for (int32_t e = forest.edge_begin[v]; e < forest.edge_begin[v + 1]; ++e) {
      if (!used.edge[e]) continue;
      tails.clear();
      for (int32_t tail : forest.edge_tails(e)) tails.push_back(number[tail]);
      builder.copy_edge(forest, e, tails);
      out.origin.push_back(e);
    }
  }
  out.forest = builder.finish();
  return out;
}

Pruned pruned(const Forest& forest, const double* w, const PruneOptions& options) {
  const size_t edges = forest.edges();
  std::vector<double> scores(edges);
  edge_scores(forest, w, scores.data());
  const auto score = [&](int32_t e) { return scores[e]; };
  Viterbi best;
  viterbi(forest, score, best);
  std::vector<uint8_t> keep(edges, 1), always(edges, 0);
  const Derivation best_derivation = viterbi_derivation(forest, best);
  for (int32_t e : best_derivation.edges) always[e] = 1;

  if (options.beam || options.max_edges) {
    std::vector<double> node, merit, out;
    inside<Tropical>(forest, score, node, merit);
    outside<Tropical>(forest, score, node, out);
    for (int32_t v = 0; v < forest.nodes(); ++v)
      for (int32_t e = forest.edge_begin[v]; e < forest.edge_begin[v + 1]; ++e) merit[e] += out[v];
    if (options.beam)
      for (size_t e = 0; e < edges; ++e) keep[e] = merit[e] >= node.back() - *options.beam;
    if (options.max_edges && *options.max_edges < static_cast<int64_t>(edges)) {
      std::vector<double> sorted = merit;
      const auto first_out = sorted.begin() + static_cast<ptrdiff_t>(*options.max_edges);
      std::nth_element(sorted.begin(), first_out, sorted.end(), std::greater<>());
      for (size_t e = 0; e < edges; ++e) keep[e] = keep[e] && merit[e] > *first_out;
    }
  }
  if (options.posterior) {
    std::vector<double> cold(edges);
    for (size_t e = 0; e < edges; ++e) cold[e] = scores[e] / options.temperature;
    Expectations x;
    posteriors(forest, cold, x);
    for (size_t e = 0; e < edges; ++e) keep[e] = keep[e] && x.edge[e] >= *options.posterior;
  }
  return restricted(forest, reachable(forest, [&](int32_t e) { return keep[e] || always[e]; }));
}

Pool pruned(const Pool& pool, const double* w, const PruneOptions& options, int jobs) {
  Pool out = pool;
  each_sentence(pool, jobs, [&](size_t i, const Sentence& s) { out.sentences[i].forest = pruned(s.forest, w, options).forest; });
  return out;
}

}  // namespace hopefear
