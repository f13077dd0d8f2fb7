#include "trainers/batch/line_search.h"

#include <algorithm>
#include <cmath>

#include "metrics/bleu.h"

namespace hopefear {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The middle of the piece; of an unbounded piece, a point a tenth of its border's magnitude inside.
double middle(double left, double right) {
  if (left == -kInfinity && right == kInfinity) return 0;
  if (left == -kInfinity) return right - std::max(1e-3, 0.1 * std::abs(right));
  if (right == kInfinity) return left + std::max(1e-3, 0.1 * std::abs(left));
  return 0.5 * (left + right);
}

/// Whether BLEU of order K is below `gain`, by a test without divisions and roots: its brevity penalty is at most 1. False if an order
/// has no match.
bool surely_below(const double* stats, int K, double gain) {
  double matches = 1, bound = 1 - 1e-9;
  for (int k = 0; k < K; ++k) {
    matches *= stats[k];
    bound *= stats[K + k] * gain;
  }
  return K > 0 && gain > 0 && matches > 0 && matches < bound;
}

}  // namespace

void LineSearch::collect(EnvelopeSource& source, size_t width) {
  events_.clear();
  stats_.assign(width, 0.0);
  const size_t sentences = source.sentences();
  for (size_t i = 0; i <= sentences; ++i) {
    // One sentence late, so that its statistics, which are anywhere in memory, are prefetched before they are added.
    pieces_.swap(next_);
    next_.clear();
    if (i < sentences) source.envelope(i, next_);
    for (const Piece& piece : next_)
      for (size_t s = 0; s < width; s += 8) __builtin_prefetch(piece.stats + s);
    if (i > 0) add_changes(width);
  }
  sort_(events_);
}

/// The changes from piece to piece of a sentence, without those that change nothing.
void LineSearch::add_changes(size_t width) {
  if (pieces_.empty()) return;
  for (size_t s = 0; s < width; ++s) stats_[s] += pieces_[0].stats[s];
  for (size_t k = 1; k < pieces_.size(); ++k) {
    const double *from = pieces_[k - 1].stats, *to = pieces_[k].stats;
    const size_t begin = events_.size() * width;
    if (changes_.size() < begin + width) changes_.resize(2 * (begin + width));
    bool differs = false;
    for (size_t s = 0; s < width; ++s) {
      changes_[begin + s] = to[s] - from[s];
      differs |= to[s] != from[s];
    }
    if (differs) events_.push_back({pieces_[k].x, static_cast<uint32_t>(events_.size())});
  }
}

void LineSearch::apply(const Event& event, size_t width) {
  const double* change = changes_.data() + event.index * width;
  for (size_t s = 0; s < width; ++s) stats_[s] += change[s];
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
    // A piece this narrow comes from rounding: where a line passes w = 0, for example, all candidates meet.
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
  const auto* of = dynamic_cast<const Bleu*>(&metric);
  const int bleu = of ? of->max_order() : 0;  // of order 0 nothing is below anything
  double left = -kInfinity;
  for (size_t k = 0; k < events_.size(); ++k) {
    if (const double right = events_[k].x; right > left) {
      const bool here = left <= 0 && 0 < right;
      if (here || !surely_below(stats_.data(), bleu, best.gain)) consider(left, right, metric.gain(stats_.data()));
      left = right;
    }
    apply(events_[k], width);
  }
  consider(left, kInfinity, metric.gain(stats_.data()));
  best.x = middle(best.left, best.right);
  return best;
}

}  // namespace hopefear
