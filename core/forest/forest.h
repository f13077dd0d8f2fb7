// The forest: everything that the decoder could have said for one sentence (Chiang 2012, section 2.2).
//
// One type for three shapes. A k-best list has one node and k edges without tails. A lattice has edges with at most one
// tail. A hypergraph has edges with any number of tails, and an edge may use one node twice.
//
//   nodes   topologically ordered, tails before heads; the goal (the root r) is the last node
//   edges   sorted by head: those of node v are edge_begin[v] .. edge_begin[v+1]
//   words   the target side of an edge: a word id (>= 0), or slot t, written -1-t: the yield of the edge's t-th tail
//   h       dense features are a row of dense_width numbers, feature id j in column j; sparse ones are (id, value) pairs
//           with ids >= dense_width; w.h(d) is the sum over the edges of d, with w indexed by feature id
//   numbers given by the user for each candidate (a COMET column, for example), a row of number_width per edge
//
// Arrays are views. `owner` keeps alive whatever they look into: vectors of a builder, or a mapped file.
#pragma once
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "util/error.h"
#include "util/vocab.h"

namespace hopefear {

inline constexpr int32_t slot(int32_t tail) { return -1 - tail; }
inline constexpr int32_t slot_tail(int32_t word) { return -1 - word; }

struct Forest {
  std::span<const int32_t> edge_begin;  // nodes + 1
  std::span<const int32_t> tail_begin;  // edges + 1
  std::span<const int32_t> tails;
  std::span<const int32_t> word_begin;  // edges + 1
  std::span<const int32_t> words;
  std::span<const int32_t> spans;         // 2 * nodes: the source words [i, j) below each node; empty when not known
  std::span<const double> dense;          // edges * dense_width
  std::span<const int32_t> sparse_begin;  // edges + 1, or empty: no sparse features
  std::span<const int32_t> sparse_ids;
  std::span<const double> sparse_values;
  std::span<const double> numbers;  // edges * number_width
  int32_t dense_width = 0;
  int32_t number_width = 0;
  std::shared_ptr<Vocab> vocab;     // of the words
  std::shared_ptr<Vocab> features;  // of the feature names
  std::shared_ptr<const void> owner;

  int32_t nodes() const { return static_cast<int32_t>(edge_begin.size()) - 1; }
  int32_t edges() const { return static_cast<int32_t>(word_begin.size()) - 1; }
  int32_t goal() const { return nodes() - 1; }
  bool is_list() const { return nodes() == 1; }
  int32_t source_length() const { return spans.empty() ? 0 : spans[2 * goal() + 1] - spans[2 * goal()]; }

  std::span<const int32_t> edge_tails(int32_t e) const { return tails.subspan(tail_begin[e], tail_begin[e + 1] - tail_begin[e]); }
  std::span<const int32_t> edge_words(int32_t e) const { return words.subspan(word_begin[e], word_begin[e + 1] - word_begin[e]); }

  const double* dense_row(int32_t e) const { return dense.data() + static_cast<size_t>(e) * dense_width; }
  const double* number_row(int32_t e) const { return numbers.data() + static_cast<size_t>(e) * number_width; }

  /// w.h(e). Four partial sums over the dense row, in a fixed order, so that all callers agree to the last bit.
  double edge_score(int32_t e, const double* w) const {
    double score = dense_score(e, w);
    if (!sparse_begin.empty())
      for (int32_t k = sparse_begin[e]; k < sparse_begin[e + 1]; ++k) score += sparse_values[k] * w[sparse_ids[k]];
    return score;
  }
  /// The dense features' share of w.h(e).
  double dense_score(int32_t e, const double* w) const {
    using Four = double __attribute__((vector_size(32)));
    const double* row = dense_row(e);
    Four sum = {0, 0, 0, 0}, some, weights;
    int32_t j = 0;
    for (; j + 4 <= dense_width; j += 4) {  // copied, for rows need not be aligned
      std::memcpy(&some, row + j, sizeof some);
      std::memcpy(&weights, w + j, sizeof weights);
      sum += some * weights;
    }
    for (; j < dense_width; ++j) sum[0] += row[j] * w[j];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
  }
};

/// Throws InputError when an array does not fit the description above: lengths, order, ranges, slots, NaN.
/// Every reader of outside data calls it; the message starts with `where`.
void validate(const Forest& forest, const std::string& where);

/// Grows a forest edge by edge. Nodes are added in topological order, and a node's edges directly after it.
class ForestBuilder {
 public:
  ForestBuilder(std::shared_ptr<Vocab> vocab, std::shared_ptr<Vocab> features, int32_t dense_width = 0, int32_t number_width = 0);

  /// Reserves memory, if the sizes are known.
  void reserve(size_t nodes, size_t edges, size_t tails, size_t words, size_t sparse);
  int32_t add_node(int32_t span_begin = -1, int32_t span_end = -1);
  /// An edge into the newest node. `dense` and `numbers` are rows of the widths given above (a null pointer: zeros).
  int32_t add_edge(std::span<const int32_t> tails, std::span<const int32_t> words, const double* dense,
                   std::span<const int32_t> sparse_ids = {}, std::span<const double> sparse_values = {},
                   const double* numbers = nullptr);
  /// A node with the span of node v, and an edge like edge e but with these tails, of another forest of the same widths.
  int32_t copy_node(const Forest& from, int32_t v);
  int32_t copy_edge(const Forest& from, int32_t e, std::span<const int32_t> tails);
  Forest finish();

 private:
  struct Arrays;
  std::shared_ptr<Arrays> a_;
};

/// edge scores for one weight vector, edges() of them.
void edge_scores(const Forest& forest, const double* w, double* scores);

/// h(d) = sum of h(e), added to `h` with a factor: h += factor * h(e).
void add_features(const Forest& forest, int32_t e, double factor, double* h);

}  // namespace hopefear
