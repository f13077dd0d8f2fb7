#include "sample.h"

#include "expectations.h"
#include "kbest.h"
#include "parallel.h"
#include "random.h"

namespace hopefear {

std::vector<Derivation> sample(const Forest& forest, const double* w, int64_t count, double temperature, uint64_t seed, uint64_t stream) {
  std::vector<double> scores(static_cast<size_t>(forest.edges())), cold(scores.size());
  edge_scores(forest, w, scores.data());
  for (size_t e = 0; e < scores.size(); ++e) cold[e] = scores[e] / temperature;
  Expectations x;
  log_inside(forest, cold, x);
  Random random(seed, stream);
  std::vector<Derivation> drawn(static_cast<size_t>(count));
  for (Derivation& d : drawn) {
    unroll(forest, [&](int32_t v) {
      double left = random.uniform();
      int32_t chosen = -1;
      for (int32_t e = forest.edge_begin[v]; e < forest.edge_begin[v + 1]; ++e) {
        const double p = x.conditional[static_cast<size_t>(e)];
        if (p == 0.0) continue;
        chosen = e;  // the last one possible, should rounding leave something over
        if ((left -= p) < 0.0) break;
      }
      return chosen;
    }, d.edges);
    for (int32_t e : d.edges) d.score += scores[static_cast<size_t>(e)];
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
  parallel_for(pool.size(), jobs, [&](size_t i, int) {
    const Sentence& s = pool.sentences[i];
    try {
      out.sentences[i] = {s.id, s.source, list_of(s.forest, sample(s.forest, w, count, temperature, seed, i), keep_numbers), s.references};
    } catch (const InputError& error) {
      throw InputError("sentence " + s.id + ": " + error.what());
    }
  });
  return out;
}

}  // namespace hopefear
