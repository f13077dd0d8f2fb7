#include "metrics/significance.h"

#include "util/parallel.h"
#include "util/random.h"

namespace hopefear {

std::vector<double> run_scores(const Metric& metric, const Runs& system) {
  const size_t size = metric.size();
  std::vector<double> scores;
  for (size_t run = 0; run < system.runs; ++run) {
    std::vector<double> sum(size, 0);
    const double* row = system.stats + run * system.sentences * size;
    for (size_t i = 0; i < system.sentences; ++i)
      for (size_t k = 0; k < size; ++k) sum[k] += *row++;
    scores.push_back(metric.score(sum.data()));
  }
  return scores;
}

std::vector<double> bootstrap(const Metric& metric, const std::vector<Runs>& systems, size_t samples, uint64_t seed, int jobs) {
  const size_t size = metric.size();
  std::vector<double> out(samples * systems.size());
  parallel_for(samples, jobs, [&](size_t b, int) {
    const size_t sentences = systems[0].sentences;
    Random random(seed, b);
    std::vector<uint32_t> drawn(sentences);
    for (auto& i : drawn) i = static_cast<uint32_t>(random.below(sentences));
    std::vector<double> sum(size);
    for (size_t s = 0; s < systems.size(); ++s) {
      const Runs& system = systems[s];
      std::vector<uint32_t> times(system.runs, system.runs == 1);
      for (size_t draw = 1; draw < system.runs; ++draw) ++times[random.below(system.runs)];
      double total = 0;
      for (size_t run = 0; run < system.runs; ++run) {
        if (times[run] == 0) continue;
        std::fill(sum.begin(), sum.end(), 0);
        const double* rows = system.stats + run * sentences * size;
        for (uint32_t i : drawn)
          for (size_t k = 0; k < size; ++k) sum[k] += rows[i * size + k];
        total += times[run] * metric.score(sum.data());
      }
      out[b * systems.size() + s] = total / static_cast<double>(std::max<size_t>(1, system.runs - 1));
    }
  });
  return out;
}

std::vector<double> randomization(const Metric& metric, const Runs& a, const Runs& b, size_t samples, uint64_t seed, int jobs) {
  const size_t size = metric.size();
  const size_t runs = a.runs, sentences = a.sentences, width = runs * size;
  // Sums of each run, and the difference that a swap moves from a to b: a row of all runs for each sentence.
  std::vector<double> sum_a(width, 0), sum_b(width, 0), changes;
  std::vector<double> row(width);
  for (size_t i = 0; i < sentences; ++i) {
    bool differs = false;
    for (size_t run = 0; run < runs; ++run)
      for (size_t k = 0; k < size; ++k) {
        const size_t at = (run * sentences + i) * size + k;
        sum_a[run * size + k] += a.stats[at];
        sum_b[run * size + k] += b.stats[at];
        row[run * size + k] = a.stats[at] - b.stats[at];
        differs = differs || row[run * size + k] != 0;
      }
    if (differs) changes.insert(changes.end(), row.begin(), row.end());
  }
  const size_t rows = changes.size() / width;
  std::vector<double> out(samples);
  parallel_for(samples, jobs, [&](size_t s, int) {
    Random random(seed, s);
    std::vector<double> moved(width, 0), x(size), y(size);
    uint64_t coins = 0;
    for (size_t i = 0; i < rows; ++i) {
      if (i % 64 == 0) coins = random.bits();
      if (!(coins >> (i % 64) & 1)) continue;
      const double* change = changes.data() + i * width;
      for (size_t k = 0; k < width; ++k) moved[k] += change[k];
    }
    double difference = 0;
    for (size_t run = 0; run < runs; ++run) {
      for (size_t k = 0; k < size; ++k) {
        x[k] = sum_a[run * size + k] - moved[run * size + k];
        y[k] = sum_b[run * size + k] + moved[run * size + k];
      }
      difference += metric.score(x.data()) - metric.score(y.data());
    }
    out[s] = difference / static_cast<double>(runs);
  });
  return out;
}

}  // namespace hopefear
