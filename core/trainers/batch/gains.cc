#include "trainers/batch/gains.h"

#include <algorithm>
#include <cmath>

#include "forest/derivation.h"
#include "metrics/bleu.h"
#include "util/parallel.h"

namespace hopefear {

Gain gain_by_name(const std::string& name) {
  if (name == "plus1") return Gain::plus1;
  if (name == "linear") return Gain::linear;
  if (name == "background") return Gain::background;
  throw InputError("gain must be plus1, linear or background, not " + name);
}

std::vector<double> gain_slope(const Metric& metric, const double* stats) {
  const auto size = static_cast<size_t>(metric.size());
  std::vector<double> at(stats, stats + size), slope(size);
  for (size_t k = 0; k < size; ++k) {
    const double h = 1e-4 * std::max(1.0, std::abs(stats[k]));
    at[k] = stats[k] + h;
    const double above = metric.gain(at.data());
    at[k] = stats[k] - h;
    slope[k] = (above - metric.gain(at.data())) / (2 * h);
    at[k] = stats[k];
  }
  return slope;
}

std::vector<double> row_scores(const Lists& lists, const double* w, int jobs) {
  std::vector<double> model(lists.rows());
  parallel_for(lists.sentences(), jobs, [&](size_t i, int) { edge_scores(lists.list(i), w, model.data() + lists.row_begin[i]); });
  return model;
}

namespace {

/// The slope of BLEU is unbounded if an order has no matches, so precisions are at least 0.3, 0.15, 0.075, ...
void keep_from_zero(const Bleu& bleu, std::vector<double>& document) {
  const int K = bleu.max_order();
  for (double& count : document) count = std::max(count, 1.0);
  for (int k = 0; k < K; ++k) document[k] = std::max(document[k], 0.3 * std::pow(0.5, k) * document[K + k]);
}

}  // namespace

SentenceGains::SentenceGains(const Lists& lists, const GainOptions& options, int jobs)
    : lists_(lists),
      options_(options),
      jobs_(jobs),
      bleu_(dynamic_cast<const Bleu*>(&lists.metric) != nullptr),
      gain_(lists.rows()),
      context_(lists.width, 1.0) {
  double rho = 0;
  size_t lists_with_candidates = 0;
  for (size_t i = 0; i < lists.sentences(); ++i) {
    if (lists.candidates(i) == 0) continue;
    ++lists_with_candidates;
    if (bleu_) rho += lists.row_stats(i, 0)[lists.width - 1];
  }
  if (rho > 0) words_ = rho / static_cast<double>(lists_with_candidates);
  if (options.kind == Gain::linear || (options.kind == Gain::background && bleu_)) return;
  parallel_for(lists.sentences(), jobs, [&](size_t i, int) {
    for (int32_t e = 0; e < lists_.candidates(i); ++e)
      gain_[lists_.row_begin[i] + e] = lists_.metric.sentence_gain(lists_.row_stats(i, e));
  });
}

const std::vector<double>& SentenceGains::at(const std::vector<double>& model) {
  if (options_.kind == Gain::linear) linear(model);
  if (options_.kind == Gain::background && bleu_) background(model);
  return gain_;
}

void SentenceGains::linear(const std::vector<double>& model) {
  std::vector<int32_t> best(lists_.sentences(), -1);
  for (size_t i = 0; i < best.size(); ++i)
    if (lists_.candidates(i) > 0) best[i] = lists_.best(i, model.data() + lists_.row_begin[i]);
  std::vector<double> document = document_stats(lists_, best);
  const double at_document = lists_.metric.gain(document.data());
  if (const auto* bleu = dynamic_cast<const Bleu*>(&lists_.metric)) keep_from_zero(*bleu, document);
  const std::vector<double> slope = gain_slope(lists_.metric, document.data());
  const auto M = static_cast<double>(std::count_if(best.begin(), best.end(), [](int32_t e) { return e >= 0; }));
  parallel_for(lists_.sentences(), light_jobs(lists_, jobs_), [&](size_t i, int) {
    for (int32_t e = 0; e < lists_.candidates(i); ++e) {
      const double* b = lists_.row_stats(i, e);
      double change = 0;
      for (size_t s = 0; s < lists_.width; ++s) change += slope[s] * b[s];
      gain_[lists_.row_begin[i] + e] = at_document + M * change;
    }
  });
}

void SentenceGains::background(const std::vector<double>& model) {
  const std::vector<double> nothing(lists_.width, 0.0);
  std::vector<double> value;
  for (size_t i = 0; i < lists_.sentences(); ++i) {
    const int32_t count = lists_.candidates(i);
    if (count == 0) continue;
    const auto begin = static_cast<size_t>(lists_.row_begin[i]);
    double* gain = gain_.data() + begin;
    double before = 0;
    lists_.metric.context_gains(context_.data(), nothing.data(), 1, &before);
    lists_.metric.context_gains(context_.data(), lists_.row_stats(i, 0), static_cast<size_t>(count), gain);
    value.assign(model.data() + begin, model.data() + begin + count);
    for (int32_t e = 0; e < count; ++e) value[e] += gain[e] = (gain[e] - before) / words_;
    const double* hope = lists_.row_stats(i, arg_max(value.data(), count));
    for (size_t s = 0; s < lists_.width; ++s) context_[s] = options_.decay * context_[s] + hope[s];
  }
}

}  // namespace hopefear
