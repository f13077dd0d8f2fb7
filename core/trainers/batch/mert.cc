#include "trainers/batch/mert.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numeric>

#include "util/parallel.h"
#include "util/random.h"

namespace hopefear {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

AxisColumns::AxisColumns(const Lists& lists, const std::vector<Direction>& axes, int jobs)
    : rows(lists.rows()), slope(axes.size() * rows) {
  parallel_for(lists.sentences(), jobs, [&](size_t i, int) {
    for (size_t k = 0; k < axes.size(); ++k)
      edge_scores(lists.list(i), axes[k].d.data(), slope.data() + k * rows + lists.row_begin[i]);
  });
}

void ListEnvelopes::set_origin(const double* w) {
  for (size_t i = 0; i < lists_.sentences(); ++i) edge_scores(lists_.list(i), w, a_.data() + lists_.row_begin[i]);
}

void ListEnvelopes::set_direction(const Direction& direction) {
  if (direction.mixture.empty() || !columns_) {
    for (size_t i = 0; i < lists_.sentences(); ++i)
      edge_scores(lists_.list(i), direction.d.data(), b_.data() + lists_.row_begin[i]);
    return;
  }
  std::fill(b_.begin(), b_.end(), 0.0);
  for (size_t k = 0; k < direction.mixture.size(); ++k) {
    const double z = direction.mixture[k];
    if (z == 0) continue;
    const double* column = columns_->slope.data() + k * columns_->rows;
    for (size_t r = 0; r < b_.size(); ++r) b_[r] += z * column[r];
  }
}

void ListEnvelopes::advance(double x) {
  for (size_t r = 0; r < a_.size(); ++r) a_[r] += x * b_[r];
}

void ListEnvelopes::envelope(size_t i, std::vector<Piece>& pieces) {
  const auto row = static_cast<size_t>(lists_.row_begin[i]);
  hull_.compute(a_.data() + row, b_.data() + row, lists_.candidates(i));
  pieces.clear();
  for (size_t k = 0; k < hull_.line.size(); ++k) pieces.push_back({hull_.begin[k], lists_.row_stats(i, hull_.line[k])});
}

void LineSearch::collect(EnvelopeSource& source, size_t width) {
  events_.clear();
  changes_.clear();
  stats_.assign(width, 0.0);
  for (size_t i = 0; i < source.sentences(); ++i) {
    source.envelope(i, pieces_);
    for (size_t k = 0; k < pieces_.size(); ++k) {
      if (k == 0)
        for (size_t s = 0; s < width; ++s) stats_[s] += pieces_[0].stats[s];
      else if (!std::equal(pieces_[k].stats, pieces_[k].stats + width, pieces_[k - 1].stats)) {
        events_.push_back({pieces_[k].x, static_cast<uint32_t>(changes_.size())});
        changes_.push_back({pieces_[k - 1].stats, pieces_[k].stats});
      }
    }
  }
  std::sort(events_.begin(), events_.end(),
            [](const Event& a, const Event& b) { return a.x != b.x ? a.x < b.x : a.index < b.index; });
}

void LineSearch::apply(const Event& event, size_t width) {
  const Change& change = changes_[event.index];
  for (size_t s = 0; s < width; ++s) stats_[s] += change.to[s] - change.from[s];
}

void LineSearch::surface(EnvelopeSource& source, const Metric& metric, std::vector<double>& x, std::vector<double>& gain) {
  const auto width = static_cast<size_t>(metric.size());
  collect(source, width);
  x.assign(1, -kInfinity);
  gain.assign(1, metric.gain(stats_.data()));
  for (size_t k = 0; k < events_.size(); ++k) {
    apply(events_[k], width);
    if (k + 1 < events_.size() && events_[k + 1].x == events_[k].x) continue;
    x.push_back(events_[k].x);
    gain.push_back(metric.gain(stats_.data()));
  }
}

double LineSearch::distance(double changes) const {
  double x = 0;
  for (const Event& event : events_) {
    if (event.x <= 0) continue;
    x = event.x;
    if (--changes <= 0) break;
  }
  return x;
}

LineOptimum LineSearch::search(EnvelopeSource& source, const Metric& metric, double lower, double upper) {
  const auto width = static_cast<size_t>(metric.size());
  collect(source, width);
  LineOptimum best;
  double best_distance = kInfinity;
  auto consider = [&](double left, double right, double gain) {
    if (left <= 0 && 0 < right) {
      best.gain_at_zero = gain;
      best.border = left == 0;
    }
    left = std::max(left, lower);
    right = std::min(right, upper);
    // A piece this narrow is made of rounding: where a line passes w = 0, say, all candidates meet.
    const bool noise =
        std::isfinite(left) && std::isfinite(right) && right - left <= 1e-10 * std::max(std::abs(left), std::abs(right));
    if (left >= right || noise) return;
    const double distance = left > 0 ? left : right < 0 ? -right : 0;
    if (gain < best.gain || (gain == best.gain && distance >= best_distance)) return;
    best.gain = gain;
    best_distance = distance;
    best.left = left;
    best.right = right;
  };
  double left = -kInfinity;
  for (size_t k = 0; k < events_.size(); ++k) {
    if (events_[k].x > left) {
      consider(left, events_[k].x, metric.gain(stats_.data()));
      left = events_[k].x;
    }
    apply(events_[k], width);
  }
  consider(left, kInfinity, metric.gain(stats_.data()));
  // The middle of the piece; an endless piece is entered by a tenth of where it begins.
  if (best.left == -kInfinity && best.right == kInfinity)
    best.x = 0;
  else if (best.left == -kInfinity)
    best.x = best.right - std::max(1e-3, 0.1 * std::abs(best.right));
  else if (best.right == kInfinity)
    best.x = best.left + std::max(1e-3, 0.1 * std::abs(best.left));
  else
    best.x = 0.5 * (best.left + best.right);
  return best;
}

namespace {

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
         const MertOptions& options, Random random, MertStart& start)
      : source_(source),
        metric_(metric),
        axes_(axes),
        bounds_(bounds),
        features_(features),
        options_(options),
        random_(random),
        start_(start) {}

  /// Passes over all axes and some random directions until a pass gains nothing.
  void climb() {
    std::vector<size_t> order(axes_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    start_.gain = -kInfinity;
    const size_t lines = order.size() + static_cast<size_t>(options_.random_directions);
    size_t idle = 0;  // lines in a row that gained nothing: as many as a pass has are enough
    for (int pass = 0; pass < options_.max_passes && idle < lines; ++pass) {
      source_.set_origin(start_.w.data());
      for (size_t k = order.size(); k > 1; --k) std::swap(order[k - 1], order[random_.below(k)]);
      for (size_t k = 0; k < lines && idle < lines; ++k) {
        const double before = start_.gain;
        follow(k < order.size() ? axes_[order[k]] : random_mixture(3));  // a mixture of three axes: a line stays cheap
        idle = start_.gain - before < options_.min_gain ? idle + 1 : 0;
      }
    }
  }

  /// Towards where the other starts ended: w + x*w_other, x > 0, is the way there, since scores have no scale.
  void relink(const std::vector<std::vector<double>>& others) {
    source_.set_origin(start_.w.data());
    for (const auto& other : others) {
      Direction direction{other, {}};
      for (int32_t j = 0; j < features_; ++j)
        if (!bounds_.free(j)) direction.d[j] = 0;
      follow(direction);
    }
  }

  /// Away from an optimum in a random direction, until about this share of the sentences say something else.
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
    const auto [lower, upper] = allowed(start_.w.data(), direction.d.data(), bounds_, features_);
    source_.set_direction(direction);
    const LineOptimum best = line_.search(source_, metric_, lower, upper);
    ++start_.lines;
    if (!best.border || start_.gain == -kInfinity) start_.gain = best.gain_at_zero;
    // On a border (w = 0 is one for every line) ties decide: the gain is that of neither side, so leave.
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
  Random random_;
  MertStart& start_;
  LineSearch line_;
};

}  // namespace

std::vector<MertStart> mert(const std::vector<EnvelopeSource*>& sources, const Metric& metric, const double* initial,
                            const std::vector<Direction>& axes, const Bounds& bounds, int32_t features,
                            const MertOptions& options) {
  std::vector<MertStart> starts(static_cast<size_t>(options.restarts) + 1);
  auto ascent = [&](MertStart& start, int thread, uint64_t stream) {
    return Ascent(*sources[thread], metric, axes, bounds, features, options, Random(options.seed, stream), start);
  };
  std::mutex telling;
  int ascents = 0;
  auto tell = [&] {
    const std::lock_guard lock(telling);
    ++ascents;
    if (options.on_ascent) options.on_ascent(ascents);
  };
  const int threads = static_cast<int>(sources.size());
  parallel_for(starts.size(), threads, [&](size_t r, int thread) {
    starts[r].initial.assign(initial, initial + features);
    if (r > 0) {  // anywhere, of either sign
      Random random(options.seed, starts.size() * 2 + r);
      for (const Direction& axis : axes)  // a weight that no axis moves stays
        for (int32_t j = 0; j < features; ++j)
          if (bounds.free(j) && axis.d[j] != 0) starts[r].initial[j] = 0;
      for (const Direction& axis : axes) {
        const double z = 2 * random.uniform() - 1;
        for (int32_t j = 0; j < features; ++j)
          if (bounds.free(j)) starts[r].initial[j] += z * axis.d[j];
      }
      for (int32_t j = 0; j < features; ++j) starts[r].initial[j] = bounds.clip(j, starts[r].initial[j]);
    }
    starts[r].w = starts[r].initial;
    ascent(starts[r], thread, r).climb();
    tell();
  });
  std::vector<size_t> order(starts.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return starts[a].gain > starts[b].gain; });
  std::vector<std::vector<double>> ends;
  for (size_t r : order) ends.push_back(starts[r].w);
  MertStart& best = starts[order[0]];
  ascent(best, 0, starts.size()).relink(ends);
  // Rounds of kicks from the best point so far; a fixed number of them, so that threads do not matter.
  constexpr size_t kKicks = 4;
  for (int round = 0; round < options.kick_rounds; ++round) {
    std::vector<MertStart> kicked(kKicks, best);
    parallel_for(kKicks, threads, [&](size_t k, int thread) {
      kicked[k].lines = 0;
      Ascent from = ascent(kicked[k], thread, starts.size() * 3 + static_cast<size_t>(round) * kKicks + k);
      from.kick(options.kick_share);
      from.climb();
      tell();
    });
    for (const MertStart& k : kicked) best.lines += k.lines;
    for (MertStart& k : kicked)
      if (k.gain > best.gain) {
        k.lines = best.lines;
        k.initial = best.initial;
        best = std::move(k);
      }
  }
  return starts;
}

}  // namespace hopefear
