// Makes the lattice of words that the decoder translates from a lattice read from a file, which is a forest.
#include <algorithm>

#include "hiero/hiero_source.h"
#include "util/error.h"

namespace hopefear {
namespace {

constexpr size_t kMostArcs = size_t{1} << 22;  // of one node, after arcs without words are removed

using Scores = std::vector<double>;

struct Arc {
  int32_t from, to, word;  // word -1: none
  Scores scores;
};
using ArcsByNode = std::vector<std::vector<Arc>>;  // by the node where they begin

Scores sum(Scores a, const Scores& b) {
  for (size_t k = 0; k < a.size(); ++k) a[k] += b[k];
  return a;
}

void check_lattice(const Forest& lattice) {
  for (int32_t e = 0; e < lattice.edges(); ++e)
    if (const size_t tails = lattice.edge_tails(e).size(); tails > 1 || (tails == 1 && lattice.edge_words(e).front() >= 0))
      throw InputError("this is no lattice of words from left to right. Give a lattice, or text");
}

/// The scores of edges, in the order of the model's arc_ids.
class EdgeScores {
 public:
  EdgeScores(const HieroModel& model, const Forest& lattice)
      : f_(lattice), count_(model.arc_ids.size()), score_of_(lattice.features->size(), -1) {
    for (size_t k = 0; k < count_; ++k)
      if (const int32_t found = f_.features->find((*model.features)[model.arc_ids[k]]); found >= 0)
        score_of_[found] = static_cast<int32_t>(k);
  }

  Scores none() const { return Scores(count_, 0.0); }
  Scores of(int32_t e) const {
    Scores scores = none();
    for (int32_t j = 0; j < f_.dense_width; ++j) add(j, f_.dense[size_t(e) * f_.dense_width + j], scores);
    if (!f_.sparse_begin.empty())
      for (int32_t k = f_.sparse_begin[e]; k < f_.sparse_begin[e + 1]; ++k) add(f_.sparse_ids[k], f_.sparse_values[k], scores);
    return scores;
  }

 private:
  void add(int32_t feature, double value, Scores& scores) const {
    if (value == 0) return;
    const int32_t k = score_of_[feature];
    if (k < 0) throw InputError("the lattice has the feature " + (*f_.features)[feature] + ", which the decoder was not told of");
    scores[k] += value;
  }

  const Forest& f_;
  size_t count_;
  std::vector<int32_t> score_of_;  // which score a feature is; -1: none
};

/// All edges as arcs with at most one word. Edges without tails begin at node 0; an edge with several words gets new nodes
/// between them, numbered just below its head.
std::vector<Arc> single_words(const Forest& lattice, const EdgeScores& scores_of, int32_t& end) {
  const auto own_words = [&](int32_t e) { return lattice.edge_words(e).subspan(lattice.edge_tails(e).size()); };
  std::vector<Arc> arcs;
  std::vector<int32_t> place;  // of the lattice's nodes
  end = 0;
  for (int32_t v = 0; v < lattice.nodes(); ++v) {
    int32_t next = end + 1;
    end = next;
    for (int32_t e = lattice.edge_begin[v]; e < lattice.edge_begin[v + 1]; ++e)
      end += std::max(0, static_cast<int32_t>(own_words(e).size()) - 1);
    place.push_back(end);
    for (int32_t e = lattice.edge_begin[v]; e < lattice.edge_begin[v + 1]; ++e) {
      Scores scores = scores_of.of(e);
      const auto tails = lattice.edge_tails(e);
      const auto words = own_words(e);
      int32_t from = tails.empty() ? 0 : place[tails[0]];
      for (size_t k = 0; k + 1 < words.size(); ++k) {
        arcs.push_back({from, next, words[k], std::move(scores)});
        scores = scores_of.none();
        from = next++;
      }
      arcs.push_back({from, end, words.empty() ? -1 : words.back(), std::move(scores)});
    }
  }
  return arcs;
}

/// Removes arcs without a word: arcs that leave their ends are copied to their beginnings, and arcs that enter a node from which they
/// lead to the end are copied to the end.
ArcsByNode without_empty(std::vector<Arc> arcs, int32_t end, const Scores& none) {
  std::stable_sort(arcs.begin(), arcs.end(), [](const Arc& a, const Arc& b) { return a.from < b.from; });
  ArcsByNode out(end + 1);
  std::vector<std::vector<Scores>> to_end(end + 1);  // of the paths to the end without words
  to_end[end].push_back(none);
  // From the last node to the first: all arcs of a node are processed before those that lead to it.
  for (size_t a = arcs.size(); a-- > 0;) {
    const Arc& arc = arcs[a];
    auto& here = out[arc.from];
    if (arc.word >= 0) {
      if (arc.to != end) here.push_back(arc);
      for (const Scores& scores : to_end[arc.to]) here.push_back({arc.from, end, arc.word, sum(arc.scores, scores)});
    } else {
      for (const Arc& later : out[arc.to]) here.push_back({arc.from, later.to, later.word, sum(arc.scores, later.scores)});
      for (const Scores& scores : to_end[arc.to]) to_end[arc.from].push_back(sum(arc.scores, scores));
    }
    if (here.size() > kMostArcs || to_end[arc.from].size() > kMostArcs)
      throw InputError("the lattice has too many arcs without words in a row");
  }
  return out;
}

/// The arcs of paths from the first node to the last, in the order of the nodes where they begin; numbers those nodes anew.
std::vector<const Arc*> on_paths(ArcsByNode& out, std::vector<int32_t>& number) {
  const size_t nodes = out.size();
  std::vector<uint8_t> leads(nodes, 0);  // to the end
  leads.back() = 1;
  for (size_t v = nodes - 1; v-- > 0;) {
    std::erase_if(out[v], [&](const Arc& arc) { return !leads[arc.to]; });
    leads[v] = !out[v].empty();
  }
  number.assign(nodes, -1);
  if (leads[0]) number[0] = 0;
  int32_t count = 0;
  std::vector<const Arc*> kept;
  for (size_t v = 0; v < nodes; ++v) {
    if (number[v] < 0) continue;
    number[v] = count++;
    for (const Arc& arc : out[v]) {
      number[arc.to] = 0;
      kept.push_back(&arc);
    }
  }
  return kept;
}

}  // namespace

HieroSource lattice_source(HieroModel& model, std::string id, const Forest& lattice, std::string_view kinds) {
  check_lattice(lattice);
  if (model.joint)
    throw InputError("this model has a neural joint model, which is for text only. Build one without --joint-model");
  const EdgeScores scores(model, lattice);
  int32_t end = 0;
  ArcsByNode out;
  {
    std::vector<Arc> arcs = single_words(lattice, scores, end);
    out = without_empty(std::move(arcs), end, scores.none());
  }
  std::vector<int32_t> number;
  std::vector<const Arc*> kept = on_paths(out, number);
  std::stable_sort(kept.begin(), kept.end(), [](const Arc* a, const Arc* b) { return a->to < b->to; });

  HieroSource source;
  source.id = std::move(id);
  source.lattice = true;
  source.into.assign(1, 0);
  for (const Arc* arc : kept) {
    add_word(model, source, (*lattice.vocab)[arc->word], static_cast<size_t>(arc->word) < kinds.size() ? kinds[arc->word] : 'w');
    source.from.push_back(number[arc->from]);
    source.scores.insert(source.scores.end(), arc->scores.begin(), arc->scores.end());
    source.into.resize(number[arc->to] + 1, static_cast<int32_t>(source.words.size()) - 1);
  }
  source.into.push_back(static_cast<int32_t>(source.words.size()));
  return source;
}

}  // namespace hopefear
