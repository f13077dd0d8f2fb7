// The upper envelope of lines, each a + x*b: which of them are highest, from left to right, and from where on.
#pragma once
#include <limits>
#include <utility>
#include <vector>

namespace hopefear {

/// Keeps of lines sorted by slope those of the upper envelope. `line` gives (intercept, slope) of an entry.
template <class Entry, class Line>
void keep_envelope(std::vector<Entry>& sorted, std::vector<double>& x, Line&& line) {
  x.clear();
  size_t kept = 0;
  for (size_t i = 0; i < sorted.size(); ++i) {
    const auto [a, b] = line(sorted[i]);
    double from = -std::numeric_limits<double>::infinity();
    bool wins = true;
    while (kept > 0) {
      const auto [a_top, b_top] = line(sorted[kept - 1]);
      if (b == b_top) {
        if (!(a > a_top)) {  // parallel and not above
          wins = false;
          break;
        }
        from = -std::numeric_limits<double>::infinity();
      } else {
        from = (a_top - a) / (b - b_top);
        if (from > x[kept - 1]) break;
      }
      --kept;
      x.pop_back();
      from = -std::numeric_limits<double>::infinity();
    }
    if (!wins || from == std::numeric_limits<double>::infinity()) continue;
    sorted[kept++] = sorted[i];
    x.push_back(from);
  }
  sorted.resize(kept);
}

}  // namespace hopefear
