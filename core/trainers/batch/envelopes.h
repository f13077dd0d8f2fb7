// The upper envelopes that the line search goes through: of lists (Och 2003), and of all derivations of a lattice or forest
// (Macherey et al. 2008; Kumar et al. 2009), exactly. Scores under the origin and the direction are cached.
#pragma once
#include <memory>
#include <vector>

#include "forest/derivation.h"
#include "forest/envelope.h"
#include "trainers/batch/line_search.h"
#include "trainers/lists.h"

namespace hopefear {

/// The slopes of every row along each axis and their order within a list, computed once and shared by the threads: a mixture of axes is
/// then a few columns, and an envelope along an axis one scan.
struct AxisColumns {
  AxisColumns(const Lists& lists, const std::vector<Direction>& axes, int jobs);
  size_t rows;
  std::vector<double> slope;    // axes * rows
  std::vector<uint16_t> order;  // the same; empty if a list is too long, or for a metric without envelopes
};

/// What lists and forests share: a row is a candidate or an edge, and its score along the line is a + x*b.
class RowEnvelopes : public EnvelopeSource {
 public:
  size_t sentences() const override { return lists_.sentences(); }
  void set_origin(const double* w) override { score(w, a_); }
  void set_direction(const Direction& direction) override {
    score(direction.d.data(), mixed_);
    b_ = mixed_.data();
  }
  void advance(double x) override {
    for (size_t r = 0; r < a_.size(); ++r) a_[r] += x * b_[r];
  }

 protected:
  explicit RowEnvelopes(const Lists& lists) : lists_(lists), a_(lists.rows()), mixed_(lists.rows()), b_(mixed_.data()) {}
  void score(const double* w, std::vector<double>& out) const;

  const Lists& lists_;
  std::vector<double> a_, mixed_;
  const double* b_;  // mixed_, or the column of an axis
};

class ListEnvelopes : public RowEnvelopes {
 public:
  ListEnvelopes(const Lists& lists, const AxisColumns* columns) : RowEnvelopes(lists), columns_(columns) {}
  void set_origin(const double* w) override;
  void set_direction(const Direction& direction) override;
  void advance(double x) override;
  void envelope(size_t i, std::vector<Piece>& pieces) override;

 private:
  void find_tops();

  const AxisColumns* columns_;
  const uint16_t* order_ = nullptr;  // of the rows of each list by b_, if known
  std::vector<double> tops_;         // the largest a of each list, if columns have an order
  LineEnvelope hull_;
};

/// Counts the words of each piece of an envelope as needed.
class ForestEnvelopes final : public RowEnvelopes {
 public:
  /// The object has its own scorers: it serves one thread.
  explicit ForestEnvelopes(const Lists& forests);
  void envelope(size_t i, std::vector<Piece>& pieces) override;

 private:
  std::vector<std::unique_ptr<Scorer>> scorers_;
  std::vector<std::vector<double>> counted_;  // of each sentence, the statistics of its pieces
  std::vector<int32_t> words_;
  YieldScratch scratch_;
};

/// Envelopes of lists if there are statistics (of whole orders, if the metric needs these), otherwise of forests. `columns` may be null.
std::unique_ptr<EnvelopeSource> envelopes_of(const Lists& lists, const AxisColumns* columns);

/// The same, ready to go through the line w + x*d; d is the only axis of `columns`, which may be null.
std::unique_ptr<EnvelopeSource> envelopes_on_line(const Lists& lists, const double* w, std::vector<double> d,
                                                  const AxisColumns* columns = nullptr);

}  // namespace hopefear
