#include "prune.h"

#include <algorithm>

#include "expectations.h"
#include "inside_outside.h"
#include "parallel.h"
#include "viterbi.h"

namespace hopefear {

Pruned restricted(const Forest& forest, const Reachable& used) {
  ForestBuilder builder(forest.vocab, forest.features, forest.dense_width, forest.number_width);
  Pruned out;
  std::vector<int32_t> number(static_cast<size_t>(forest.nodes()), -1), tails;
  const bool sparse = !forest.sparse_begin.empty();
  for (int32_t v = 0; v < forest.nodes(); ++v) {
    const auto node = static_cast<size_t>(v);
    if (!used.node[node] && v != forest.goal()) continue;
    number[node] = forest.spans.empty() ? builder.add_node() : builder.add_node(forest.spans[2 * node], forest.spans[2 * node + 1]);
    for (int32_t e = forest.edge_begin[v]; e < forest.edge_begin[v + 1]; ++e) {
      const auto edge = static_cast<size_t>(e);
      if (!used.edge[edge]) continue;
      tails.clear();
      for (int32_t tail : forest.edge_tails(e)) tails.push_back(number[static_cast<size_t>(tail)]);
      const size_t from = sparse ? static_cast<size_t>(forest.sparse_begin[edge]) : 0, count = sparse ? static_cast<size_t>(forest.sparse_begin[edge + 1]) - from : 0;
      builder.add_edge(tails, forest.edge_words(e), forest.dense.data() + edge * static_cast<size_t>(forest.dense_width),
                       forest.sparse_ids.subspan(from, count), forest.sparse_values.subspan(from, count),
                       forest.numbers.data() + edge * static_cast<size_t>(forest.number_width));
      out.origin.push_back(e);
    }
  }
  out.forest = builder.finish();
  return out;
}

Pruned pruned(const Forest& forest, const double* w, const PruneOptions& options) {
  const auto edges = static_cast<size_t>(forest.edges());
  std::vector<double> scores(edges);
  edge_scores(forest, w, scores.data());
  const auto score = [&](int32_t e) { return scores[static_cast<size_t>(e)]; };
  Viterbi best;
  viterbi(forest, score, best);
  std::vector<uint8_t> keep(edges, 1), always(edges, 0);
  const Derivation best_derivation = viterbi_derivation(forest, best);
  for (int32_t e : best_derivation.edges) always[static_cast<size_t>(e)] = 1;

  if (options.beam || options.max_edges) {
    std::vector<double> node, merit, out;
    inside<Tropical>(forest, score, node, merit);
    outside<Tropical>(forest, score, node, out);
    for (int32_t v = 0; v < forest.nodes(); ++v)
      for (int32_t e = forest.edge_begin[v]; e < forest.edge_begin[v + 1]; ++e)
        merit[static_cast<size_t>(e)] += out[static_cast<size_t>(v)];
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
  return restricted(forest, reachable(forest, [&](int32_t e) { return keep[static_cast<size_t>(e)] || always[static_cast<size_t>(e)]; }));
}

Pool pruned(const Pool& pool, const double* w, const PruneOptions& options, int jobs) {
  Pool out = pool;
  parallel_for(pool.size(), jobs, [&](size_t i, int) {
    try {
      out.sentences[i].forest = pruned(pool.sentences[i].forest, w, options).forest;
    } catch (const InputError& error) {
      throw InputError("sentence " + pool.sentences[i].id + ": " + error.what());
    }
  });
  return out;
}

}  // namespace hopefear
