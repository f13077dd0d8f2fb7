// Minimum error rate training: Och (2003), the exact line search over the upper envelope of each sentence's candidates.
//
// Along w + x*d every candidate is a line a + x*b with a = w.h and b = d.h. The one-best candidate changes only at the
// corners of the upper envelope, so the metric is piecewise constant in x; merging the corners of all sentences and adding
// differences of statistics gives its value on every piece.
#pragma once
#include <cstdint>
#include <limits>
#include <vector>

#include "lists.h"

namespace hopefear {

/// A piece of one sentence's envelope: from x on (until the next piece) the candidate with these statistics is the best.
struct Piece {
  double x;             // -infinity for the first
  const double* stats;
};

/// Where the pieces come from: lists here, forests in forest_mert.cc. One object serves one thread.
struct EnvelopeSource {
  virtual ~EnvelopeSource() = default;
  virtual size_t sentences() const = 0;
  /// Fixes the origin w (scores are cached) and the direction d.
  virtual void set_line(const double* w, const double* d) = 0;
  /// The envelope of sentence i; the statistics stay good until the next call of set_line.
  virtual void envelope(size_t i, std::vector<Piece>& pieces) = 0;
};

/// The upper envelope of lines a[j] + x*b[j]: indices of its lines by rising slope, and where each one begins.
/// Of equal lines the first is taken. Works by repeated arg max, so nothing is sorted.
class LineEnvelope {
 public:
  void compute(const double* a, const double* b, int32_t count);
  std::vector<int32_t> line;
  std::vector<double> begin;

 private:
  void between(const double* a, const double* b, int32_t count, int32_t left, int32_t right);
};

struct LineOptimum {
  double x = 0;
  double gain = -std::numeric_limits<double>::infinity();  // at x
  double gain_at_zero = 0;
  double left = 0, right = 0;  // the piece that x is the middle of
};

/// The best x in [lower, upper]: the middle of the best piece, of equally good ones the piece nearest to 0.
class LineSearch {
 public:
  LineOptimum search(EnvelopeSource& source, const Metric& metric, double lower, double upper);
  /// Every piece of the line: where it begins (the first: -infinity) and the gain there. For pictures and tests.
  void surface(EnvelopeSource& source, const Metric& metric, std::vector<double>& x, std::vector<double>& gain);

 private:
  struct Event {
    double x;
    const double* from;
    const double* to;
  };
  void collect(EnvelopeSource& source, size_t width);
  std::vector<Event> events_;
  std::vector<double> stats_;
  std::vector<Piece> pieces_;
};

struct MertOptions {
  int restarts = 20;
  int random_directions = 0;  // a pass tries them after the coordinates
  int max_passes = 50;
  double min_gain = 1e-6;     // a pass that improves by less ends the descent
  uint64_t seed = 1;
  int jobs = 0;
};

struct MertStart {
  std::vector<double> initial, w;
  double gain = 0;
  int passes = 0;
};

/// Coordinate ascent from `initial` (restart 0) and from random points; the sources are made one a thread.
/// `scale` is the typical size of a useful weight of each feature: the unit of random points and directions.
std::vector<MertStart> mert(const std::vector<EnvelopeSource*>& sources, const Metric& metric, const double* initial, const double* scale,
                            const Bounds& bounds, int32_t features, const MertOptions& options);

/// Lists: a cached score for each row.
class ListEnvelopes : public EnvelopeSource {
 public:
  explicit ListEnvelopes(const Lists& lists) : lists_(lists), a_(lists.rows()), b_(lists.rows()) {}
  size_t sentences() const override { return lists_.sentences(); }
  void set_line(const double* w, const double* d) override;
  void envelope(size_t i, std::vector<Piece>& pieces) override;

 private:
  const Lists& lists_;
  std::vector<double> a_, b_;
  std::vector<double> w_;
  LineEnvelope hull_;
};

}  // namespace hopefear
