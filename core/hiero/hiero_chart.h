// The chart of hierarchical decoding: the result of a search, before it becomes a forest.
#pragma once
#include <cstdint>
#include <vector>

#include "forest/forest.h"
#include "hiero/rule_options.h"
#include "joint/joint_scores.h"
#include "lm/lm_seams.h"
#include "search/cube_pruning.h"

namespace hopefear {

/// A nonterminal over a span of the source.
struct HieroCell {
  NodeRange nodes;  // in HieroChart::sorted
  int32_t i = 0, j = 0;
};

/// A rule application that survived.
struct HieroEdge {
  int32_t head;
  uint32_t option;
  int32_t tail[2];  // -1: none
  int32_t path;     // the scores of the arcs below the rule itself; -1: none
  double score;     // of the best derivation with this edge on top
  double lm[kMaxLms];
  double joint;
};

struct HieroChart {
  void clear() {
    cells.clear();
    sorted.clear();
    scores.clear();
    cell_of.clear();
    states.clear();
    joint.clear();
    edges.clear();
    paths.clear();
  }
  int32_t nodes() const { return static_cast<int32_t>(scores.size()); }

  std::vector<HieroCell> cells;
  std::vector<int32_t> sorted;  // the nodes of each cell, best first
  // of each node, tails before heads; the goal is the last one
  std::vector<double> scores;
  std::vector<int32_t> cell_of;
  std::vector<LmItem> states;     // as many per node as there are language models
  std::vector<JointState> joint;  // if the model has a joint model
  std::vector<HieroEdge> edges;
  std::vector<double> paths;  // scores of arcs, as many per path as the model has features for them
};

/// The spans of these cells for PlaceFeatures; -1 is none.
inline PlaceFeatures::Spans place_spans(const HieroChart& chart, const int32_t* cell) {
  PlaceFeatures::Spans spans{{{0, 0}, {0, 0}}};
  for (int t = 0; t < 2; ++t)
    if (cell[t] >= 0) spans.tail[t] = {chart.cells[cell[t]].i, chart.cells[cell[t]].j};
  return spans;
}

/// The forest below the goal, with all features, pruned by max_edges and beam of HieroOptions.
Forest chart_forest(const HieroModel& model, const HieroChart& chart, const RuleOptions& options, int64_t max_edges, double beam);

}  // namespace hopefear
