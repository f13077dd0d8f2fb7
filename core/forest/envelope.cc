#include "forest/envelope.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

#include "forest/each_sentence.h"
#include "forest/semiring.h"

namespace hopefear {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Vectors of two, which every machine has: where it has none of four, choices between them are made one by one.
using Two = double __attribute__((vector_size(16)));
using TwoIndices = int64_t __attribute__((vector_size(16)));
constexpr size_t kLanes = 8;
using Lanes = std::array<Two, kLanes / 2>;

/// Keeps of lines sorted by slope those of the upper envelope. `line` gives (intercept, slope) of an entry.
template <class Entry, class Line>
void keep_envelope(std::vector<Entry>& sorted, std::vector<double>& x, Line&& line) {
  x.clear();
  size_t kept = 0;
  for (size_t i = 0; i < sorted.size(); ++i) {
    const auto [a, b] = line(sorted[i]);
    double from = -kInfinity;
    bool wins = true;
    while (kept > 0) {
      const auto [a_top, b_top] = line(sorted[kept - 1]);
      if (b == b_top) {
        if (!(a > a_top)) {  // parallel and not above
          wins = false;
          break;
        }
        from = -kInfinity;
      } else {
        from = (a_top - a) / (b - b_top);
        if (from > x[kept - 1]) break;
      }
      --kept;
      x.pop_back();
      from = -kInfinity;
    }
    if (!wins || from == kInfinity) continue;
    sorted[kept++] = sorted[i];
    x.push_back(from);
  }
  sorted.resize(kept);
}

/// A derivation found so far.
struct Found {
  double a, b;
  double magnitude_a, magnitude_b;  // sums of absolute edge scores: rounding is judged by them
  std::vector<int32_t> edges;
  const Found* checked = nullptr;  // the right neighbour with which it was shown that nothing lies in between

  /// How far the score at x may be off by rounding.
  double slack(double x) const {
    const double additions = static_cast<double>(edges.size() + 4);
    return 2.0 * additions * std::numeric_limits<double>::epsilon() * (magnitude_a + std::abs(x) * magnitude_b);
  }
};

class ForestEnvelope {
 public:
  ForestEnvelope(const Forest& forest, std::span<const double> a, std::span<const double> b) : forest_(forest), a_(a), b_(b) {}

  Envelope run() {
    Found* left = add(extreme(-1.0));
    Found* right = add(extreme(+1.0));
    hull_ = {left, right};
    rebuild();
    if (hull_.size() > 1) {
      ask(seeds());
      while (true) {
        std::vector<double> where;
        std::vector<Found*> whose;
        for (size_t i = 0; i + 1 < hull_.size() && where.size() < kLanes; ++i)
          if (hull_[i]->checked != hull_[i + 1]) {
            where.push_back(x_[i + 1]);
            whose.push_back(hull_[i]);
          }
        if (where.empty()) break;
        ask_between(where, whose);
      }
    }
    Envelope out;
    out.edge_begin.push_back(0);
    for (size_t i = 0; i < hull_.size(); ++i) {
      out.x.push_back(x_[i]);
      out.intercept.push_back(hull_[i]->a);
      out.slope.push_back(hull_[i]->b);
      out.edges.insert(out.edges.end(), hull_[i]->edges.begin(), hull_[i]->edges.end());
      out.edge_begin.push_back(static_cast<int64_t>(out.edges.size()));
    }
    return out;
  }

 private:
  Found* add(Found&& found) {
    for (int32_t e : found.edges) {
      found.a += a_[e];
      found.b += b_[e];
      found.magnitude_a += std::abs(a_[e]);
      found.magnitude_b += std::abs(b_[e]);
    }
    if (!std::isfinite(found.magnitude_a) || !std::isfinite(found.magnitude_b)) throw_out_of_range();
    found_.push_back(std::make_unique<Found>(std::move(found)));
    return found_.back().get();
  }

  void rebuild() {
    // Equal lines: the one found first stays, so that what was checked stays checked.
    const auto by_slope = [](const Found* p, const Found* q) { return p->b != q->b ? p->b < q->b : p->a > q->a; };
    std::stable_sort(hull_.begin(), hull_.end(), by_slope);
    keep_envelope(hull_, x_, [](const Found* found) { return std::make_pair(found->a, found->b); });
  }

  /// The best derivation as x goes to -inf or +inf: the extreme slope first, then the intercept.
  Found extreme(double sign) const {
    const size_t nodes = forest_.nodes();
    std::vector<double> first(nodes, kLogZero), second(nodes, kLogZero);
    std::vector<int32_t> back(nodes, -1);
    for (int32_t v = 0; v < forest_.nodes(); ++v)
      for (int32_t e = forest_.edge_begin[v]; e < forest_.edge_begin[v + 1]; ++e) {
        double p = sign * b_[e], q = a_[e];
        for (int32_t tail : forest_.edge_tails(e)) {
          p += first[tail];
          q += second[tail];
        }
        if (p > first[v] || (p == first[v] && q > second[v])) {
          first[v] = p;
          second[v] = q;
          back[v] = e;
        }
      }
    if (back[forest_.goal()] < 0) throw_no_derivation();
    Found found{};
    unroll(forest_, [&](int32_t v) { return back[v]; }, found.edges);
    return found;
  }

  /// Where the first questions go: around the size at which the direction matters as much as the weights do.
  std::vector<double> seeds() const {
    double a = 0.0, b = 0.0;
    for (double s : a_) a += std::abs(s);
    for (double s : b_) b += std::abs(s);
    const double scale = a > 0.0 && std::isfinite(a / b) ? a / b : 1.0;
    std::vector<double> where;
    for (double x : {-3.0, -1.0, -0.4, -0.1, 0.1, 0.4, 1.0, 3.0}) where.push_back(x * scale);
    return where;
  }

  /// Viterbi at up to eight x at once.
  void sweep(const std::vector<double>& where) {
    Lanes x{};
    for (size_t l = 0; l < kLanes; ++l) x[l / 2][l % 2] = where[l < where.size() ? l : 0];
    best_.resize(forest_.nodes());
    for (int32_t v = 0; v < forest_.nodes(); ++v) {
      Lanes best;
      best.fill(Two{kLogZero, kLogZero});
      for (int32_t e = forest_.edge_begin[v]; e < forest_.edge_begin[v + 1]; ++e)
        for (size_t l = 0; l < best.size(); ++l) {
          Two s = a_[e] + x[l] * b_[e];
          for (int32_t tail : forest_.edge_tails(e)) s += best_[tail][l];
          best[l] = s > best[l] ? s : best[l];
        }
      best_[v] = best;
    }
  }

  /// The derivation that the last sweep found in a lane: the first edge whose score is the best, to the last bit.
  Found winner(size_t lane, double x) const {
    Found found{};
    unroll(
        forest_,
        [&](int32_t v) {
          const double best = best_[v][lane / 2][lane % 2];
          for (int32_t e = forest_.edge_begin[v];; ++e) {
            double s = a_[e] + x * b_[e];
            for (int32_t tail : forest_.edge_tails(e)) s += best_[tail][lane / 2][lane % 2];
            if (s == best || e + 1 == forest_.edge_begin[v + 1]) return e;
          }
        },
        found.edges);
    return found;
  }

  void ask(const std::vector<double>& where) {
    sweep(where);
    for (size_t l = 0; l < where.size(); ++l) hull_.push_back(add(winner(l, where[l])));
    rebuild();
  }

  void ask_between(const std::vector<double>& where, const std::vector<Found*>& whose) {
    sweep(where);
    bool grown = false;
    const std::vector<Found*> hull = hull_;
    for (size_t l = 0; l < where.size(); ++l) {
      const double x = where[l];
      Found* left = whose[l];
      const Found* right = *(std::find(hull.begin(), hull.end(), left) + 1);
      const double value = best_[forest_.goal()][l / 2][l % 2];
      const double known = std::max(left->a + x * left->b, right->a + x * right->b);
      if (std::isfinite(x) && value > known + std::max(left->slack(x), right->slack(x))) {
        Found* between = add(winner(l, x));
        if (between->b > left->b && between->b < right->b) {
          hull_.push_back(between);
          grown = true;
          continue;
        }
      }
      left->checked = right;
    }
    if (grown) rebuild();
  }

  const Forest& forest_;
  std::span<const double> a_, b_;
  std::vector<std::unique_ptr<Found>> found_;
  std::vector<Found*> hull_;
  std::vector<double> x_;
  std::vector<Lanes> best_;
};

}  // namespace

size_t Envelope::at(double where) const {
  return static_cast<size_t>(std::upper_bound(x.begin() + 1, x.end(), where) - x.begin()) - 1;
}

namespace {

/// arg max of a + x*b; the first of equal ones. Lanes run beside each other, each with its first maximum.
int32_t top_at(const double* a, const double* b, int32_t count, double x) {
  Two top = {-kInfinity, -kInfinity};
  TwoIndices where = {0, 0}, here = {0, 1};
  int32_t j = 0;
  for (; j + 2 <= count; j += 2, here += 2) {
    Two left, slope;  // copied, for lines need not be aligned
    std::memcpy(&left, a + j, sizeof left);
    std::memcpy(&slope, b + j, sizeof slope);
    const Two value = left + x * slope;
    const auto higher = value > top;
    top = higher ? value : top;
    where = higher ? here : where;
  }
  double best = top[0];
  int64_t found = where[0];
  if (top[1] > best || (top[1] == best && where[1] < found)) {
    best = top[1];
    found = where[1];
  }
  for (; j < count; ++j)
    if (const double value = a[j] + x * b[j]; value > best) {
      best = value;
      found = j;
    }
  return static_cast<int32_t>(found);
}

/// The lines that are highest far to the left and far to the right: extreme slope, then the highest, then the first. And the first of
/// those that are highest at 0.
struct Corners {
  int32_t left = 0, right = 0, top = 0;
};

/// Lanes run beside each other, each with its first ones.
Corners corners(const double* a, const double* b, int32_t count) {
  Corners found;
  const auto consider = [&](int64_t left, int64_t right, int64_t top) {
    const auto sooner = [&](int64_t j, int32_t k) { return a[j] > a[k] || (a[j] == a[k] && j < k); };
    if (b[left] < b[found.left] || (b[left] == b[found.left] && sooner(left, found.left)))
      found.left = static_cast<int32_t>(left);
    if (b[right] > b[found.right] || (b[right] == b[found.right] && sooner(right, found.right)))
      found.right = static_cast<int32_t>(right);
    if (sooner(top, found.top)) found.top = static_cast<int32_t>(top);
  };
  int32_t j = 0;
  if (count >= 4) {
    Two height, slope;  // copied, for lines need not be aligned
    const auto fetch = [&](int32_t at) {
      std::memcpy(&height, a + at, sizeof height);
      std::memcpy(&slope, b + at, sizeof slope);
    };
    fetch(0);
    Two left_a = height, left_b = slope, right_a = height, right_b = slope, top_a = height;
    TwoIndices left = {0, 1}, right = left, top = left, here = left;
    for (j = 2, here += 2; j + 2 <= count; j += 2, here += 2) {
      fetch(j);
      const auto lefter = (slope < left_b) | ((slope == left_b) & (height > left_a));
      const auto righter = (slope > right_b) | ((slope == right_b) & (height > right_a));
      const auto higher = height > top_a;
      left_a = lefter ? height : left_a;
      left_b = lefter ? slope : left_b;
      left = lefter ? here : left;
      right_a = righter ? height : right_a;
      right_b = righter ? slope : right_b;
      right = righter ? here : right;
      top_a = higher ? height : top_a;
      top = higher ? here : top;
    }
    for (int lane = 0; lane < 2; ++lane) consider(left[lane], right[lane], top[lane]);
  }
  for (; j < count; ++j) consider(j, j, j);
  return found;
}

}  // namespace

void LineEnvelope::between(int32_t left, int32_t right) {
  const double *a = a_.data(), *b = b_.data();
  const double x = (a[left] - a[right]) / (b[right] - b[left]);
  const int32_t top = top_at(a, b, static_cast<int32_t>(a_.size()), x);
  // A third line belongs between the two only if it is higher where they cross and its slope lies between theirs.
  if (b[top] > b[left] && b[top] < b[right] && a[top] + x * b[top] > std::max(a[left] + x * b[left], a[right] + x * b[right])) {
    between(left, top);
    between(top, right);
    return;
  }
  line.push_back(right);
  begin.push_back(x);
}

void LineEnvelope::compute(const double* a, const double* b, int32_t count) {
  line.clear();
  begin.clear();
  if (count == 0) return;
  const auto [left, right, top] = corners(a, b, count);
  if (b[left] == b[right]) {
    line.push_back(left);
    begin.push_back(-kInfinity);
    return;
  }
  // As points (b, a), the envelope is the upper hull. What lies below the segments from left to top to right is not on it.
  const auto segment = [&](int32_t from, int32_t to) {  // a little lower than it is, for rounding
    const double slope = b[to] > b[from] ? (a[to] - a[from]) / (b[to] - b[from]) : 0;
    const double size = std::max({std::abs(a[from]), std::abs(a[to]), std::abs(slope * b[from]), std::abs(slope * b[to])});
    if (b[to] == b[from]) return std::make_pair(kInfinity, 0.0);
    return std::isfinite(size) ? std::make_pair(a[from] - slope * b[from] - 1e-12 * size, slope)
                               : std::make_pair(-kInfinity, 0.0);
  };
  const auto [low1, slope1] = segment(left, top);
  const auto [low2, slope2] = segment(top, right);
  which_.resize(static_cast<size_t>(count));
  size_t kept = 0;
  for (int32_t j = 0; j < count; ++j) {
    which_[kept] = j;
    kept += a[j] >= std::min(low1 + slope1 * b[j], low2 + slope2 * b[j]);
  }
  a_.resize(kept);
  b_.resize(kept);
  int32_t first = 0, last = 0;
  for (size_t k = 0; k < kept; ++k) {
    a_[k] = a[which_[k]];
    b_[k] = b[which_[k]];
    if (which_[k] == left) first = static_cast<int32_t>(k);
    if (which_[k] == right) last = static_cast<int32_t>(k);
  }
  line.push_back(first);
  begin.push_back(-kInfinity);
  between(first, last);
  // Where rounding decided between lines that cross in one point, pieces may have come out with no length.
  keep_envelope(line, begin, [&](int32_t k) { return std::make_pair(a_[k], b_[k]); });
  for (int32_t& k : line) k = which_[k];
}

void LineEnvelope::compute_sorted(const double* a, const double* b, const uint16_t* order, int32_t count, double top) {
  line.clear();
  begin.clear();
  if (count == 0) return;
  which_.resize(static_cast<size_t>(count));
  int32_t* which = which_.data();
  int32_t left = 0, first = 0;  // how many rise from the left, and where the last of them stands
  double height = -kInfinity;
  for (; first < count && height < top; ++first) {
    const int32_t j = order[first];
    if (!(a[j] > height)) continue;
    which[left++] = j;
    height = a[j];
    __builtin_prefetch(b + j);  // slopes are needed below, and lie anywhere
  }
  int32_t* end = which + count;
  int32_t* right = end;
  height = -kInfinity;
  for (int32_t k = count - 1; k >= first; --k) {
    const int32_t j = order[k];
    if (a[j] > height) {
      *--right = j;
      height = a[j];
      __builtin_prefetch(b + j);
    } else if (a[j] == height && b[j] == b[*right]) {
      *right = j;  // of equal lines the first
    }
  }
  line.assign(which, which + left);
  line.insert(line.end(), right, end);
  keep_envelope(line, begin, [&](int32_t j) { return std::make_pair(a[j], b[j]); });
}

double largest(const double* values, int32_t count) {
  double top = -kInfinity;
  int32_t j = 0;
  if (count >= 4) {
    Two one, other, next[2];
    std::memcpy(&one, values, sizeof one);
    std::memcpy(&other, values + 2, sizeof other);
    for (j = 4; j + 4 <= count; j += 4) {
      std::memcpy(next, values + j, sizeof next);
      one = next[0] > one ? next[0] : one;
      other = next[1] > other ? next[1] : other;
    }
    top = std::max(std::max(one[0], one[1]), std::max(other[0], other[1]));
  }
  for (; j < count; ++j) top = std::max(top, values[j]);
  return top;
}

Envelope envelope(const Forest& forest, std::span<const double> intercepts, std::span<const double> slopes) {
  if (!forest.is_list()) return ForestEnvelope(forest, intercepts, slopes).run();
  Envelope out;
  LineEnvelope lines;
  lines.compute(intercepts.data(), slopes.data(), forest.edges());
  if (lines.line.empty()) throw InputError("the list has no candidate");
  out.edges = std::move(lines.line);
  out.x = std::move(lines.begin);
  out.edge_begin.push_back(0);
  for (int32_t e : out.edges) {
    out.intercept.push_back(intercepts[e]);
    out.slope.push_back(slopes[e]);
    out.edge_begin.push_back(out.edge_begin.back() + 1);
  }
  return out;
}

Envelope envelope(const Forest& forest, const double* w, const double* direction) {
  std::vector<double> a(forest.edges()), b(a.size());
  edge_scores(forest, w, a.data());
  edge_scores(forest, direction, b.data());
  return envelope(forest, a, b);
}

std::vector<Envelope> envelopes(const Pool& pool, const double* w, const double* direction, int jobs) {
  std::vector<Envelope> all(pool.size());
  each_sentence(pool, jobs, [&](size_t i, const Sentence& s) { all[i] = envelope(s.forest, w, direction); });
  return all;
}

}  // namespace hopefear
