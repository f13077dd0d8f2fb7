#include "search/rescore.h"

#include <algorithm>
#include <limits>

#include "forest/each_sentence.h"
#include "util/text.h"

namespace hopefear {
namespace {

class Search {
 public:
  Search(const Forest& forest, const std::shared_ptr<Vocab>& feature_names, const StatefulFeatures& features,
         const std::vector<int32_t>* source, const double* w)
      : f_(forest), feature_names_(feature_names), features_(features), source_(source), w_(w) {}

  Forest run(int64_t pop_limit) {
    if (source_) check_source();
    state_begin_.push_back(0);
    for (int32_t v = 0; v < f_.nodes(); ++v) node(v, pop_limit);
    return forest();
  }

 private:
  struct Cell {
    uint32_t begin = 0, end = 0;  // of sorted_
  };
  struct Place {
    int32_t edge;
    uint32_t rank;    // where its ranks begin
    uint32_t raised;  // the last tail whose rank is not zero: an earlier one is raised no more, so that no place comes twice
    uint32_t fired, fired_end;
    uint32_t state;  // where its states begin among place_begin_
  };
  struct Waiting {
    double score;
    uint32_t place;
    bool operator<(const Waiting& other) const { return score < other.score || (score == other.score && place > other.place); }
  };
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
      if (f_.spans[2 * static_cast<size_t>(v) + 1] > static_cast<int32_t>(source_->size()))
        throw InputError("a node ends at source word " + std::to_string(f_.spans[2 * static_cast<size_t>(v) + 1]) + " of " +
                         std::to_string(source_->size()) + ". Name the source text of these forests");
  }

  void node(int32_t v, int64_t pop_limit) {
    places_.clear();
    ranks_.clear();
    place_fired_.clear();
    place_states_.clear();
    place_begin_.clear();
    queue_.clear();
    table_.assign(64, -1);
    goal_ = v == f_.goal();
    first_ = nodes();
    for (int32_t e = f_.edge_begin[v]; e < f_.edge_begin[static_cast<size_t>(v) + 1]; ++e) {
      const auto tails = f_.edge_tails(e);
      if (std::any_of(tails.begin(), tails.end(), [&](int32_t t) { return size_of(t) == 0; })) continue;
      ranks_.resize(ranks_.size() + tails.size(), 0);
      push(e, static_cast<uint32_t>(ranks_.size() - tails.size()), 0, v);
    }
    int64_t left = pop_limit > 0 ? pop_limit : std::numeric_limits<int64_t>::max();
    while (!queue_.empty()) {
      std::pop_heap(queue_.begin(), queue_.end());
      const Waiting top = queue_.back();
      queue_.pop_back();
      const Place place = places_[top.place];
      const auto tails = f_.edge_tails(place.edge);
      if (!tails.empty() && left-- <= 0) continue;
      accept(place, top.score);
      for (size_t t = place.raised; t < tails.size() && left > 0; ++t) {
        if (ranks_[place.rank + t] + 1 >= size_of(tails[t])) continue;
        const auto rank = static_cast<uint32_t>(ranks_.size());
        ranks_.resize(ranks_.size() + tails.size());
        std::copy_n(ranks_.begin() + place.rank, tails.size(), ranks_.begin() + rank);
        ++ranks_[rank + t];
        push(place.edge, rank, static_cast<uint32_t>(t), v);
      }
    }
    Cell cell{static_cast<uint32_t>(sorted_.size()), 0};
    for (int32_t u = first_; u < nodes(); ++u) sorted_.push_back(u);
    std::stable_sort(sorted_.begin() + cell.begin, sorted_.end(), [&](int32_t a, int32_t b) { return scores_[a] > scores_[b]; });
    cell.end = static_cast<uint32_t>(sorted_.size());
    cells_.push_back(cell);
    old_node_.resize(scores_.size(), v);
  }

  int32_t nodes() const { return static_cast<int32_t>(scores_.size()); }
  uint32_t size_of(int32_t v) const { return cells_[v].end - cells_[v].begin; }
  int32_t tail_node(const Place& place, size_t t) const {
    return sorted_[cells_[f_.edge_tails(place.edge)[t]].begin + ranks_[place.rank + t]];
  }

  void push(int32_t e, uint32_t rank, uint32_t raised, int32_t v) {
    Place place{e, rank, raised, static_cast<uint32_t>(place_fired_.size()), 0, static_cast<uint32_t>(place_begin_.size())};
    const auto tails = f_.edge_tails(e);
    double score = f_.edge_score(e, w_);
    nodes_.clear();
    for (size_t t = 0; t < tails.size(); ++t) {
      nodes_.push_back(tail_node(place, t));
      score += scores_[nodes_.back()];
    }
    own_source(e, v);
    place_begin_.push_back(static_cast<uint32_t>(place_states_.size()));
    for (size_t k = 0; k < features_.size(); ++k) {
      views_.clear();
      for (const int32_t u : nodes_) views_.push_back(state(u, k));
      features_[k]->apply({f_.edge_words(e), views_, own_, goal_, part_}, place_fired_, place_states_);
      if (goal_) place_states_.resize(place_begin_.back());  // nothing follows: all are one node
      place_begin_.push_back(static_cast<uint32_t>(place_states_.size()));
    }
    place.fired_end = static_cast<uint32_t>(place_fired_.size());
    for (uint32_t k = place.fired; k < place.fired_end; ++k) score += w_[place_fired_[k].first] * place_fired_[k].second;
    queue_.push_back({score, static_cast<uint32_t>(places_.size())});
    std::push_heap(queue_.begin(), queue_.end());
    places_.push_back(place);
  }

  /// The source words below the edge and below none of its tails.
  void own_source(int32_t e, int32_t v) {
    own_.clear();
    if (!source_) return;
    const auto span = [&](int32_t u) {
      return std::pair(f_.spans[2 * static_cast<size_t>(u)], f_.spans[2 * static_cast<size_t>(u) + 1]);
    };
    const auto [begin, end] = span(v);
    for (int32_t i = std::max(begin, 0); i < end; ++i) {
      const auto below = [&](int32_t tail) { return span(tail).first <= i && i < span(tail).second; };
      const auto tails = f_.edge_tails(e);
      if (std::none_of(tails.begin(), tails.end(), below)) own_.push_back((*source_)[i]);
    }
  }

  std::span<const int32_t> state(int32_t u, size_t k) const {
    const size_t at = static_cast<size_t>(u) * features_.size() + k;
    return {states_.data() + state_begin_[at], state_begin_[at + 1] - state_begin_[at]};
  }
  std::span<const int32_t> state_of(const Place& place, size_t k) const {
    return {place_states_.data() + place_begin_[place.state + k],
            place_begin_[place.state + k + 1] - place_begin_[place.state + k]};
  }

  void accept(const Place& place, double score) {
    const int32_t u = node_of(place);
    scores_[u] = std::max(scores_[u], score);
    edges_.push_back({u, place.edge, static_cast<uint32_t>(tails_.size()), static_cast<uint32_t>(fired_.size()), 0});
    for (size_t t = 0; t < f_.edge_tails(place.edge).size(); ++t) tails_.push_back(tail_node(place, t));
    fired_.insert(fired_.end(), place_fired_.begin() + place.fired, place_fired_.begin() + place.fired_end);
    edges_.back().fired_end = static_cast<uint32_t>(fired_.size());
  }

  int32_t node_of(const Place& place) {
    size_t slot = hash([&](size_t k) { return state_of(place, k); }) & (table_.size() - 1);
    for (; table_[slot] >= 0; slot = (slot + 1) & (table_.size() - 1)) {
      bool same = true;
      for (size_t k = 0; k < features_.size() && same; ++k) {
        const auto a = state(table_[slot], k), b = state_of(place, k);
        same = std::equal(a.begin(), a.end(), b.begin(), b.end());
      }
      if (same) return table_[slot];
    }
    const int32_t u = nodes();
    table_[slot] = u;
    scores_.push_back(-std::numeric_limits<double>::infinity());
    for (size_t k = 0; k < features_.size(); ++k) {
      const auto own = state_of(place, k);
      states_.insert(states_.end(), own.begin(), own.end());
      state_begin_.push_back(states_.size());
    }
    if (static_cast<size_t>(u - first_ + 1) * 2 > table_.size()) {
      table_.assign(table_.size() * 2, -1);
      for (int32_t other = first_; other <= u; ++other) {
        size_t s = hash([&](size_t k) { return state(other, k); }) & (table_.size() - 1);
        while (table_[s] >= 0) s = (s + 1) & (table_.size() - 1);
        table_[s] = other;
      }
    }
    return u;
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

  /// What the goal can reach.
  Forest forest() const {
    const size_t count = scores_.size();
    ForestBuilder builder(f_.vocab, feature_names_, f_.dense_width, f_.number_width);
    if (size_of(f_.goal()) == 0) {  // no derivation at all
      builder.copy_node(f_, f_.goal());
      return builder.finish();
    }
    std::vector<size_t> begin(count + 1, 0);  // edges come node by node of the old forest, not of the new one
    for (const Edge& edge : edges_) ++begin[static_cast<size_t>(edge.head) + 1];
    for (size_t u = 0; u < count; ++u) begin[u + 1] += begin[u];
    std::vector<size_t> by_head(edges_.size()), next(begin.begin(), begin.end() - 1);
    for (size_t e = 0; e < edges_.size(); ++e) by_head[next[edges_[e].head]++] = e;
    std::vector<int32_t> place(count, -1);
    place[count - 1] = 0;
    for (size_t u = count; u-- > 0;)
      if (place[u] >= 0)
        for (size_t k = begin[u]; k < begin[u + 1]; ++k)
          for (const int32_t tail : tails_of(edges_[by_head[k]])) place[tail] = 0;

    std::vector<int32_t> tails, ids;
    std::vector<double> values;
    StatefulFeature::Fired fired;
    for (size_t u = 0; u < count; ++u) {
      if (place[u] < 0) continue;
      place[u] = builder.copy_node(f_, old_node_[u]);
      for (size_t k = begin[u]; k < begin[u + 1]; ++k) {
        const Edge& edge = edges_[by_head[k]];
        tails.clear();
        for (const int32_t tail : tails_of(edge)) tails.push_back(place[tail]);
        const auto old = static_cast<size_t>(edge.old);
        ids.clear();
        values.clear();
        if (!f_.sparse_begin.empty())
          for (auto s = static_cast<size_t>(f_.sparse_begin[old]); s < static_cast<size_t>(f_.sparse_begin[old + 1]); ++s) {
            ids.push_back(f_.sparse_ids[s]);
            values.push_back(f_.sparse_values[s]);
          }
        fired.assign(fired_.begin() + edge.fired, fired_.begin() + edge.fired_end);
        std::sort(fired.begin(), fired.end());
        for (const auto& [id, value] : fired) {
          if (!ids.empty() && ids.back() == id) {
            values.back() += value;
          } else {
            ids.push_back(id);
            values.push_back(value);
          }
        }
        builder.add_edge(tails, f_.edge_words(edge.old), f_.dense.data() + old * static_cast<size_t>(f_.dense_width), ids, values,
                         f_.numbers.data() + old * static_cast<size_t>(f_.number_width));
      }
    }
    return builder.finish();
  }
  std::span<const int32_t> tails_of(const Edge& edge) const {
    return {tails_.data() + edge.tail, f_.edge_tails(edge.old).size()};
  }

  const Forest& f_;
  const std::shared_ptr<Vocab>& feature_names_;
  const StatefulFeatures& features_;
  const std::vector<int32_t>* source_;
  const double* w_;

  // of the new forest
  std::vector<Cell> cells_;      // of each old node
  std::vector<int32_t> sorted_;  // its new ones, best first
  std::vector<double> scores_;   // of each new node
  std::vector<int32_t> old_node_;
  std::vector<size_t> state_begin_;  // features_.size() of each new node
  std::vector<int32_t> states_;
  std::vector<Edge> edges_;
  std::vector<int32_t> tails_;
  StatefulFeature::Fired fired_;

  // of one node
  bool goal_ = false;
  int32_t first_ = 0;
  std::vector<Place> places_;
  std::vector<uint32_t> ranks_;
  StatefulFeature::Fired place_fired_;
  std::vector<int32_t> place_states_;
  std::vector<uint32_t> place_begin_;  // features_.size() + 1 of each place
  std::vector<Waiting> queue_;
  std::vector<int32_t> table_;

  // of one place
  std::vector<int32_t> nodes_, own_, part_;
  std::vector<std::span<const int32_t>> views_;
};

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
