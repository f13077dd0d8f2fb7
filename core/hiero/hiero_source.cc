// What the decoder translates: the words of a sentence or of a lattice, looked up.
#include <algorithm>

#include "hiero/hiero_decoder.h"
#include "util/error.h"
#include "util/text.h"

namespace hopefear {

constexpr size_t kMostArcs = size_t{1} << 22;  // of one node, after arcs without words are gone

void HieroDecoder::add_word(HieroSource& source, std::string_view word, char kind) {
  source.words.push_back(grammar_->source_vocab()->find(word));
  source.kinds.push_back(kind == 'n' ? WordKind::number : kind == 'c' ? WordKind::name : WordKind::word);
  const auto alone = [&](int32_t known) {
    const auto [begin, end] = grammar_->rules_of(grammar_->child(Grammar::kRoot, known));
    return begin != end;
  };
  const int32_t known = source.words.back();
  const bool may_copy = kind != 'w' || known < 0 || grammar_->child(Grammar::kRoot, known) == Grammar::kNone || !alone(known);
  source.copies.push_back(may_copy ? vocab_->add(word) : -1);
  auto& ids = source.lm.emplace_back();
  for (size_t l = 0; l < lms_.size(); ++l) ids[l] = may_copy ? lms_[l]->find_in_text(word) : kUnk;
}

HieroSource HieroDecoder::prepare(std::string id, std::string_view text, std::string_view kinds) {
  HieroSource source;
  source.id = std::move(id);
  source.text = text;
  for_each_word(text, [&](std::string_view word) {
    const size_t place = source.words.size();
    add_word(source, word, place < kinds.size() ? kinds[place] : 'w');
    source.from.push_back(static_cast<int32_t>(place));
  });
  source.into.assign(1, 0);
  for (size_t j = 0; j <= source.words.size(); ++j) source.into.push_back(static_cast<int32_t>(j));
  return source;
}

HieroSource HieroDecoder::prepare(std::string id, const Forest& lattice, std::string_view kinds) {
  struct Arc {
    int32_t from, to, word;  // word -1: none
    std::vector<double> scores;
  };
  for (int32_t e = 0; e < lattice.edges(); ++e)
    if (const size_t tails = lattice.edge_tails(e).size(); tails > 1 || (tails == 1 && lattice.edge_words(e).front() >= 0))
      throw InputError("this is no lattice of words from left to right. Give a lattice, or text");
  std::vector<int32_t> arc_of(static_cast<size_t>(lattice.features->size()), -1);  // which score a feature is
  for (size_t k = 0; k < arc_ids_.size(); ++k)
    if (const int32_t found = lattice.features->find((*features_)[arc_ids_[k]]); found >= 0)
      arc_of[found] = static_cast<int32_t>(k);
  const auto add = [&](std::vector<double>& scores, int32_t feature, double value) {
    if (value == 0) return;
    const int32_t k = arc_of[feature];
    if (k < 0)
      throw InputError("the lattice has the feature " + (*lattice.features)[feature] + ", which the decoder was not told of");
    scores[k] += value;
  };

  // Node v of the forest is node v + 1 here, and 0 is where edges without tails begin.
  std::vector<std::vector<Arc>> out(1);  // by node, in the order of nodes
  std::vector<int32_t> place{0};         // of the lattice's nodes, as edges with several words have nodes between
  std::vector<Arc> arcs;
  for (int32_t v = 0; v < lattice.nodes(); ++v) {
    std::vector<std::vector<int32_t>> texts;
    int32_t between = 0;  // nodes between, of this node's edges
    for (int32_t e = lattice.edge_begin[v]; e < lattice.edge_begin[static_cast<size_t>(v) + 1]; ++e) {
      const auto tails = lattice.edge_tails(e);
      const auto words = lattice.edge_words(e);
      texts.emplace_back(words.begin() + static_cast<ptrdiff_t>(tails.size()), words.end());
      between += std::max(0, static_cast<int32_t>(texts.back().size()) - 1);
    }
    int32_t next = place.back() + 1;
    place.push_back(next + between);
    size_t number = 0;
    for (int32_t e = lattice.edge_begin[v]; e < lattice.edge_begin[static_cast<size_t>(v) + 1]; ++e, ++number) {
      std::vector<double> scores(arc_ids_.size(), 0.0);
      for (int32_t f = 0; f < lattice.dense_width; ++f)
        add(scores, f, lattice.dense[static_cast<size_t>(e) * static_cast<size_t>(lattice.dense_width) + static_cast<size_t>(f)]);
      if (!lattice.sparse_begin.empty())
        for (auto k = static_cast<size_t>(lattice.sparse_begin[e]);
             k < static_cast<size_t>(lattice.sparse_begin[static_cast<size_t>(e) + 1]); ++k)
          add(scores, lattice.sparse_ids[k], lattice.sparse_values[k]);
      const auto tails = lattice.edge_tails(e);
      int32_t from = tails.empty() ? 0 : place[static_cast<size_t>(tails[0]) + 1];
      const auto& text = texts[number];
      for (size_t k = 0; k + 1 < text.size(); ++k) {
        arcs.push_back({from, next, text[k], std::move(scores)});
        scores.assign(arc_ids_.size(), 0.0);
        from = next++;
      }
      arcs.push_back({from, place.back(), text.empty() ? -1 : text.back(), std::move(scores)});
    }
  }
  const int32_t end = place.back();

  // Arcs without a word: what leaves their ends also leaves their beginnings, and what enters a node from which they lead to
  // the end also enters the end.
  std::stable_sort(arcs.begin(), arcs.end(), [](const Arc& a, const Arc& b) { return a.from < b.from; });
  out.assign(static_cast<size_t>(end) + 1, {});
  std::vector<std::vector<std::vector<double>>> to_end(static_cast<size_t>(end) + 1);  // scores of paths to the end without words
  const auto sum = [](std::vector<double> a, const std::vector<double>& b) {
    for (size_t k = 0; k < a.size(); ++k) a[k] += b[k];
    return a;
  };
  to_end[end].push_back(std::vector<double>(arc_ids_.size(), 0.0));
  // From the last node to the first: all arcs of a node are done before those that lead to it.
  for (size_t a = arcs.size(); a-- > 0;) {
    const Arc& arc = arcs[a];
    auto& here = out[arc.from];
    if (arc.word >= 0) {
      if (arc.to != end) here.push_back(arc);
      for (const auto& scores : to_end[arc.to]) here.push_back({arc.from, end, arc.word, sum(arc.scores, scores)});
    } else {
      for (const Arc& later : out[arc.to]) here.push_back({arc.from, later.to, later.word, sum(arc.scores, later.scores)});
      for (const auto& scores : to_end[arc.to]) to_end[arc.from].push_back(sum(arc.scores, scores));
    }
    if (here.size() > kMostArcs || to_end[arc.from].size() > kMostArcs)
      throw InputError("the lattice has too many arcs without words in a row");
  }

  HieroSource source;
  source.id = std::move(id);
  source.into.assign(1, 0);
  // Nodes that some path of words goes through, numbered anew.
  std::vector<uint8_t> leads(static_cast<size_t>(end) + 1, 0);
  leads.back() = 1;
  for (size_t v = static_cast<size_t>(end); v-- > 0;) {
    std::erase_if(out[v], [&](const Arc& arc) { return !leads[arc.to]; });
    leads[v] = !out[v].empty();
  }
  std::vector<int32_t> number(static_cast<size_t>(end) + 1, -1);
  if (leads[0]) number[0] = 0;
  for (int32_t v = 0; v <= end; ++v)
    if (number[v] >= 0)
      for (const Arc& arc : out[v]) number[arc.to] = 0;
  int32_t count = 0;
  std::vector<const Arc*> kept;
  for (int32_t v = 0; v <= end; ++v) {
    if (number[v] < 0) continue;
    number[v] = count++;
    for (const Arc& arc : out[v]) kept.push_back(&arc);
  }
  source.lattice = true;
  if (kept.empty()) {  // nothing to translate
    source.into.push_back(0);
    return source;
  }
  std::stable_sort(kept.begin(), kept.end(), [](const Arc* a, const Arc* b) { return a->to < b->to; });
  for (const Arc* arc : kept) {
    add_word(source, (*lattice.vocab)[arc->word], static_cast<size_t>(arc->word) < kinds.size() ? kinds[arc->word] : 'w');
    source.from.push_back(number[arc->from]);
    source.scores.insert(source.scores.end(), arc->scores.begin(), arc->scores.end());
    source.into.resize(static_cast<size_t>(number[arc->to]) + 1, static_cast<int32_t>(source.words.size()) - 1);
  }
  source.into.push_back(static_cast<int32_t>(source.words.size()));
  return source;
}

}  // namespace hopefear
