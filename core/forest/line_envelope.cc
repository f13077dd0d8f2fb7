#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

#include "forest/envelope.h"
#include "forest/keep_envelope.h"

namespace hopefear {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Vectors of two doubles, which every machine has: without vectors of four, compilers select element by element.
using Two = double __attribute__((vector_size(16)));
using TwoIndices = int64_t __attribute__((vector_size(16)));

/// arg max of a + x*b; the first of equal ones. Each lane has its own first maximum.
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
  int64_t highest = where[0];
  if (top[1] > best || (top[1] == best && where[1] < highest)) {
    best = top[1];
    highest = where[1];
  }
  for (; j < count; ++j)
    if (const double value = a[j] + x * b[j]; value > best) {
      best = value;
      highest = j;
    }
  return static_cast<int32_t>(highest);
}

/// The lines that are highest far to the left and far to the right: extreme slope, then the highest, then the first. And the first of
/// those that are highest at 0.
struct Corners {
  int32_t left = 0, right = 0, top = 0;
};

/// Each lane has its own first ones.
Corners corners(const double* a, const double* b, int32_t count) {
  Corners corners;
  const auto consider = [&](int64_t left, int64_t right, int64_t top) {
    const auto sooner = [&](int64_t j, int32_t k) { return a[j] > a[k] || (a[j] == a[k] && j < k); };
    if (b[left] < b[corners.left] || (b[left] == b[corners.left] && sooner(left, corners.left)))
      corners.left = static_cast<int32_t>(left);
    if (b[right] > b[corners.right] || (b[right] == b[corners.right] && sooner(right, corners.right)))
      corners.right = static_cast<int32_t>(right);
    if (sooner(top, corners.top)) corners.top = static_cast<int32_t>(top);
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
  return corners;
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
  // As points (b, a), the envelope is the upper hull. Points below the segments from left to top to right are not on it.
  const auto segment = [&](int32_t from, int32_t to) {  // slightly lowered, to allow for rounding
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
  // If lines cross in one point, rounding may have produced pieces of length 0.
  keep_envelope(line, begin, [&](int32_t k) { return std::make_pair(a_[k], b_[k]); });
  for (int32_t& k : line) k = which_[k];
}

void LineEnvelope::compute_sorted(const double* a, const double* b, const uint16_t* order, int32_t count, double top) {
  line.clear();
  begin.clear();
  if (count == 0) return;
  which_.resize(static_cast<size_t>(count));
  int32_t* which = which_.data();
  int32_t left = 0, first = 0;  // how many lines rise from the left, and where the last of them is
  double height = -kInfinity;
  for (; first < count && height < top; ++first) {
    const int32_t j = order[first];
    if (!(a[j] > height)) continue;
    which[left++] = j;
    height = a[j];
    __builtin_prefetch(b + j);  // slopes are needed below, in no particular order
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

}  // namespace hopefear
