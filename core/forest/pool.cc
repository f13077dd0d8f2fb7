#include "forest/pool.h"

#include <algorithm>
#include <compare>
#include <numeric>
#include <unordered_map>

#include "forest/candidate_lists.h"
#include "forest/stored_forest.h"
#include "util/words.h"

namespace hopefear {

bool Pool::is_lists() const {
  return std::all_of(sentences.begin(), sentences.end(), [](const Sentence& s) { return s.forest.is_list(); });
}

void drop_missing(std::vector<std::vector<int32_t>>& references) {
  const bool any = !references.empty();
  std::erase_if(references, [](const auto& reference) { return reference.empty(); });
  if (any && references.empty()) references.emplace_back();
}

std::vector<int64_t> Pool::row_begin() const {
  if (!is_lists()) throw InputError("rows exist for candidate lists only: take k-best lists of the forests first");
  return edge_begin();
}

std::vector<int64_t> Pool::edge_begin() const {
  std::vector<int64_t> begin{0};
  for (const Sentence& s : sentences) begin.push_back(begin.back() + s.forest.edges());
  return begin;
}

void Pool::append(std::string id, const Forest& forest, std::string source, const std::vector<std::string>& references) {
  if (forest.vocab != vocab || forest.features != features)
    throw InputError("a forest joins a pool only over the pool's own vocab and features");
  if (sentences.empty()) dense_width = forest.dense_width;
  if (forest.dense_width != dense_width) throw InputError("all forests of a pool have the same dense features");
  Sentence s{std::move(id), std::move(source), forest, {}};
  for (const auto& text : references) s.references.push_back(add_words(text, *vocab));
  drop_missing(s.references);
  sentences.push_back(std::move(s));
}

void Pool::set_references(const std::vector<std::vector<std::string>>& lines) {
  for (size_t i = 0; i < size(); ++i) {
    auto& references = sentences[i].references;
    references.clear();
    for (const auto& file : lines) {
      if (file.size() != size()) throw InputError("there must be one reference line for each sentence");
      if (auto words = add_words(file[i], *vocab); !words.empty()) references.push_back(std::move(words));
    }
  }
}

void Pool::set_sources(const std::vector<std::string>& lines) {
  if (lines.size() != size()) throw InputError("there must be one source line for each sentence");
  for (size_t i = 0; i < size(); ++i) sentences[i].source = lines[i];
}

Pool retokenized(const Pool& pool, std::span<const int64_t> map_begin, std::span<const int32_t> map,
                 std::shared_ptr<Vocab> vocab) {
  struct Words {
    std::vector<int32_t> begin{0}, words;
    std::shared_ptr<const void> rest;  // the arrays that did not change
  };
  auto append = [&](std::span<const int32_t> from, std::vector<int32_t>& to) {
    for (int32_t word : from) {
      if (word < 0)
        to.push_back(word);
      else
        to.insert(to.end(), map.begin() + map_begin[word], map.begin() + map_begin[word + 1]);
    }
  };
  Pool out = pool;
  out.vocab = vocab;
  for (Sentence& s : out.sentences) {
    auto words = std::make_shared<Words>();
    words->begin.reserve(s.forest.word_begin.size());
    words->words.reserve(s.forest.words.size());
    for (int32_t e = 0; e < s.forest.edges(); ++e) {
      append(s.forest.edge_words(e), words->words);
      words->begin.push_back(static_cast<int32_t>(words->words.size()));
    }
    words->rest = s.forest.owner;
    s.forest.word_begin = words->begin;
    s.forest.words = words->words;
    s.forest.vocab = vocab;
    s.forest.owner = words;
    s.forest = stored(std::move(s.forest));
    for (auto& reference : s.references) {
      std::vector<int32_t> mapped;
      append(reference, mapped);
      reference = std::move(mapped);
    }
  }
  return out;
}

Pool subset(const Pool& pool, std::span<const int64_t> indices) {
  Pool out;
  out.vocab = pool.vocab;
  out.features = pool.features;
  out.dense_width = pool.dense_width;
  out.number_names = pool.number_names;
  for (int64_t i : indices) {
    if (i < 0 || i >= static_cast<int64_t>(pool.size()))
      throw InputError("sentence index " + std::to_string(i) + " is out of range");
    out.sentences.push_back(pool.sentences[i]);
  }
  return out;
}

namespace {

/// One candidate on its way into the merged pool: everything in the merged pool's ids.
struct Candidate {
  std::vector<int32_t> words;
  std::vector<double> dense;
  std::vector<std::pair<int32_t, double>> sparse;
  std::vector<double> numbers;
};

bool by_text(const Candidate& a, const Candidate& b, const Vocab& vocab) {
  const size_t n = std::min(a.words.size(), b.words.size());
  for (size_t i = 0; i < n; ++i)
    if (a.words[i] != b.words[i]) return vocab[a.words[i]] < vocab[b.words[i]];
  if (a.words.size() != b.words.size()) return a.words.size() < b.words.size();
  if (a.dense != b.dense) return a.dense < b.dense;
  if (a.sparse != b.sparse) return a.sparse < b.sparse;
  // Of candidates that differ in their numbers only, the first stays, so numbers are part of the order. NaN is a missing number.
  return std::lexicographical_compare(a.numbers.begin(), a.numbers.end(), b.numbers.begin(), b.numbers.end(),
                                      [](double x, double y) { return std::strong_order(x, y) < 0; });
}

bool same(const Candidate& a, const Candidate& b) { return a.words == b.words && a.dense == b.dense && a.sparse == b.sparse; }

/// Ids of the merged features: dense ones first, each group by name. Pools that share their features share a map.
struct MergedFeatures {
  std::shared_ptr<Vocab> features = std::make_shared<Vocab>();
  int32_t dense_width = 0;
  std::vector<std::vector<int32_t>> maps;
  std::vector<size_t> of;  // the map of each pool

  explicit MergedFeatures(const std::vector<const Pool*>& pools) {
    std::vector<const Pool*> different;
    for (const Pool* pool : pools) {
      const auto found = std::find_if(different.begin(), different.end(), [&](const Pool* other) {
        return other->features == pool->features && other->dense_width == pool->dense_width;
      });
      of.push_back(found - different.begin());
      if (found == different.end()) different.push_back(pool);
    }
    std::vector<std::string> dense, sparse;
    for (const Pool* pool : different)
      for (int32_t id = 0; id < pool->features->size(); ++id)
        (id < pool->dense_width ? dense : sparse).push_back((*pool->features)[id]);
    for (auto* names : {&dense, &sparse}) {
      std::sort(names->begin(), names->end());
      names->erase(std::unique(names->begin(), names->end()), names->end());
    }
    for (const auto& name : dense) features->add(name);
    dense_width = features->size();
    for (const auto& name : sparse) features->add(name);  // one that is dense elsewhere keeps its dense id
    for (const Pool* pool : different) {
      auto& map = maps.emplace_back();
      for (int32_t id = 0; id < pool->features->size(); ++id) map.push_back(features->find((*pool->features)[id]));
    }
  }
};

/// Sentence by sentence; words of all pools get the ids of the merged pool when they are first seen.
class Merging {
 public:
  Merging(const std::vector<const Pool*>& pools, bool in_order) : pools_(pools), in_order_(in_order), ids_(pools) {
    out_.features = ids_.features;
    out_.dense_width = ids_.dense_width;
    if (!pools.empty()) out_.number_names = pools[0]->number_names;
    for (const Pool* pool : pools) word_maps_.emplace_back(pool->vocab->size(), -1);
  }

  Pool run() {
    for (const auto& group : groups()) {
      Sentence sentence{group[0].second->id, "", {}, {}, group[0].second->id_kind};
      std::vector<Candidate> candidates;
      for (const auto& [p, s] : group) {
        if (sentence.source.empty()) sentence.source = s->source;
        if (sentence.references.empty())
          for (const auto& reference : s->references) sentence.references.push_back(words(p, reference));
        for (int32_t e = 0; e < s->forest.edges(); ++e) candidates.push_back(candidate(p, s->forest, e));
      }
      sentence.forest = list(candidates);
      out_.sentences.push_back(std::move(sentence));
    }
    return std::move(out_);
  }
  /// For each row, the first equal candidate of its sentence.
  std::vector<int32_t> places() && { return std::move(places_); }

 private:
  using Group = std::vector<std::pair<size_t, const Sentence*>>;  // (pool, sentence)

  /// The sentences of each id, in the order in which ids first appear.
  std::vector<Group> groups() const {
    std::unordered_map<std::string, size_t> index;
    std::vector<Group> groups;
    for (size_t p = 0; p < pools_.size(); ++p) {
      if (pools_[p]->number_names != out_.number_names)
        throw InputError("the lists carry different metric columns: give every candidate the same ones");
      for (const Sentence& s : pools_[p]->sentences) {
        if (!s.forest.is_list()) throw InputError("only candidate lists can be merged: take k-best lists of the forests first");
        const auto [it, added] = index.emplace(s.id, groups.size());
        if (added) groups.emplace_back();
        groups[it->second].emplace_back(p, &s);
      }
    }
    return groups;
  }

  std::vector<int32_t> words(size_t p, std::span<const int32_t> ids) {
    std::vector<int32_t> result;
    for (const int32_t id : ids) {
      int32_t& mapped = word_maps_[p][id];
      if (mapped < 0) mapped = out_.vocab->add((*pools_[p]->vocab)[id]);
      result.push_back(mapped);
    }
    return result;
  }

  Candidate candidate(size_t p, const Forest& f, int32_t e) {
    Candidate c;
    c.words = words(p, f.edge_words(e));
    c.dense.assign(out_.dense_width, 0.0);
    const auto& feature_map = ids_.maps[ids_.of[p]];
    const auto put = [&](int32_t id, double value) {
      const int32_t mapped = feature_map[id];
      if (mapped < out_.dense_width)
        c.dense[mapped] += value;
      else if (value != 0)
        c.sparse.emplace_back(mapped, value);
    };
    for (int32_t j = 0; j < f.dense_width; ++j) put(j, f.dense_row(e)[j]);
    if (!f.sparse_begin.empty())
      for (int32_t k = f.sparse_begin[e]; k < f.sparse_begin[e + 1]; ++k) put(f.sparse_ids[k], f.sparse_values[k]);
    std::sort(c.sparse.begin(), c.sparse.end());
    c.numbers.assign(f.number_row(e), f.number_row(e) + f.number_width);
    return c;
  }

  /// In canonical order or in order of first appearance, without duplicates.
  Forest list(const std::vector<Candidate>& candidates) {
    std::vector<size_t> order(candidates.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return by_text(candidates[a], candidates[b], *out_.vocab); });
    std::vector<std::pair<size_t, size_t>> kept;  // its first appearance, and the candidate that represents its duplicates
    for (size_t i : order) {
      if (!kept.empty() && same(candidates[kept.back().second], candidates[i]))
        kept.back().first = std::min(kept.back().first, i);
      else
        kept.emplace_back(i, i);
    }
    if (in_order_) std::sort(kept.begin(), kept.end());
    ForestBuilder builder(out_.vocab, out_.features, out_.dense_width, static_cast<int32_t>(out_.number_names.size()));
    builder.add_node();
    std::vector<int32_t> ids;
    std::vector<double> values;
    for (const auto& [first, i] : kept) {
      places_.push_back(static_cast<int32_t>(first));
      const Candidate& c = candidates[i];
      ids.clear();
      values.clear();
      for (const auto& [id, value] : c.sparse) {
        ids.push_back(id);
        values.push_back(value);
      }
      builder.add_edge({}, c.words, c.dense.data(), ids, values, c.numbers.data());
    }
    return builder.finish();
  }

  const std::vector<const Pool*>& pools_;
  const bool in_order_;
  const MergedFeatures ids_;
  Pool out_;
  std::vector<int32_t> places_;
  std::vector<std::vector<int32_t>> word_maps_;  // of each pool; -1 for a word that has not occurred yet
};

}  // namespace

Pool merged(const std::vector<const Pool*>& pools) { return Merging(pools, false).run(); }
Pool merged_in_order(const std::vector<const Pool*>& pools) { return Merging(pools, true).run(); }
std::pair<Pool, std::vector<int32_t>> canonical(const Pool& pool) {
  const std::vector<const Pool*> one{&pool};
  Merging merging(one, false);
  Pool out = merging.run();
  return {std::move(out), std::move(merging).places()};
}

}  // namespace hopefear
