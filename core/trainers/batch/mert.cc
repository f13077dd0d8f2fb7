#include "trainers/batch/mert.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numeric>

#include "metrics/rank.h"
#include "trainers/batch/envelopes.h"
#include "trainers/shuffle.h"
#include "util/parallel.h"

namespace hopefear {
namespace {

constexpr double kPays = 1e-4;  // the gain of a round that justifies another one on large lists
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// x such that w + x*d stays within the bounds.
std::pair<double, double> allowed(const double* w, const double* d, const Bounds& bounds, int32_t features) {
  double lower = -kInfinity, upper = kInfinity;
  for (int32_t j = 0; j < features; ++j) {
    if (d[j] == 0) continue;
    double from = (bounds.lower[j] - w[j]) / d[j], to = (bounds.upper[j] - w[j]) / d[j];
    if (from > to) std::swap(from, to);
    lower = std::max(lower, from);
    upper = std::min(upper, to);
  }
  return {lower, upper};
}

/// One thread's ascent from one point.
class Ascent {
 public:
  Ascent(EnvelopeSource& source, const Metric& metric, const std::vector<Direction>& axes, const Bounds& bounds, int32_t features,
         const MertOptions& options, int random_lines, Random random, MertStart& start)
      : source_(source),
        metric_(metric),
        axes_(axes),
        bounds_(bounds),
        features_(features),
        options_(options),
        random_lines_(random_lines),
        random_(random),
        start_(start) {}

  /// Passes over all axes and some random directions until a pass gains nothing.
  void climb() {
    std::vector<size_t> order = in_order(axes_.size());
    start_.gain = -kInfinity;
    const size_t lines = order.size() + static_cast<size_t>(random_lines_);
    size_t idle = 0;  // consecutive lines without gain: the search stops after as many as a pass has
    for (int pass = 0; pass < options_.max_passes && idle < lines; ++pass) {
      source_.set_origin(start_.w.data());
      shuffle(order, random_);
      for (size_t k = 0; k < lines && idle < lines; ++k) {
        const double before = start_.gain;
        follow(k < order.size() ? axes_[order[k]] : random_mixture(3));  // a mixture of three axes: a line stays cheap
        idle = start_.gain - before < options_.min_gain ? idle + 1 : 0;
      }
    }
  }

  /// Lines towards the ends of the other starts: w + x*w_other, x > 0, leads there, since scores have no scale.
  void relink(const std::vector<std::vector<double>>& others) {
    source_.set_origin(start_.w.data());
    for (const auto& other : others) {
      Direction direction{other, {}};
      for (int32_t j = 0; j < features_; ++j)
        if (!bounds_.free(j)) direction.d[j] = 0;
      follow(direction);
    }
  }

  /// Moves away from an optimum in a random direction, until about this share of the sentences has another best candidate.
  void kick(double share) {
    source_.set_origin(start_.w.data());
    const Direction direction = random_mixture(static_cast<int>(axes_.size()));
    const auto [lower, upper] = allowed(start_.w.data(), direction.d.data(), bounds_, features_);
    source_.set_direction(direction);
    line_.search(source_, metric_, lower, upper);
    move(direction, std::min(upper, line_.distance(share * static_cast<double>(source_.sentences()))));
  }

 private:
  Direction random_mixture(int parts) {
    Direction mixed{std::vector<double>(static_cast<size_t>(features_), 0.0), std::vector<double>(axes_.size(), 0.0)};
    for (int draw = 0; draw < parts; ++draw) {
      const size_t k = random_.below(axes_.size());
      const double z = random_.normal();
      mixed.mixture[k] += z;
      for (size_t j = 0; j < mixed.d.size(); ++j) mixed.d[j] += z * axes_[k].d[j];
    }
    return mixed;
  }

  void move(const Direction& direction, double x) {
    std::vector<double>& w = start_.w;
    for (int32_t j = 0; j < features_; ++j) w[j] = bounds_.clip(j, w[j] + x * direction.d[j]);
    source_.advance(x);
  }

  void follow(const Direction& direction) {
    if (options_.on_line) options_.on_line();
    const auto [lower, upper] = allowed(start_.w.data(), direction.d.data(), bounds_, features_);
    source_.set_direction(direction);
    const LineOptimum best = line_.search(source_, metric_, lower, upper);
    ++start_.lines;
    if (!best.border || start_.gain == -kInfinity) start_.gain = best.gain_at_zero;
    // On a border (w = 0 is one for every line) ties decide, and the gain is that of neither side: so move away.
    if (best.gain == -kInfinity || (best.gain <= best.gain_at_zero && !best.border)) return;
    move(direction, best.x);
    start_.gain = best.gain;
  }

  EnvelopeSource& source_;
  const Metric& metric_;
  const std::vector<Direction>& axes_;
  const Bounds& bounds_;
  int32_t features_;
  const MertOptions& options_;
  int random_lines_;  // of a pass
  Random random_;
  MertStart& start_;
  LineSearch line_;
};

/// The axes, each a mixture of itself alone.
std::vector<Direction> directions_of(const std::vector<std::vector<double>>& axes) {
  std::vector<Direction> directions;
  for (size_t k = 0; k < axes.size(); ++k) {
    directions.push_back({axes[k], std::vector<double>(axes.size(), 0.0)});
    directions.back().mixture[k] = 1;
  }
  return directions;
}

/// A random mixture of the axes, with either sign. Weights that no axis moves stay.
std::vector<double> random_start(const double* initial, const std::vector<Direction>& axes, const Bounds& bounds,
                                 int32_t features, Random random) {
  std::vector<double> w(initial, initial + features);
  for (const Direction& axis : axes)
    for (int32_t j = 0; j < features; ++j)
      if (bounds.free(j) && axis.d[j] != 0) w[j] = 0;
  for (const Direction& axis : axes) {
    const double z = 2 * random.uniform() - 1;
    for (int32_t j = 0; j < features; ++j)
      if (bounds.free(j)) w[j] += z * axis.d[j];
  }
  for (int32_t j = 0; j < features; ++j) w[j] = bounds.clip(j, w[j]);
  return w;
}

/// All ascents of one call of mert(). Each has its own stream of random numbers, so that the result does not depend on threads.
class Mert {
 public:
  Mert(const Lists& lists, const double* initial, const std::vector<std::vector<double>>& axes, const Bounds& bounds,
       const MertOptions& options)
      : lists_(lists),
        axes_(directions_of(axes)),
        bounds_(bounds),
        options_(options),
        starts_(static_cast<size_t>(options.restarts) + 1) {
    if (lists.stats) columns_ = std::make_unique<AxisColumns>(lists, axes_, options.jobs);
    for (int t = 0; t < std::min(resolve_jobs(options.jobs), options.restarts + 1); ++t)
      sources_.push_back(envelopes_of(lists, columns_.get()));
    for (size_t r = 0; r < starts_.size(); ++r) {
      if (r == 0)
        starts_[r].initial.assign(initial, initial + lists.features());
      else
        starts_[r].initial = random_start(initial, axes_, bounds, lists.features(), Random(options.seed, starts_.size() * 2 + r));
    }
  }

  std::vector<MertStart> run() {
    parallel_for(starts_.size(), threads(), [&](size_t r, int thread) {
      starts_[r].w = starts_[r].initial;
      ascent(starts_[r], thread, r).climb();
      tell(starts_[r].gain);
    });
    std::vector<size_t> order = in_order(starts_.size());
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return starts_[a].gain > starts_[b].gain; });
    std::vector<std::vector<double>> ends;
    for (size_t r : order) ends.push_back(starts_[r].w);
    MertStart& best = starts_[order[0]];
    ascent(best, 0, starts_.size()).relink(ends);
    const size_t enough =
        cheap() ? patience(lists_.rows(), axes_.size(), options_.kick_rounds) : static_cast<size_t>(options_.kick_rounds);
    size_t idle = 0;  // consecutive rounds
    for (size_t round = 0; idle < enough && round < 10 * enough; ++round) {
      const double before = best.gain;
      kick(best, round);
      idle = best.gain - before < (small() ? options_.min_gain : kPays) ? idle + 1 : 0;
    }
    return std::move(starts_);
  }

 private:
  int threads() const { return static_cast<int>(sources_.size()); }
  /// Whether lists are so small that their surface is rough, and an ascent costs little.
  bool small() const { return cheap() && lists_.rows() < kManyRows / 4; }
  /// The time of a line grows with its rows; forests and whole orders take more.
  bool cheap() const { return options_.thorough && lists_.stats && !dynamic_cast<const RankMetric*>(&lists_.metric); }
  Ascent ascent(MertStart& start, int thread, uint64_t stream) {
    const int random_lines = options_.random_directions + (small() ? static_cast<int>(axes_.size()) : 0);
    return Ascent(*sources_[thread], lists_.metric, axes_, bounds_, lists_.features(), options_, random_lines,
                  Random(options_.seed, stream), start);
  }
  void tell(double gain) {
    const std::lock_guard lock(telling_);
    ++ascents_;
    best_ = std::max(best_, gain);
    if (options_.on_ascent) options_.on_ascent(ascents_, best_);
  }

  /// A round of a fixed number of kicks. On large lists all are from the best point so far. On small ones that is the first chain;
  /// the others are independent until they stall, and then restart.
  void kick(MertStart& best, size_t round) {
    constexpr size_t kKicks = 4;
    constexpr int kStale = 12;
    if (round == 0) {
      chains_.assign(kKicks, best);
      stale_.assign(kKicks, 0);
    }
    std::vector<int> lines(kKicks);
    parallel_for(kKicks, threads(), [&](size_t k, int thread) {
      const uint64_t stream = starts_.size() * 3 + round * kKicks + k;
      if (k == 0 || !small()) chains_[k] = best;
      MertStart kicked = chains_[k];
      kicked.lines = 0;
      Ascent from = ascent(kicked, thread, stream);
      const bool anew = small() && stale_[k] >= kStale && k > 0;
      if (anew)
        kicked.w = random_start(starts_[0].initial.data(), axes_, bounds_, lists_.features(), Random(~options_.seed, stream));
      else
        from.kick(options_.kick_share * (small() ? 1 + 5 * Random(~options_.seed, stream).uniform() : 1));
      from.climb();
      lines[k] = kicked.lines;
      stale_[k] = anew || kicked.gain > chains_[k].gain ? 0 : stale_[k] + 1;
      if (stale_[k] == 0) chains_[k] = kicked;
      tell(kicked.gain);
    });
    const MertStart before = best;
    for (const MertStart& chain : chains_)
      if (chain.gain > best.gain) best = chain;
    best.initial = before.initial;
    best.lines = std::accumulate(lines.begin(), lines.end(), before.lines);
  }

  const Lists& lists_;
  const std::vector<Direction> axes_;
  const Bounds& bounds_;
  const MertOptions& options_;
  std::vector<MertStart> starts_;
  std::vector<MertStart> chains_;
  std::vector<int> stale_;  // consecutive kicks without gain, of each chain
  std::unique_ptr<AxisColumns> columns_;
  std::vector<std::unique_ptr<EnvelopeSource>> sources_;
  std::mutex telling_;
  int ascents_ = 0;
  double best_ = -kInfinity;  // gain of all ascents
};

}  // namespace

size_t patience(size_t rows, size_t axes, int kick_rounds) {
  const size_t most = std::min(kMostRounds, 8 * axes);
  const size_t times = std::clamp<size_t>(kManyRows / std::max<size_t>(rows, 1), 1, most);
  return static_cast<size_t>(kick_rounds) * std::max<size_t>(1, times * kFewAxes / std::max(kFewAxes, axes));
}

std::vector<MertStart> mert(const Lists& lists, const double* initial, const std::vector<std::vector<double>>& axes,
                            const Bounds& bounds, const MertOptions& options) {
  return Mert(lists, initial, axes, bounds, options).run();
}

}  // namespace hopefear
