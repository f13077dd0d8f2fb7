#include "mert.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "parallel.h"
#include "random.h"

namespace hopefear {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// arg max of a + x*b; the first of equal ones.
int32_t top_at(const double* a, const double* b, int32_t count, double x) {
  // Four lanes of running maxima let the compiler use vector registers; the index is found afterwards.
  double m0 = -kInfinity, m1 = -kInfinity, m2 = -kInfinity, m3 = -kInfinity;
  int32_t j = 0;
  for (; j + 4 <= count; j += 4) {
    const double v0 = a[j] + x * b[j], v1 = a[j + 1] + x * b[j + 1], v2 = a[j + 2] + x * b[j + 2], v3 = a[j + 3] + x * b[j + 3];
    m0 = v0 > m0 ? v0 : m0;
    m1 = v1 > m1 ? v1 : m1;
    m2 = v2 > m2 ? v2 : m2;
    m3 = v3 > m3 ? v3 : m3;
  }
  double top = std::max(std::max(m0, m1), std::max(m2, m3));
  for (; j < count; ++j) top = std::max(top, a[j] + x * b[j]);
  for (j = 0; j < count; ++j)
    if (a[j] + x * b[j] == top) return j;
  return 0;
}

/// The line that is highest far to the left (sign = -1) or right (+1): extreme slope, then the highest, then the first.
int32_t extreme(const double* a, const double* b, int32_t count, double sign) {
  int32_t best = 0;
  for (int32_t j = 1; j < count; ++j)
    if (sign * b[j] > sign * b[best] || (b[j] == b[best] && a[j] > a[best])) best = j;
  return best;
}

}  // namespace

void LineEnvelope::between(const double* a, const double* b, int32_t count, int32_t left, int32_t right) {
  const double x = (a[left] - a[right]) / (b[right] - b[left]);
  const int32_t top = top_at(a, b, count, x);
  // A third line belongs between the two only if it is higher where they cross and its slope lies between theirs.
  if (b[top] > b[left] && b[top] < b[right] && a[top] + x * b[top] > std::max(a[left] + x * b[left], a[right] + x * b[right])) {
    between(a, b, count, left, top);
    between(a, b, count, top, right);
    return;
  }
  line.push_back(right);
  begin.push_back(x);
}

void LineEnvelope::compute(const double* a, const double* b, int32_t count) {
  line.clear();
  begin.clear();
  if (count == 0) return;
  const int32_t left = extreme(a, b, count, -1), right = extreme(a, b, count, +1);
  line.push_back(left);
  begin.push_back(-kInfinity);
  if (b[left] < b[right]) between(a, b, count, left, right);
}

void ListEnvelopes::set_line(const double* w, const double* d) {
  const size_t features = static_cast<size_t>(lists_.features());
  const bool same_origin = w_.size() == features && std::equal(w_.begin(), w_.end(), w);
  w_.assign(w, w + features);
  const int32_t dense = lists_.pool.dense_width;
  int32_t moved = 0, only = -1;  // a coordinate direction's slope is one column
  for (size_t j = 0; j < features; ++j)
    if (d[j] != 0) {
      ++moved;
      only = static_cast<int32_t>(j);
    }
  for (size_t i = 0; i < lists_.sentences(); ++i) {
    const Forest& list = lists_.list(i);
    const auto row = static_cast<size_t>(lists_.row_begin[i]);
    if (!same_origin) edge_scores(list, w, a_.data() + row);
    if (moved == 1 && only < dense) {
      const double* column = list.dense.data() + only;
      for (int32_t e = 0; e < list.edges(); ++e) b_[row + static_cast<size_t>(e)] = d[only] * column[static_cast<size_t>(e) * dense];
    } else {
      edge_scores(list, d, b_.data() + row);
    }
  }
}

void ListEnvelopes::envelope(size_t i, std::vector<Piece>& pieces) {
  const auto row = static_cast<size_t>(lists_.row_begin[i]);
  hull_.compute(a_.data() + row, b_.data() + row, lists_.candidates(i));
  pieces.clear();
  for (size_t k = 0; k < hull_.line.size(); ++k) pieces.push_back({hull_.begin[k], lists_.row_stats(i, hull_.line[k])});
}

void LineSearch::collect(EnvelopeSource& source, size_t width) {
  events_.clear();
  stats_.assign(width, 0.0);
  for (size_t i = 0; i < source.sentences(); ++i) {
    source.envelope(i, pieces_);
    for (size_t k = 0; k < pieces_.size(); ++k) {
      if (k == 0)
        for (size_t s = 0; s < width; ++s) stats_[s] += pieces_[0].stats[s];
      else if (!std::equal(pieces_[k].stats, pieces_[k].stats + width, pieces_[k - 1].stats))
        events_.push_back({pieces_[k].x, pieces_[k - 1].stats, pieces_[k].stats});
    }
  }
  // Statistics are whole numbers or are added in a fixed order: a stable sort keeps that order for equal x.
  std::stable_sort(events_.begin(), events_.end(), [](const Event& a, const Event& b) { return a.x < b.x; });
}

void LineSearch::surface(EnvelopeSource& source, const Metric& metric, std::vector<double>& x, std::vector<double>& gain) {
  const auto width = static_cast<size_t>(metric.size());
  collect(source, width);
  x.assign(1, -kInfinity);
  gain.assign(1, metric.gain(stats_.data()));
  for (size_t k = 0; k < events_.size(); ++k) {
    for (size_t s = 0; s < width; ++s) stats_[s] += events_[k].to[s] - events_[k].from[s];
    if (k + 1 < events_.size() && events_[k + 1].x == events_[k].x) continue;
    x.push_back(events_[k].x);
    gain.push_back(metric.gain(stats_.data()));
  }
}

LineOptimum LineSearch::search(EnvelopeSource& source, const Metric& metric, double lower, double upper) {
  const auto width = static_cast<size_t>(metric.size());
  collect(source, width);
  LineOptimum best;
  double best_distance = kInfinity;
  auto consider = [&](double left, double right, double gain) {
    if (left <= 0 && 0 < right) best.gain_at_zero = gain;
    left = std::max(left, lower);
    right = std::min(right, upper);
    if (left >= right) return;
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
    for (size_t s = 0; s < width; ++s) stats_[s] += events_[k].to[s] - events_[k].from[s];
  }
  consider(left, kInfinity, metric.gain(stats_.data()));
  // The middle of the piece; an endless piece is entered by a tenth of where it begins.
  if (best.left == -kInfinity && best.right == kInfinity) best.x = 0;
  else if (best.left == -kInfinity) best.x = best.right - std::max(1e-3, 0.1 * std::abs(best.right));
  else if (best.right == kInfinity) best.x = best.left + std::max(1e-3, 0.1 * std::abs(best.left));
  else best.x = 0.5 * (best.left + best.right);
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

/// Och's descent: the best of all directions is followed until none improves.
void descend(EnvelopeSource& source, const Metric& metric, const double* scale, const Bounds& bounds, int32_t features,
             const MertOptions& options, Random random, MertStart& start) {
  LineSearch line;
  std::vector<double>& w = start.w;
  std::vector<double> d(static_cast<size_t>(features));
  std::vector<int32_t> order;
  for (int32_t j = 0; j < features; ++j)
    if (bounds.free(j)) order.push_back(j);
  start.gain = -kInfinity;
  auto follow = [&]() {
    const auto [lower, upper] = allowed(w.data(), d.data(), bounds, features);
    source.set_line(w.data(), d.data());
    const LineOptimum best = line.search(source, metric, lower, upper);
    start.gain = std::max(start.gain, best.gain_at_zero);
    if (best.gain <= best.gain_at_zero) return;
    for (int32_t j = 0; j < features; ++j)
      if (d[static_cast<size_t>(j)] != 0) w[static_cast<size_t>(j)] = bounds.clip(j, w[static_cast<size_t>(j)] + best.x * d[static_cast<size_t>(j)]);
    start.gain = best.gain;
  };
  for (start.passes = 0; start.passes < options.max_passes;) {
    const double before = start.gain;
    for (size_t k = order.size(); k > 1; --k) std::swap(order[k - 1], order[random.below(k)]);
    for (int32_t j : order) {
      std::fill(d.begin(), d.end(), 0.0);
      d[static_cast<size_t>(j)] = 1;
      follow();
    }
    for (int r = 0; r < options.random_directions; ++r) {
      for (int32_t j = 0; j < features; ++j) d[static_cast<size_t>(j)] = bounds.free(j) ? random.normal() * scale[j] : 0;
      follow();
    }
    ++start.passes;
    if (start.gain - before < options.min_gain) break;
  }
}

}  // namespace

std::vector<MertStart> mert(const std::vector<EnvelopeSource*>& sources, const Metric& metric, const double* initial, const double* scale,
                            const Bounds& bounds, int32_t features, const MertOptions& options) {
  std::vector<MertStart> starts(static_cast<size_t>(options.restarts) + 1);
  parallel_for(starts.size(), static_cast<int>(sources.size()), [&](size_t r, int thread) {
    Random random(options.seed, r);
    MertStart& start = starts[r];
    start.initial.assign(initial, initial + features);
    // Restart r > 0: anywhere, of either sign.
    if (r > 0)
      for (int32_t j = 0; j < features; ++j)
        if (bounds.free(j)) start.initial[static_cast<size_t>(j)] = bounds.clip(j, scale[j] * (2 * random.uniform() - 1));
    start.w = start.initial;
    descend(*sources[static_cast<size_t>(thread)], metric, scale, bounds, features, options, random, start);
  });
  return starts;
}

}  // namespace hopefear
