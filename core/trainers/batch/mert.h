// Minimum error rate training: Och (2003), the exact line search over the upper envelope of each sentence's candidates.
//
// Along w + x*d every candidate is a line a + x*b with a = w.h and b = d.h. The one-best candidate changes only at the
// corners of the upper envelope, so the metric is piecewise constant in x; merging the corners of all sentences and adding
// differences of statistics gives its value on every piece.
#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "forest/envelope.h"
#include "trainers/lists.h"

namespace hopefear {

/// A piece of one sentence's envelope: from x on (until the next piece) the candidate with these statistics is the best.
struct Piece {
  double x;  // -infinity for the first
  const double* stats;
};

/// A direction: a vector d, and where it is a mixture of the axes, the mixture: d = sum_k mixture_k axis_k.
struct Direction {
  std::vector<double> d;
  std::vector<double> mixture;  // may be empty
};

/// Where the pieces come from: lists here, forests in forest_mert.cc. One object serves one thread.
struct EnvelopeSource {
  virtual ~EnvelopeSource() = default;
  virtual size_t sentences() const = 0;
  virtual void set_origin(const double* w) = 0;
  virtual void set_direction(const Direction& direction) = 0;
  /// The origin moves by x along the direction.
  virtual void advance(double x) = 0;
  /// The envelope of sentence i; the statistics stay good until the next call of set_direction.
  virtual void envelope(size_t i, std::vector<Piece>& pieces) = 0;
};

struct LineOptimum {
  double x = 0;
  double gain = -std::numeric_limits<double>::infinity();  // at x
  double gain_at_zero = 0;                                 // just to the right of it if 0 is where two pieces meet
  bool border = false;                                     // whether it is
  double left = 0, right = 0;                              // the piece that x is the middle of
};

/// The best x in [lower, upper]: the middle of the best piece, of equally good ones the piece nearest to 0.
class LineSearch {
 public:
  LineOptimum search(EnvelopeSource& source, const Metric& metric, double lower, double upper);
  /// Of the line searched last: how far from 0 this many changes of a best candidate lie.
  double distance(double changes) const;
  /// Every piece of the line: where it begins (the first: -infinity) and the gain there. For pictures and tests.
  void surface(EnvelopeSource& source, const Metric& metric, std::vector<double>& x, std::vector<double>& gain);

 private:
  struct Event {
    double x;
    uint32_t index;  // into changes_; settles the order of equal x
  };
  struct Change {
    const double* from;
    const double* to;
  };
  void apply(const Event& event, size_t width);
  void collect(EnvelopeSource& source, size_t width);
  std::vector<Event> events_;
  std::vector<Change> changes_;
  std::vector<double> stats_;
  std::vector<Piece> pieces_;
};

struct MertOptions {
  int restarts = 20;
  int random_directions = 7;  // a pass tries them after the axes
  int max_passes = 50;
  double min_gain = 1e-6;   // a line that improves by less gained nothing
  int kick_rounds = 5;      // afterwards: times four random kicks from the best point, each with an ascent
  double kick_share = 0.3;  // a kick changes about this share of the sentences
  uint64_t seed = 1;
  std::function<void(int)> on_ascent;  // after each ascent, from any thread, one at a time: how many are done
};

struct MertStart {
  std::vector<double> initial, w;
  double gain = 0;
  int lines = 0;  // searched
};

/// Ascent along `axes` (rows of features numbers: Och's coordinates, or the principal axes of the feature differences) and random
/// mixtures of them, from `initial` (start 0) and from random points: a random mixture of the axes, of either sign. One source a thread.
std::vector<MertStart> mert(const std::vector<EnvelopeSource*>& sources, const Metric& metric, const double* initial,
                            const std::vector<Direction>& axes, const Bounds& bounds, int32_t features,
                            const MertOptions& options);

/// The slopes of every row along each axis, computed once and shared by the threads: a mixture of axes is then a few columns.
struct AxisColumns {
  AxisColumns(const Lists& lists, const std::vector<Direction>& axes, int jobs);
  size_t rows;
  std::vector<double> slope;  // axes * rows
};

/// Lists: a cached score for each row.
class ListEnvelopes : public EnvelopeSource {
 public:
  ListEnvelopes(const Lists& lists, const AxisColumns* columns)
      : lists_(lists), columns_(columns), a_(lists.rows()), b_(lists.rows()) {}
  size_t sentences() const override { return lists_.sentences(); }
  void set_origin(const double* w) override;
  void set_direction(const Direction& direction) override;
  void advance(double x) override;
  void envelope(size_t i, std::vector<Piece>& pieces) override;

 private:
  const Lists& lists_;
  const AxisColumns* columns_;
  std::vector<double> a_, b_;
  LineEnvelope hull_;
};

}  // namespace hopefear
