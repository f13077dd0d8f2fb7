#include "trainers/batch/cmira.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "trainers/averager.h"
#include "trainers/difference.h"
#include "trainers/smo.h"
#include "util/parallel.h"

namespace hopefear {
namespace {

/// A corpus hypothesis: one candidate per sentence.
struct Corpus {
  std::vector<int32_t> choice;
  std::vector<double> stats;
  double model = 0;  // w.H, H the mean over sentences
};

/// The scores of all rows under two weights at once, since the pass over the features takes the time.
void score_rows(const Lists& lists, const std::vector<double>& w, const std::vector<double>& average, int jobs,
                std::vector<double>& model, std::vector<double>& averaged) {
  // The two weights of a sparse feature are adjacent, in one cache line.
  std::vector<std::array<double, 2>> both(lists.pool.dense_width < lists.features() ? w.size() : 0);
  for (size_t j = 0; j < both.size(); ++j) both[j] = {w[j], average[j]};
  parallel_for(lists.sentences(), jobs, [&](size_t i, int) {
    const Forest& list = lists.list(i);
    for (int32_t e = 0; e < list.edges(); ++e) {
      const auto row = static_cast<size_t>(lists.row_begin[i] + e);
      model[row] = list.dense_score(e, w.data());
      averaged[row] = list.dense_score(e, average.data());
      if (list.sparse_begin.empty()) continue;
      for (int32_t k = list.sparse_begin[e]; k < list.sparse_begin[e + 1]; ++k) {
        const auto& weights = both[list.sparse_ids[k]];
        model[row] += list.sparse_values[k] * weights[0];
        averaged[row] += list.sparse_values[k] * weights[1];
      }
    }
  });
}

/// The corpus of the candidates that pick(i) chooses, with their model scores.
template <class Pick>
void join(const Lists& lists, const std::vector<double>& model, const Pick& pick, int jobs, Corpus& corpus) {
  parallel_for(lists.sentences(), light_jobs(lists, jobs),
               [&](size_t i, int) { corpus.choice[i] = lists.candidates(i) ? pick(i) : -1; });
  corpus.stats = document_stats(lists, corpus.choice);
  corpus.model = 0;
  for (size_t i = 0; i < lists.sentences(); ++i)
    if (corpus.choice[i] >= 0)
      corpus.model += model[lists.row_begin[i] + corpus.choice[i]] / static_cast<double>(lists.sentences());
}

/// Lines 3 to 8: each sentence's best by model + sign * gain, joined.
void join_sentences(const Lists& lists, const std::vector<double>& model, const std::vector<double>& gain, double sign, int jobs,
                    Corpus& corpus) {
  const auto pick = [&](size_t i) {
    const auto begin = static_cast<size_t>(lists.row_begin[i]);
    int32_t top = 0;
    for (int32_t e = 1; e < lists.candidates(i); ++e)
      if (model[begin + e] + sign * gain[begin + e] > model[begin + top] + sign * gain[begin + top]) top = e;
    return top;
  };
  join(lists, model, pick, jobs, corpus);
}

/// Section 4.3, strategy 2: a stack of the best corpus prefixes under w.H + sign * B, eq. (5) and (6).
std::vector<Corpus> beam_search(const Lists& lists, const std::vector<double>& w, double sign, int beam) {
  struct Item {
    double value, model;
    std::vector<double> stats;
    int32_t back, choice;
  };
  std::vector<std::vector<Item>> stacks(1);
  stacks[0].push_back({0, 0, std::vector<double>(lists.width, 0.0), -1, -1});
  std::vector<double> model, sum(lists.width);
  const double share = 1.0 / static_cast<double>(lists.sentences());
  for (size_t i = 0; i < lists.sentences(); ++i) {
    const Forest& list = lists.list(i);
    model.resize(static_cast<size_t>(list.edges()));
    edge_scores(list, w.data(), model.data());
    std::vector<std::tuple<double, int32_t, int32_t>> next;
    const auto& stack = stacks.back();
    for (size_t b = 0; b < stack.size(); ++b) {
      if (list.edges() == 0) next.emplace_back(-stack[b].value, static_cast<int32_t>(b), -1);
      for (int32_t e = 0; e < list.edges(); ++e) {
        const double* row = lists.row_stats(i, e);
        for (size_t s = 0; s < lists.width; ++s) sum[s] = stack[b].stats[s] + row[s];
        // w.H and B over the prefix; H is the mean over the whole corpus, so B is weighed by the prefix's share.
        const double value =
            stack[b].model + share * model[e] + sign * share * static_cast<double>(i + 1) * lists.metric.gain(sum.data());
        next.emplace_back(-value, static_cast<int32_t>(b), e);
      }
    }
    const size_t keep = std::min(next.size(), static_cast<size_t>(beam));
    std::partial_sort(next.begin(), next.begin() + static_cast<ptrdiff_t>(keep), next.end());
    std::vector<Item> items;
    for (size_t k = 0; k < keep; ++k) {
      const auto [negative, b, e] = next[k];
      Item item{-negative, stack[b].model, stack[b].stats, b, e};
      if (e >= 0) {
        item.model += share * model[e];
        const double* row = lists.row_stats(i, e);
        for (size_t s = 0; s < lists.width; ++s) item.stats[s] += row[s];
      }
      items.push_back(std::move(item));
    }
    stacks.push_back(std::move(items));
  }
  std::vector<Corpus> out;
  for (size_t k = 0; k < stacks.back().size(); ++k) {
    Corpus corpus{std::vector<int32_t>(lists.sentences(), -1), stacks.back()[k].stats, stacks.back()[k].model};
    auto at = static_cast<int32_t>(k);
    for (size_t i = lists.sentences(); i > 0; --i) {
      corpus.choice[i - 1] = stacks[i][at].choice;
      at = stacks[i][at].back;
    }
    out.push_back(std::move(corpus));
  }
  return out;
}

/// Lines 9 to 12, and the average of line 13.
class CorpusMira {
 public:
  CorpusMira(const Lists& lists, const double* initial, const Bounds& bounds, const CmiraOptions& options)
      : lists_(lists),
        bounds_(bounds),
        options_(options),
        w_(initial, initial + lists.features()),
        difference_(w_.size(), bounds),
        averager_(w_.size()) {
    averager_.next();  // line 13: w_0 is part of the average
  }
  const std::vector<double>& w() const { return w_; }
  int64_t updates() const { return updates_; }
  std::vector<double> next() {
    averager_.next();
    return averager_.average(w_);
  }

  void one_constraint(const Corpus& hope, const Corpus& fear) {
    const double delta_gain = gain(hope) - gain(fear);  // line 9
    const SparseVector x = mean_difference(hope, fear);
    const double alpha = cmira_step(delta_gain, hope.model - fear.model, x.squared_norm(), options_.C);  // line 11
    if (alpha <= 0) return;
    step(w_, x, alpha, bounds_, &averager_);  // line 12
    ++updates_;
  }

  /// The hope corpus against the fears and the other hopes, as many as there are constraints.
  void many_constraints(const std::vector<Corpus>& hopes, const std::vector<Corpus>& fears) {
    const Corpus& hope = hopes[0];
    const double hope_gain = gain(hope);
    const Rates rates{.eta = options_.C, .sigma = nullptr};
    WorkingSet set;
    int wanted = options_.constraints - 1;
    for (const auto* group : {&fears, &hopes})
      for (const Corpus& corpus : *group) {
        if (corpus.choice == hope.choice || wanted == 0) continue;
        set.add(mean_difference(hope, corpus), hope_gain - gain(corpus), rates);
        --wanted;
      }
    std::vector<double> target = w_;
    updates_ += set.optimize(target.data(), rates, 1e-6, kSmoIterations);
    SparseVector moved;
    for (size_t j = 0; j < w_.size(); ++j)
      if (target[j] != w_[j]) {
        moved.ids.push_back(static_cast<int32_t>(j));
        moved.values.push_back(target[j] - w_[j]);
      }
    step(w_, moved, 1.0, bounds_, &averager_);
  }

 private:
  double gain(const Corpus& corpus) const { return lists_.metric.gain(corpus.stats.data()); }

  /// H(a) - H(b), line 10.
  SparseVector mean_difference(const Corpus& a, const Corpus& b) {
    const double share = 1.0 / static_cast<double>(lists_.sentences());
    for (size_t i = 0; i < lists_.sentences(); ++i) {
      if (a.choice[i] == b.choice[i]) continue;
      if (a.choice[i] >= 0) difference_.add(lists_.list(i), a.choice[i], share);
      if (b.choice[i] >= 0) difference_.add(lists_.list(i), b.choice[i], -share);
    }
    return difference_.take();
  }

  const Lists& lists_;
  const Bounds& bounds_;
  const CmiraOptions& options_;
  std::vector<double> w_;
  Difference difference_;
  Averager averager_;
  int64_t updates_ = 0;
};

}  // namespace

double cmira_step(double delta_gain, double margin, double norm, double C) {
  if (norm <= 0) return 0;
  return std::max(0.0, std::min(C, (delta_gain - margin) / norm));
}

std::vector<double> cmira(const Lists& lists, const double* initial, const Bounds& bounds, const CmiraOptions& options,
                          const OnEpoch& on_epoch) {
  SentenceGains gains(lists, options.gain, options.jobs);
  CorpusMira weights(lists, initial, bounds, options);
  std::vector<double> average = weights.w(), model(lists.rows()), averaged(lists.rows());
  Corpus hope{std::vector<int32_t>(lists.sentences(), -1), {}, 0}, fear = hope, best = hope;
  auto answer =
      BestWeights::from(lists.metric.gain(one_best(lists, initial, options.jobs).stats.data()), average, options.competes);
  // Round t finds the hope and fear of epoch t, and scores the average of epoch t - 1.
  for (int t = 1; t <= options.epochs + 1; ++t) {
    score_rows(lists, weights.w(), average, options.jobs, model, averaged);
    if (t > 1) {
      join(lists, averaged, [&](size_t i) { return lists.best(i, averaged.data() + lists.row_begin[i]); }, options.jobs, best);
      answer.offer(lists.metric.gain(best.stats.data()), average);
      if (!on_epoch({t - 1, lists.metric.score(best.stats.data()), average, weights.updates()})) break;
    }
    if (t > options.epochs) break;
    if (options.beam <= 0) {
      const std::vector<double>& gain = gains.at(model);
      join_sentences(lists, model, gain, +1, options.jobs, hope);
      join_sentences(lists, model, gain, -1, options.jobs, fear);
      weights.one_constraint(hope, fear);
    } else {
      const int beam = std::max(options.beam, options.constraints);
      const std::vector<Corpus> hopes = beam_search(lists, weights.w(), +1, beam),
                                fears = beam_search(lists, weights.w(), -1, beam);
      if (options.constraints > 1)
        weights.many_constraints(hopes, fears);
      else
        weights.one_constraint(hopes[0], fears[0]);
    }
    average = weights.next();  // line 13
  }
  return answer.w;  // line 15
}

}  // namespace hopefear
