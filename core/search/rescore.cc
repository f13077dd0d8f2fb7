#include "search/rescore.h"

#include <algorithm>

#include "forest/each_sentence.h"
#include "search/by_head.h"
#include "search/cube_pruning.h"
#include "util/text.h"

namespace hopefear {
namespace {

/// The sparse features of an edge of the forest, then those that fired, sorted by id and summed up.
class SparseRow {
 public:
  void copy(const Forest& f, int32_t e) {
    ids.clear();
    values.clear();
    if (f.sparse_begin.empty()) return;
    for (int32_t k = f.sparse_begin[e]; k < f.sparse_begin[e + 1]; ++k) {
      ids.push_back(f.sparse_ids[k]);
      values.push_back(f.sparse_values[k]);
    }
  }
  template <class Iterator>
  void add(Iterator begin, Iterator end) {
    fired_.assign(begin, end);
    std::sort(fired_.begin(), fired_.end());
    for (const auto& [id, value] : fired_) {
      if (!ids.empty() && ids.back() == id) {
        values.back() += value;
      } else {
        ids.push_back(id);
        values.push_back(value);
      }
    }
  }
  std::vector<int32_t> ids;
  std::vector<double> values;

 private:
  StatefulFeature::Fired fired_;
};

/// Cube pruning over a forest: a cube is an edge, its dimensions are the tails, their choices the new nodes of the tails' old ones.
class Search {
 public:
  Search(const Forest& forest, const std::shared_ptr<Vocab>& feature_names, const StatefulFeatures& features,
         const std::vector<int32_t>* source, const double* w)
      : f_(forest), feature_names_(feature_names), features_(features), source_(source), w_(w) {}

  Forest run(int64_t pop_limit) {
    if (source_) check_source();
    state_begin_.push_back(0);
    for (int32_t v = 0; v < f_.nodes(); ++v) fill(v, pop_limit);
    return forest();
  }

  // the interface of cube pruning
  size_t dimensions(uint32_t cube) const { return f_.edge_tails(cubes_[cube]).size(); }
  uint32_t size(uint32_t cube, size_t t) const { return cells_[f_.edge_tails(cubes_[cube])[t]].size(); }
  double score(uint32_t cube, const uint32_t* ranks, uint32_t entry);
  void accept(uint32_t cube, const uint32_t* ranks, uint32_t entry, double score);

 private:
  struct Edge {
    int32_t head, old;
    uint32_t tail;
    uint32_t fired, fired_end;
  };

  void check_source() const {
    if (f_.spans.empty())
      throw InputError(
          "pair features need to know the source words below each edge, and this forest does not tell. Leave them out");
    for (int32_t v = 0; v < f_.nodes(); ++v)
      if (f_.spans[2 * v + 1] > static_cast<int32_t>(source_->size()))
        throw InputError("a node ends at source word " + std::to_string(f_.spans[2 * v + 1]) + " of " +
                         std::to_string(source_->size()) + ". Name the source text of these forests");
  }

  /// The new nodes of an old one.
  void fill(int32_t v, int64_t pop_limit) {
    cubes_.clear();
    fired_begin_.assign(1, 0);
    entry_fired_.clear();
    entry_states_.clear();
    entry_begin_.clear();
    old_ = v;
    goal_ = v == f_.goal();
    size_t most = 0;
    for (int32_t e = f_.edge_begin[v]; e < f_.edge_begin[v + 1]; ++e) {
      const auto tails = f_.edge_tails(e);
      if (std::any_of(tails.begin(), tails.end(), [&](int32_t t) { return cells_[t].size() == 0; })) continue;
      cubes_.push_back(e);
      most = std::max(most, tails.size());
    }
    const int32_t first = nodes();
    known_.start(first, 32);
    pruning_.run(*this, static_cast<uint32_t>(cubes_.size()), pop_limit, most);
    cells_.push_back(sort_nodes(first, nodes(), sorted_, [&](int32_t u) { return scores_[u]; }));
    old_node_.resize(scores_.size(), v);
  }

  int32_t nodes() const { return static_cast<int32_t>(scores_.size()); }
  int32_t tail_node(int32_t e, const uint32_t* ranks, size_t t) const {
    return sorted_[cells_[f_.edge_tails(e)[t]].begin + ranks[t]];
  }

  /// The source words below the edge and below none of its tails.
  void own_source(int32_t e) {
    own_.clear();
    if (!source_) return;
    const auto span = [&](int32_t u) { return std::pair(f_.spans[2 * u], f_.spans[2 * u + 1]); };
    const auto [begin, end] = span(old_);
    for (int32_t i = std::max(begin, 0); i < end; ++i) {
      const auto below = [&](int32_t tail) { return span(tail).first <= i && i < span(tail).second; };
      const auto tails = f_.edge_tails(e);
      if (std::none_of(tails.begin(), tails.end(), below)) own_.push_back((*source_)[i]);
    }
  }

  /// The state of feature k at a new node, and at an entry.
  std::span<const int32_t> state(int32_t u, size_t k) const {
    const size_t* begin = state_begin_.data() + u * features_.size() + k;
    return {states_.data() + begin[0], begin[1] - begin[0]};
  }
  std::span<const int32_t> entry_state(uint32_t entry, size_t k) const {
    const uint32_t* begin = entry_begin_.data() + entry * (features_.size() + 1) + k;
    return {entry_states_.data() + begin[0], begin[1] - begin[0]};
  }

  bool same(int32_t u, uint32_t entry) const {
    for (size_t k = 0; k < features_.size(); ++k) {
      const auto a = state(u, k), b = entry_state(entry, k);
      if (!std::equal(a.begin(), a.end(), b.begin(), b.end())) return false;
    }
    return true;
  }
  template <class State>
  uint64_t hash(State&& state) const {
    uint64_t h = 0;
    for (size_t k = 0; k < features_.size(); ++k) {
      const std::span<const int32_t> words = state(k);
      h += words.size();
      for (const int32_t word : words) h = (h ^ (h >> 32) ^ static_cast<uint32_t>(word)) * 0x9fb21c651e98df25ULL;
    }
    return h ^ (h >> 29);
  }

  Forest forest() const;
  std::span<const int32_t> tails_of(const Edge& edge) const {
    return {tails_.data() + edge.tail, f_.edge_tails(edge.old).size()};
  }

  const Forest& f_;
  const std::shared_ptr<Vocab>& feature_names_;
  const StatefulFeatures& features_;
  const std::vector<int32_t>* source_;
  const double* w_;

  // of the new forest
  std::vector<NodeRange> cells_;  // of each old node
  std::vector<int32_t> sorted_;   // its new ones, best first
  std::vector<double> scores_;    // of each new node
  std::vector<int32_t> old_node_;
  std::vector<size_t> state_begin_;  // features_.size() of each new node
  std::vector<int32_t> states_;
  std::vector<Edge> edges_;
  std::vector<int32_t> tails_;
  StatefulFeature::Fired fired_;

  // of one old node
  int32_t old_ = 0;
  bool goal_ = false;
  std::vector<int32_t> cubes_;         // edges
  std::vector<uint32_t> fired_begin_;  // entries + 1
  StatefulFeature::Fired entry_fired_;
  std::vector<int32_t> entry_states_;
  std::vector<uint32_t> entry_begin_;  // features_.size() + 1 of each entry
  CubePruning<> pruning_;
  Recombination known_;

  // of one entry
  std::vector<int32_t> nodes_, own_, part_;
  std::vector<std::span<const int32_t>> views_;
};

double Search::score(uint32_t cube, const uint32_t* ranks, uint32_t) {
  const int32_t e = cubes_[cube];
  double score = f_.edge_score(e, w_);
  nodes_.clear();
  for (size_t t = 0; t < f_.edge_tails(e).size(); ++t) {
    nodes_.push_back(tail_node(e, ranks, t));
    score += scores_[nodes_.back()];
  }
  own_source(e);
  entry_begin_.push_back(static_cast<uint32_t>(entry_states_.size()));
  for (size_t k = 0; k < features_.size(); ++k) {
    views_.clear();
    for (const int32_t u : nodes_) views_.push_back(state(u, k));
    features_[k]->apply({f_.edge_words(e), views_, own_, goal_, part_}, entry_fired_, entry_states_);
    if (goal_) entry_states_.resize(entry_begin_.back());  // nothing follows, so all are one node
    entry_begin_.push_back(static_cast<uint32_t>(entry_states_.size()));
  }
  for (size_t k = fired_begin_.back(); k < entry_fired_.size(); ++k) score += w_[entry_fired_[k].first] * entry_fired_[k].second;
  fired_begin_.push_back(static_cast<uint32_t>(entry_fired_.size()));
  return score;
}

void Search::accept(uint32_t cube, const uint32_t* ranks, uint32_t entry, double score) {
  const int32_t e = cubes_[cube];
  const auto [u, is_new] = known_.find_or_add(
      hash([&](size_t k) { return entry_state(entry, k); }), [&](int32_t v) { return same(v, entry); },
      [&](int32_t v) { return hash([&](size_t k) { return state(v, k); }); });
  if (is_new) {
    scores_.push_back(score);
    for (size_t k = 0; k < features_.size(); ++k) {
      const auto own = entry_state(entry, k);
      states_.insert(states_.end(), own.begin(), own.end());
      state_begin_.push_back(states_.size());
    }
  }
  scores_[u] = std::max(scores_[u], score);
  const auto tail = static_cast<uint32_t>(tails_.size()), fired = static_cast<uint32_t>(fired_.size());
  for (size_t t = 0; t < f_.edge_tails(e).size(); ++t) tails_.push_back(tail_node(e, ranks, t));
  fired_.insert(fired_.end(), entry_fired_.begin() + fired_begin_[entry], entry_fired_.begin() + fired_begin_[entry + 1]);
  edges_.push_back({u, e, tail, fired, static_cast<uint32_t>(fired_.size())});
}

/// The forest of the nodes below the goal.
Forest Search::forest() const {
  const size_t count = scores_.size();
  ForestBuilder builder(f_.vocab, feature_names_, f_.dense_width, f_.number_width);
  if (cells_[f_.goal()].size() == 0) {  // no derivation
    builder.copy_node(f_, f_.goal());
    return builder.finish();
  }
  const auto [begin, order] = by_head(count, edges_);  // edges come node by node of the old forest, not of the new one
  std::vector<int32_t> new_node(count, -1);
  new_node[count - 1] = 0;
  for (size_t u = count; u-- > 0;)
    if (new_node[u] >= 0)
      for (size_t k = begin[u]; k < begin[u + 1]; ++k)
        for (const int32_t tail : tails_of(edges_[order[k]])) new_node[tail] = 0;

  std::vector<int32_t> tails;
  SparseRow sparse;
  for (size_t u = 0; u < count; ++u) {
    if (new_node[u] < 0) continue;
    new_node[u] = builder.copy_node(f_, old_node_[u]);
    for (size_t k = begin[u]; k < begin[u + 1]; ++k) {
      const Edge& edge = edges_[order[k]];
      tails.clear();
      for (const int32_t tail : tails_of(edge)) tails.push_back(new_node[tail]);
      sparse.copy(f_, edge.old);
      sparse.add(fired_.begin() + edge.fired, fired_.begin() + edge.fired_end);
      const size_t old = edge.old;
      builder.add_edge(tails, f_.edge_words(edge.old), f_.dense.data() + old * f_.dense_width, sparse.ids, sparse.values,
                       f_.numbers.data() + old * f_.number_width);
    }
  }
  return builder.finish();
}

}  // namespace

StatefulFeatures stateful_features(const std::shared_ptr<const FeatureTemplates>& templates) {
  StatefulFeatures features;
  if (templates->has_ngrams()) features.push_back(std::make_shared<NgramFeature>(templates));
  if (templates->has_triggers()) features.push_back(std::make_shared<TriggerFeature>(templates));
  return features;
}

Forest rescored(const Forest& forest, const std::shared_ptr<Vocab>& feature_names, const StatefulFeatures& features,
                const std::vector<int32_t>* source, const double* w, int64_t pop_limit) {
  return Search(forest, feature_names, features, source, w).run(pop_limit);
}

Rescorer::Rescorer(const Pool& pool, const std::vector<std::string>& names,
                   const std::vector<std::pair<std::string, std::shared_ptr<const LanguageModel>>>& lms) {
  feature_names_ = std::make_shared<Vocab>();
  for (int32_t id = 0; id < pool.features->size(); ++id) feature_names_->add((*pool.features)[id]);
  const int32_t first = feature_names_->size();
  const auto add = [&](const std::string& name) {
    const int32_t before = feature_names_->size();
    if (feature_names_->add(name) < before)
      throw InputError("feature \"" + name + "\" is there already. Rescore with new features only");
  };
  for (const auto& name : names) {
    const std::string kind = name.substr(0, name.find('('));
    if (kind != "unigram" && kind != "bigram" && kind != "trigram" && kind != "trigger" && kind != "pair")
      throw InputError("feature \"" + name +
                       "\" cannot be added to a forest: only unigram, bigram, trigram, trigger and pair can");
    needs_source_ = needs_source_ || kind == "pair";
    add(name);
  }
  if (needs_source_)
    for (const Sentence& s : pool.sentences) for_each_word(s.source, [&](std::string_view word) { source_vocab_->add(word); });
  const auto templates =
      std::make_shared<const FeatureTemplates>(names, first, *source_vocab_, *pool.vocab, std::vector<std::string>{}, "features");
  features_ = stateful_features(templates);
  if (std::any_of(names.begin(), names.end(),
                  [](const auto& name) { return name.starts_with("unigram(") || name.starts_with("pair("); }))
    features_.push_back(std::make_shared<EdgeFeature>(templates));
  for (const auto& [name, model] : lms) {
    add(name);
    features_.push_back(std::make_shared<LmFeature>(model, *pool.vocab, feature_names_->find(name)));
  }
}

Pool Rescorer::run(const Pool& pool, const double* w, int64_t pop_limit, int jobs) const {
  Pool out = pool;
  out.features = feature_names_;
  each_sentence(pool, jobs, [&](size_t i, const Sentence& s) {
    std::vector<int32_t> source;
    if (needs_source_) for_each_word(s.source, [&](std::string_view word) { source.push_back(source_vocab_->find(word)); });
    out.sentences[i].forest = rescored(s.forest, feature_names_, features_, needs_source_ ? &source : nullptr, w, pop_limit);
  });
  return out;
}

}  // namespace hopefear
