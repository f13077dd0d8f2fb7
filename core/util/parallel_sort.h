// A merge sort on several threads. With a strict total order the result does not depend on their number.
#pragma once
#include <algorithm>
#include <vector>

#include "util/parallel.h"

namespace hopefear {

template <class T, class Less>
void parallel_sort(std::vector<T>& values, int jobs, Less less) {
  const size_t threads = resolve_jobs(jobs);
  size_t pieces = 1;
  while (pieces < threads && values.size() / pieces > 4096) pieces *= 2;
  const auto cut = [&](size_t piece) { return values.begin() + static_cast<std::ptrdiff_t>(values.size() * piece / pieces); };
  parallel_for(pieces, jobs, [&](size_t i, int) { std::sort(cut(i), cut(i + 1), less); });
  for (size_t width = 1; width < pieces; width *= 2)
    parallel_for(pieces / (2 * width), jobs, [&](size_t i, int) {
      std::inplace_merge(cut(2 * width * i), cut(2 * width * i + width), cut(2 * width * (i + 1)), less);
    });
}

}  // namespace hopefear
