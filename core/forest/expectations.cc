#include "forest/expectations.h"

#include <cmath>

#include "forest/derivation.h"
#include "forest/each_sentence.h"
#include "forest/semiring.h"

namespace hopefear {

void log_inside(const Forest& forest, std::span<const double> scores, Expectations& result) {
  result.inside.resize(forest.nodes());
  result.conditional.resize(forest.edges());
  double* inside = result.inside.data();
  double* conditional = result.conditional.data();
  for (int32_t v = 0; v < forest.nodes(); ++v) {
    const int32_t begin = forest.edge_begin[v], end = forest.edge_begin[v + 1];
    double best = kLogZero;
    for (int32_t e = begin; e < end; ++e) {
      double x = scores[e];
      for (int32_t t = forest.tail_begin[e]; t < forest.tail_begin[e + 1]; ++t) x += inside[forest.tails[t]];
      conditional[e] = x;
      best = x > best ? x : best;
    }
    if (best == kLogZero) {
      std::fill(conditional + begin, conditional + end, 0.0);
      inside[v] = kLogZero;
      continue;
    }
    double total = 0.0;
    for (int32_t e = begin; e < end; ++e) total += conditional[e] = std::exp(conditional[e] - best);
    const double scale = 1.0 / total;
    for (int32_t e = begin; e < end; ++e) conditional[e] *= scale;
    inside[v] = best + std::log(total);
  }
  result.log_z = inside[forest.goal()];
  if (result.log_z == kLogZero) throw_no_derivation();
  if (!std::isfinite(result.log_z)) throw_out_of_range();
}

void posteriors(const Forest& forest, std::span<const double> scores, Expectations& result) {
  log_inside(forest, scores, result);
  result.node.assign(forest.nodes(), 0.0);
  result.edge.resize(forest.edges());
  double* node = result.node.data();
  node[forest.goal()] = 1.0;
  for (int32_t v = forest.goal(); v >= 0; --v)
    for (int32_t e = forest.edge_begin[v]; e < forest.edge_begin[v + 1]; ++e) {
      const double uses = node[v] * result.conditional[e];
      result.edge[e] = uses;
      for (int32_t t = forest.tail_begin[e]; t < forest.tail_begin[e + 1]; ++t) node[forest.tails[t]] += uses;
    }
}

void expectations(const Forest& forest, std::span<const double> scores, std::span<const double> gains, Expectations& result) {
  log_inside(forest, scores, result);
  const size_t nodes = forest.nodes(), edges = forest.edges();
  result.expected_below.resize(nodes);
  result.covariance.resize(edges);
  double* below = result.expected_below.data();
  double* covariance = result.covariance.data();  // holds expect_B(e) on the way up
  const double* conditional = result.conditional.data();
  for (int32_t v = 0; v < forest.nodes(); ++v) {
    double expected = 0.0;
    for (int32_t e = forest.edge_begin[v]; e < forest.edge_begin[v + 1]; ++e) {
      double b = gains[e];  // (24)
      for (int32_t t = forest.tail_begin[e]; t < forest.tail_begin[e + 1]; ++t) b += below[forest.tails[t]];
      covariance[e] = b;
      expected += conditional[e] * b;  // (23)
    }
    below[v] = expected;
  }
  result.gain = below[forest.goal()];

  result.node.assign(nodes, 0.0);
  result.outer.assign(nodes, 0.0);
  result.edge.resize(edges);
  double* node = result.node.data();
  double* outer = result.outer.data();
  node[forest.goal()] = 1.0;
  outer[forest.goal()] = -result.gain;
  for (int32_t v = forest.goal(); v >= 0; --v)
    for (int32_t e = forest.edge_begin[v]; e < forest.edge_begin[v + 1]; ++e) {
      const double uses = node[v] * conditional[e];
      const double c = conditional[e] * (outer[v] + node[v] * covariance[e]);
      for (int32_t t = forest.tail_begin[e]; t < forest.tail_begin[e + 1]; ++t) {
        const int32_t tail = forest.tails[t];
        node[tail] += uses;
        outer[tail] += c - uses * below[tail];
      }
      result.edge[e] = uses;
      covariance[e] = c;
    }
}

void add_expected_features(const Forest& forest, const Expectations& x, double* features, double* covariance) {
  const size_t width = forest.dense_width;
  const size_t edges = forest.edges();
  for (size_t e = 0; e < edges; ++e) {
    const double p = x.edge[e], c = covariance ? x.covariance[e] : 0.0;
    if (p == 0.0 && c == 0.0) continue;
    const double* row = forest.dense.data() + e * width;
    if (covariance)
      for (size_t j = 0; j < width; ++j) {
        features[j] += p * row[j];
        covariance[j] += c * row[j];
      }
    else
      for (size_t j = 0; j < width; ++j) features[j] += p * row[j];
    if (forest.sparse_begin.empty()) continue;
    for (int32_t k = forest.sparse_begin[e]; k < forest.sparse_begin[e + 1]; ++k) {
      const int32_t id = forest.sparse_ids[k];
      features[id] += p * forest.sparse_values[k];
      if (covariance) covariance[id] += c * forest.sparse_values[k];
    }
  }
}

void model_scores(const Forest& forest, const double* w, std::span<const double> gains, double temperature, double mu,
                  std::vector<double>& scores) {
  scores.resize(forest.edges());
  for (int32_t e = 0; e < forest.edges(); ++e) {
    const double s = forest.edge_score(e, w);
    scores[e] = (gains.empty() ? s : s + mu * gains[e]) / temperature;
  }
}

ForestExpectations expectations(const Forest& forest, const double* w, std::span<const double> gains, double temperature,
                                double mu) {
  std::vector<double> scores, zeros;
  model_scores(forest, w, gains, temperature, mu, scores);
  if (gains.empty()) {
    zeros.assign(forest.edges(), 0.0);
    gains = zeros;
  }
  Expectations x;
  expectations(forest, scores, gains, x);
  const std::vector<double> zero(forest.features->size(), 0.0);
  ForestExpectations out;
  out.log_z = x.log_z;
  out.gain = x.gain;
  out.features = out.gain_features = out.gradient = zero;
  add_expected_features(forest, x, out.features.data(), out.gradient.data());
  for (size_t j = 0; j < zero.size(); ++j) {
    out.gain_features[j] = out.gradient[j] + x.gain * out.features[j];
    out.gradient[j] /= temperature;  // (22)
  }
  out.nodes = std::move(x.node);
  out.edges = std::move(x.edge);
  out.covariances = std::move(x.covariance);
  return out;
}

PoolExpectations expectations(const Pool& pool, const double* w, std::span<const double> gains, double temperature, double mu,
                              int jobs) {
  const size_t n = pool.size(), width = pool.features->size();
  const std::vector<int64_t> edge_begin = pool.edge_begin();
  const bool has_gains = !gains.empty();
  if (has_gains && static_cast<int64_t>(gains.size()) != edge_begin.back())
    throw InputError("there are " + std::to_string(gains.size()) + " gains for " + std::to_string(edge_begin.back()) +
                     " edges: give one for each edge of the pool");
  PoolExpectations out;
  out.log_z.resize(n);
  out.features.assign(width, 0.0);
  if (has_gains) {
    out.gain.resize(n);
    out.gradient.assign(width, 0.0);
  }
  // Each block of sentences has its own sums, which are added in order afterwards. The number of blocks depends on the data alone, and
  // is such that their sums stay below 64 MB together.
  const size_t blocks = std::max<size_t>(1, std::min({n, size_t{64}, (size_t{1} << 22) / (width + 1)}));
  std::vector<std::vector<double>> features(blocks), gradients(blocks);
  struct Scratch {
    Expectations x;
    std::vector<double> scores;
  };
  std::vector<Scratch> scratch(resolve_jobs(jobs));
  parallel_for(blocks, jobs, [&](size_t block, int thread) {
    auto& [x, scores] = scratch[thread];
    features[block].assign(width, 0.0);
    if (has_gains) gradients[block].assign(width, 0.0);
    for (size_t i = n * block / blocks; i < n * (block + 1) / blocks; ++i) {
      const Forest& forest = pool.sentences[i].forest;
      const auto b = has_gains ? gains.subspan(edge_begin[i], edge_begin[i + 1] - edge_begin[i]) : gains;
      model_scores(forest, w, b, temperature, mu, scores);
      naming(pool.sentences[i].id, [&] { has_gains ? expectations(forest, scores, b, x) : posteriors(forest, scores, x); });
      out.log_z[i] = x.log_z;
      if (has_gains) out.gain[i] = x.gain;
      add_expected_features(forest, x, features[block].data(), has_gains ? gradients[block].data() : nullptr);
    }
  });
  for (size_t block = 0; block < blocks; ++block)
    for (size_t j = 0; j < width; ++j) {
      out.features[j] += features[block][j];
      if (has_gains) out.gradient[j] += gradients[block][j] / temperature;  // (22)
    }
  return out;
}

}  // namespace hopefear
