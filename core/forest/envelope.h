// The upper envelope along a line: for every x the best derivation under w + x * direction (Och 2003 on lists, Macherey et al.
// 2008 on lattices, Kumar et al. 2009 on forests).
//
// A derivation is a line a + b x with a = w.h(d) and b = direction.h(d). The usual way through a forest is a semiring whose
// values are whole envelopes: Minkowski sums at edges, unions at nodes. It computes every segment of every node, though
// most never reach the goal. We compute the goal's segments only (Eisner and Severance 1976): the best derivation at x is a
// line of the envelope; where two neighbouring lines cross, the best one either lies in between or proves that there is
// none. That takes 2K - 1 searches. On a list a search is an arg max; on a forest it is Viterbi, for eight x in one pass over the
// edges, with vector instructions. The result is the same, which the tests show against the
// semiring and by enumeration; no envelope of an inner node is ever stored.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "forest/derivation.h"
#include "forest/forest.h"
#include "forest/pool.h"

namespace hopefear {

/// Segment i, from x[i] to x[i + 1] (x[0] is -inf, the last one is open), belongs to the line intercept[i] + x slope[i] and to
/// the derivation edges[edge_begin[i]] .. edges[edge_begin[i + 1]]; on a list that is one edge, the candidate.
struct Envelope {
  std::vector<double> x, intercept, slope;
  std::vector<int64_t> edge_begin;
  std::vector<int32_t> edges;

  size_t size() const { return x.size(); }
  std::span<const int32_t> derivation(size_t i) const {
    return {edges.data() + edge_begin[i], static_cast<size_t>(edge_begin[i + 1] - edge_begin[i])};
  }
  /// The segment that x lies in.
  size_t at(double where) const;
};

/// The upper envelope of lines a[j] + x*b[j]: indices of its lines by rising slope, and where each one begins.
/// Of equal lines the first is taken.
///
/// Works by repeated arg max, without sorting, and among few lines: most are everywhere below three lines of the envelope, the two
/// of extreme slope and the one that is highest at 0.
class LineEnvelope {
 public:
  void compute(const double* a, const double* b, int32_t count);
  /// The same if the order of the slopes is known: b[order[k]] never falls, and of equal ones the first is first. `top` is the
  /// largest a, a finite number. One scan: as points (b, a), the upper hull rises to the top and falls after it, so a point that is not
  /// above all points farther out is not on it.
  void compute_sorted(const double* a, const double* b, const uint16_t* order, int32_t count, double top);
  std::vector<int32_t> line;
  std::vector<double> begin;

 private:
  void between(int32_t left, int32_t right);
  std::vector<double> a_, b_;  // of the remaining lines
  std::vector<int32_t> which_;
};

/// The largest of some numbers.
double largest(const double* values, int32_t count);

/// The envelope of a list, lattice or forest with these edge scores under w and under the direction. Throws InputError if the goal
/// has no derivation.
Envelope envelope(const Forest& forest, std::span<const double> intercepts, std::span<const double> slopes);
Envelope envelope(const Forest& forest, const double* w, const double* direction);

/// The envelope of every sentence.
std::vector<Envelope> envelopes(const Pool& pool, const double* w, const double* direction, int jobs);

}  // namespace hopefear
