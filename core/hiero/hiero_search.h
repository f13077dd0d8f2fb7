// The search of hierarchical decoding (hiero_decoder.h): CKY with cube pruning.
//
// Rules are matched by dotted items: how far a source side has come from node i to node j, and which cells its nonterminals have. All
// rules whose source side is complete over a span are cubes, options times the nodes of up to two cells, and cube pruning
// makes a cell of them.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "forest/forest.h"
#include "hiero/hiero_chart.h"
#include "hiero/hiero_model.h"
#include "hiero/hiero_options.h"
#include "hiero/hiero_source.h"
#include "hiero/rule_options.h"
#include "hiero/span_table.h"
#include "search/cube_pruning.h"

namespace hopefear {

/// The work on one sentence, then on the next: its arrays are arenas, and source sides that were seen are remembered. The model must
/// outlive it.
class HieroSearch {
 public:
  explicit HieroSearch(const HieroModel& model)
      : m_(model),
        g_(*model.grammar),
        models_(model.lms.size()),
        joint_(model.joint.get()),
        places_(model, spans_),
        options_(model, seams_, joint_, places_) {
    for (const auto& lm : model.lms) seams_.emplace_back(*lm);
  }

  Forest run(const HieroSource& source, const double* w, const HieroOptions& options);

  /// Whether to keep this for the next sentence, or has it become too large for that?
  bool modest() const;
  /// Symbols and features of rules, and words of runs, that are stored for the next sentence.
  size_t stored() const;

  // what cube pruning asks: rank 0 is of the option, then come those of the nodes of the two cells
  uint32_t size(uint32_t cube, size_t k) const;
  double score(uint32_t cube, const uint32_t* ranks, uint32_t entry);
  void accept(uint32_t cube, const uint32_t* ranks, uint32_t entry, double score);

 private:
  /// A dotted item: a node of the trie and the cells behind its nonterminals.
  struct Item {
    uint32_t node;
    int32_t cell[2];
    int32_t before;  // the item with the dot one symbol to the left; -1: the root
    int32_t path;    // the scores of the arcs behind the dot; -1: none
  };
  /// Options times the nodes of up to two cells.
  struct Cube {
    uint32_t option, options;   // begin and number
    int32_t cell[2];            // -1: none
    int32_t path = -1;          // the scores of the arcs below the rule itself
    uint32_t place_scores = 0;  // where the scores of its options at this place begin
  };

  void start(const HieroSource& source, const double* w, const HieroOptions& options);
  void span(int32_t i, int32_t width);
  void add_words(int32_t i, int32_t width);
  void add_cells(int32_t i, int32_t width);
  void add_rules(int32_t i, int32_t j);
  void advance(uint32_t node, std::array<int32_t, 2> cell, int32_t before, int32_t path, int32_t width);
  std::span<const int32_t> source_side(uint32_t node, int32_t before);
  int32_t joined(int32_t path, int32_t arc);
  uint32_t child_x(uint32_t node) const;
  void copy(int32_t arc, bool translated, int32_t path);
  void begin_glue();
  void glue(int32_t j);
  void goal();
  int32_t fill(int32_t i, int32_t j, int64_t pop_limit);
  int32_t tail(const Cube& cube, const uint32_t* ranks, int t) const;
  double lm_score(const HieroOption& option, size_t l, const int32_t* tails, LmItem& state);
  double rest(const LmItem* state) const;
  double joint_score(const HieroOption& option, const Cube& cube, const int32_t* tails, JointState& state);
  [[gnu::noinline]] double place_score(const Cube& cube, uint32_t rank);  // most models have none: keeps score() small
  RulePlace rule_place(int32_t i, const int32_t* cell) const;
  int32_t node_of(const LmItem* state, const JointState* joint);

  const HieroModel& m_;
  const Grammar& g_;
  const size_t models_;
  const HieroSource* source_ = nullptr;
  const double* w_ = nullptr;
  HieroOptions limits_{};
  std::array<double, kMaxLms> w_lm_{};
  std::array<uint32_t, kMaxLms> end_run_{};  // </s> alone
  double w_joint_ = 0;

  SpanTable spans_;
  std::vector<LmSeams> seams_;  // of each language model
  JointScores joint_;
  PlaceFeatures places_;
  RuleOptions options_;
  HieroChart chart_;
  std::vector<int32_t> side_;  // symbols of a source side

  std::vector<Item> items_;
  std::vector<uint32_t> item_begin_, item_end_;  // of each span
  std::vector<int32_t> x_cell_;                  // of each span; -1: nothing there
  std::vector<int32_t> s_cell_;                  // of each end

  // of one cell
  std::vector<Cube> cubes_;
  std::vector<double> entry_scores_;  // without rest costs, which are for the order of entries and nodes only
  std::vector<double> entry_lm_;      // what each language model says of each entry, and the state behind it
  std::vector<LmItem> entry_state_;
  std::vector<double> entry_joint_;  // and the joint model, if there is one
  std::vector<JointState> entry_joint_state_;
  std::vector<double> place_scores_;  // w.h of the place features of each cube's options, if there are any; NaN: not known yet
  std::vector<double> estimates_;     // of its nodes: scores with rest costs
  int32_t begin_ = 0;                 // of the span
  CubePruning<3> pruning_;
  Recombination known_;
};

}  // namespace hopefear
