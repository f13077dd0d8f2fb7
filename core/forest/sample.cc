#include "forest/sample.h"

#include "forest/each_sentence.h"
#include "forest/expectations.h"
#include "forest/kbest.h"
#include "util/random.h"

namespace hopefear {

std::vector<Derivation> sample(const Forest& forest, const double* w, int64_t count, double temperature, uint64_t seed,
                               uint64_t stream) {
  std::vector<double> scores(forest.edges()), cold(scores.size());
  edge_scores(forest, w, scores.data());
  for (size_t e = 0; e < scores.size(); ++e) cold[e] = scores[e] / temperature;
  Expectations x;
  log_inside(forest, cold, x);
  Random random(seed, stream);
  std::vector<Derivation> drawn(count);
  for (Derivation& d : drawn) {
    unroll(
        forest,
        [&](int32_t v) {
          double left = random.uniform();
          int32_t chosen = -1;
          for (int32_t e = forest.edge_begin[v]; e < forest.edge_begin[v + 1]; ++e) {
            const double p = x.conditional[e];
            if (p == 0.0) continue;
            chosen = e;  // the last possible edge, if rounding leaves a remainder
            if ((left -= p) < 0.0) break;
          }
          return chosen;
        },
        d.edges);
    for (int32_t e : d.edges) d.score += scores[e];
  }
  return drawn;
}

Pool sample(const Pool& pool, const double* w, int64_t count, double temperature, uint64_t seed, int jobs) {
  Pool out;
  out.vocab = pool.vocab;
  out.features = pool.features;
  out.dense_width = pool.dense_width;
  const bool keep_numbers = pool.is_lists();
  if (keep_numbers) out.number_names = pool.number_names;
  out.sentences.resize(pool.size());
  each_sentence(pool, jobs, [&](size_t i, const Sentence& s) {
    const auto drawn = sample(s.forest, w, count, temperature, seed, i);
    out.sentences[i] = {s.id, s.source, list_of(s.forest, drawn, keep_numbers), s.references, s.id_kind};
  });
  return out;
}

}  // namespace hopefear
