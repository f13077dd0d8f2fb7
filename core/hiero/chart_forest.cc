// Makes a forest from the chart of a search.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "hiero/hiero_chart.h"
#include "search/by_head.h"

namespace hopefear {
namespace {

constexpr double kWorst = -std::numeric_limits<double>::infinity();

class ForestWriter {
 public:
  ForestWriter(const HieroModel& model, const HieroChart& chart, const RuleOptions& options)
      : m_(model), c_(chart), options_(options), by_head_(by_head(chart.scores.size(), chart.edges)) {}

  Forest run(int64_t max_edges, double beam) {
    const double worst = worst_merit(max_edges > 0 ? static_cast<size_t>(max_edges) : c_.edges.size(), beam);
    ForestBuilder builder(m_.vocab, m_.features, m_.dense_width);
    select(worst, builder);
    write(builder);
    return builder.finish();
  }

 private:
  /// The threshold for edges: the least score of the best derivation with the edge. Fills outside_ unless all edges stay.
  double worst_merit(size_t most, double beam) {
    if (!(beam >= 0) && most >= c_.edges.size()) return kWorst;
    const size_t nodes = c_.scores.size();
    outside_.assign(nodes, kWorst);
    outside_[nodes - 1] = 0;
    std::vector<double> merits;
    for (size_t v = nodes; v-- > 0;) {
      if (outside_[v] == kWorst) continue;
      for (uint32_t k = by_head_.begin[v]; k < by_head_.begin[v + 1]; ++k) {
        const HieroEdge& edge = c_.edges[by_head_.order[k]];
        const double merit = outside_[v] + edge.score;
        merits.push_back(merit);
        for (const int32_t tail : edge.tail)
          if (tail >= 0) outside_[tail] = std::max(outside_[tail], merit - c_.scores[tail]);
      }
    }
    double worst = beam >= 0 ? c_.scores.back() - beam : kWorst;
    if (most < merits.size()) {
      std::nth_element(merits.begin(), merits.begin() + most, merits.end(), std::greater<>());
      worst = std::max(worst, std::nextafter(merits[most], -kWorst));  // ties stay or go together
    }
    return worst;
  }

  /// Moves the edges that stay to the front of each node's, up to end_, and marks the nodes that they use in place_.
  void select(double worst, ForestBuilder& builder) {
    const size_t nodes = c_.scores.size();
    const auto& begin = by_head_.begin;
    size_t stay_nodes = 0, stay_edges = 0, tails = 0, words = 0, sparse = 0;
    end_.assign(begin.begin(), begin.end() - 1);
    place_.assign(nodes, -1);
    place_[nodes - 1] = 0;
    for (size_t v = nodes; v-- > 0;) {
      if (place_[v] < 0) continue;
      ++stay_nodes;
      bool best = false;  // the best edge of a used node stays, so that the forest has a derivation
      for (uint32_t k = begin[v]; k < begin[v + 1]; ++k) {
        const HieroEdge& edge = c_.edges[by_head_.order[k]];
        const bool first_best = !best && edge.score == c_.scores[v];
        best = best || first_best;
        if (!first_best && !outside_.empty() && !(outside_[v] + edge.score >= worst)) continue;
        by_head_.order[end_[v]++] = by_head_.order[k];
        for (const int32_t tail : edge.tail)
          if (tail >= 0) {
            place_[tail] = 0;
            ++tails;
          }
        const HieroOption& option = options_[edge.option];
        words += option.symbols;
        sparse += option.sparse_end - option.sparse;
      }
      stay_edges += end_[v] - begin[v];
    }
    builder.reserve(stay_nodes, stay_edges, tails, words, sparse);
  }

  void write(ForestBuilder& builder) {
    std::vector<double> dense(m_.dense_width);
    for (size_t v = 0; v < place_.size(); ++v) {
      if (place_[v] < 0) continue;
      const HieroCell& cell = c_.cells[c_.cell_of[v]];
      place_[v] = builder.add_node(cell.i, cell.j);
      for (uint32_t k = by_head_.begin[v]; k < end_[v]; ++k) {
        const HieroEdge& edge = c_.edges[by_head_.order[k]];
        const HieroOption& option = options_[edge.option];
        int32_t tails[2];
        size_t arity = 0;
        for (const int32_t tail : edge.tail)
          if (tail >= 0) tails[arity++] = place_[tail];
        features_of(option, edge, dense);
        if (option.place == 0) {
          builder.add_edge({tails, arity}, options_.target(option), dense.data(), options_.sparse_ids(option),
                           options_.sparse_values(option));
        } else {
          add_places(option, edge);
          builder.add_edge({tails, arity}, options_.target(option), dense.data(), ids_, values_);
        }
      }
    }
  }

  /// The sparse features of an option, and those of its place: sorted by id, one entry per id.
  void add_places(const HieroOption& option, const HieroEdge& edge) {
    const auto known_ids = options_.sparse_ids(option);
    const auto known_values = options_.sparse_values(option);
    fired_.clear();
    for (size_t k = 0; k < known_ids.size(); ++k) fired_.push_back({known_ids[k], known_values[k]});
    const auto cell = [&](int32_t tail) { return tail < 0 ? -1 : c_.cell_of[tail]; };
    const int32_t cells[] = {cell(edge.tail[0]), cell(edge.tail[1])};
    options_.places().each(option.place, place_spans(c_, cells), [&](int32_t id) { fired_.push_back({id, 1.0}); });
    std::sort(fired_.begin(), fired_.end());
    ids_.clear();
    values_.clear();
    for (const auto& [id, value] : fired_) {
      if (!ids_.empty() && ids_.back() == id) {
        values_.back() += value;
      } else {
        ids_.push_back(id);
        values_.push_back(value);
      }
    }
  }

  void features_of(const HieroOption& option, const HieroEdge& edge, std::vector<double>& h) const {
    std::fill(h.begin(), h.end(), 0.0);
    for (size_t l = 0; l < m_.lms.size(); ++l)
      if (m_.lm_id[l] >= 0) h[m_.lm_id[l]] = edge.lm[l];
    if (m_.joint) h[m_.joint_id] = edge.joint;
    if (m_.word_id >= 0) h[m_.word_id] = option.words;
    if (option.extra >= 0) h[option.extra] = 1.0;
    if (edge.path >= 0)
      for (size_t k = 0; k < m_.arc_ids.size(); ++k) h[m_.arc_ids[k]] = c_.paths[edge.path * m_.arc_ids.size() + k];
    if (const SourceRule* own = options_.own_rule(option))
      for (const auto& [id, value] : own->features)
        if (id < m_.dense_width) h[id] += value;
    if (option.rule < 0) return;
    if (m_.rule_id >= 0) h[m_.rule_id] = 1.0;
    const auto row = m_.grammar->row(static_cast<uint32_t>(option.rule));
    for (const auto& [column, id] : m_.columns) h[id] = static_cast<double>(row[column]);
  }

  const HieroModel& m_;
  const HieroChart& c_;
  const RuleOptions& options_;
  ByHead by_head_;
  std::vector<uint32_t> end_;                      // of the edges of each node that stay
  std::vector<int32_t> place_;                     // of each node in the forest; -1: it is left out
  std::vector<std::pair<int32_t, double>> fired_;  // of the current edge
  std::vector<int32_t> ids_;
  std::vector<double> values_;
  std::vector<double> outside_;  // of each node, in the best derivation with it; empty: all edges stay
};

}  // namespace

Forest chart_forest(const HieroModel& model, const HieroChart& chart, const RuleOptions& options, int64_t max_edges,
                    double beam) {
  return ForestWriter(model, chart, options).run(max_edges, beam);
}

}  // namespace hopefear
