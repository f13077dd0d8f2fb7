// The exact line search of minimum error rate training: Och (2003), section 5.
//
// Along w + x*d every candidate is a line a + x*b with a = w.h and b = d.h. The one-best candidate changes only at the
// corners of the upper envelope, so the metric is piecewise constant in x; merging the corners of all sentences and adding
// differences of statistics gives its value on every piece.
#pragma once
#include <cstdint>
#include <limits>
#include <vector>

#include "metrics/metric.h"
#include "util/sort_by_x.h"

namespace hopefear {

/// A piece of one sentence's envelope: from x on (until the next piece) the candidate with these statistics is the best.
struct Piece {
  double x;  // -infinity for the first
  const double* stats;
};

/// A direction: a vector d and, if it is a mixture of the axes, the mixture: d = sum_k mixture_k axis_k.
struct Direction {
  std::vector<double> d;
  std::vector<double> mixture;  // may be empty
};

/// Where the pieces come from (envelopes.h). One object serves one thread.
struct EnvelopeSource {
  virtual ~EnvelopeSource() = default;
  virtual size_t sentences() const = 0;
  virtual void set_origin(const double* w) = 0;
  virtual void set_direction(const Direction& direction) = 0;
  /// The origin moves by x along the direction.
  virtual void advance(double x) = 0;
  /// The envelope of sentence i; the statistics are valid until the next call of set_direction.
  virtual void envelope(size_t i, std::vector<Piece>& pieces) = 0;
};

struct LineOptimum {
  double x = 0;
  double gain = -std::numeric_limits<double>::infinity();  // at x
  double gain_at_zero = 0;                                 // just to the right of it if 0 is where two pieces meet
  bool border = false;                                     // whether it is
  double left = 0, right = 0;                              // the piece that x is the middle of
};

/// The best x in [lower, upper]: the middle of the best piece, of several the piece nearest to 0.
class LineSearch {
 public:
  LineOptimum search(EnvelopeSource& source, const Metric& metric, double lower, double upper);
  /// For the last line: the distance from 0 at which the best candidates have changed this many times.
  double distance(double changes) const;
  /// Every piece of the line: where it begins (the first: -infinity) and the gain there. For pictures and tests.
  void surface(EnvelopeSource& source, const Metric& metric, std::vector<double>& x, std::vector<double>& gain);

 private:
  struct Event {
    double x;
    uint32_t index;  // of its change; of equal x the first is first
  };
  void apply(const Event& event, size_t width);
  void collect(EnvelopeSource& source, size_t width);
  void add_changes(size_t width);
  std::vector<Event> events_;
  std::vector<double> changes_;  // of the statistics: the rows themselves lie far apart
  std::vector<double> stats_;
  std::vector<Piece> pieces_, next_;
  SortByX<Event> sort_;
};

}  // namespace hopefear
