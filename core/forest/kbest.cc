#include "forest/kbest.h"

#include <algorithm>
#include <cmath>

#include "util/parallel.h"

namespace hopefear {
namespace {

constexpr uint64_t kModulus = (uint64_t{1} << 61) - 1;
constexpr uint64_t kBase = 0x16a09e667f3bcc90ULL;  // digits of the square root of 2, below the modulus

uint64_t multiply(uint64_t a, uint64_t b) {
  const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
  const uint64_t sum = static_cast<uint64_t>(product & kModulus) + static_cast<uint64_t>(product >> 61);
  return sum >= kModulus ? sum - kModulus : sum;
}

}  // namespace

KBest::KBest(Forest forest, std::vector<double> scores, bool distinct)
    : forest_(std::move(forest)), scores_(std::move(scores)), distinct_(distinct) {
  viterbi(forest_, [&](int32_t e) { return scores_[e]; }, viterbi_);
  const int32_t goal = forest_.goal();
  if (viterbi_.back[goal] >= 0 && !std::isfinite(viterbi_.best[goal])) throw_out_of_range();
  index_.assign(forest_.nodes(), -1);
  int32_t arity = 0;
  for (int32_t e = 0; e < forest_.edges(); ++e) arity = std::max(arity, forest_.tail_begin[e + 1] - forest_.tail_begin[e]);
  ranks_.assign(arity, 0);  // the vector of zeros, which all share
  if (distinct_) {
    viterbi_yields_.resize(forest_.nodes());
    for (int32_t v = 0; v < forest_.nodes(); ++v)
      if (viterbi_.back[v] >= 0) viterbi_yields_[v] = yield_of(chosen(v, 0));
  }
}

bool KBest::before(const Item& a, const Item& b) const {
  if (a.score != b.score) return a.score > b.score;
  if (a.edge != b.edge) return a.edge < b.edge;
  const int32_t arity = forest_.tail_begin[a.edge + 1] - forest_.tail_begin[a.edge];
  return std::lexicographical_compare(ranks_.begin() + a.ranks, ranks_.begin() + a.ranks + arity, ranks_.begin() + b.ranks,
                                      ranks_.begin() + b.ranks + arity);
}

/// The item of rank `rank` at v; rank 0 is known from Viterbi.
KBest::Item KBest::chosen(int32_t v, int32_t rank) const {
  if (rank > 0) return nodes_[index_[v]].best[rank];
  return {viterbi_.best[v], viterbi_.back[v], 0};
}

double KBest::score_of(int32_t edge, int32_t ranks) const {
  double score = scores_[edge];
  for (int32_t tail : forest_.edge_tails(edge)) score += chosen(tail, ranks_[ranks++]).score;
  return score;
}

int32_t KBest::node_index(int32_t v) {
  int32_t& index = index_[v];
  if (index >= 0) return index;
  index = static_cast<int32_t>(nodes_.size());
  Node& node = nodes_.emplace_back();
  for (int32_t e = forest_.edge_begin[v]; e < forest_.edge_begin[v + 1]; ++e) {
    const double score = score_of(e, 0);
    if (score > kLogZero) node.heap.push_back({score, e, 0});
  }
  std::make_heap(node.heap.begin(), node.heap.end(), [this](const Item& a, const Item& b) { return before(b, a); });
  return index;
}

/// Pushes successors of the last derivation and pops the next one. False if the derivation of that rank at that tail
/// must be computed first.
bool KBest::step(Node& node, int32_t& tail, int32_t& rank) {
  const auto worse = [this](const Item& a, const Item& b) { return before(b, a); };
  if (node.pending) {
    const auto tails = forest_.edge_tails(node.last.edge);
    for (; node.next_tail < static_cast<int32_t>(tails.size()); ++node.next_tail) {
      const int32_t u = tails[node.next_tail];
      const int32_t r = ranks_[node.last.ranks + node.next_tail] + 1;
      const Node& below = nodes_[node_index(u)];
      if (static_cast<int32_t>(below.best.size()) <= r) {
        if (below.exhausted) continue;
        tail = u;
        rank = r;
        return false;
      }
      const auto begin = static_cast<int32_t>(ranks_.size());
      for (size_t t = 0; t < tails.size(); ++t) ranks_.push_back(int32_t{ranks_[node.last.ranks + t]});
      ranks_[begin + node.next_tail] = r;
      node.heap.push_back({score_of(node.last.edge, begin), node.last.edge, begin});
      std::push_heap(node.heap.begin(), node.heap.end(), worse);
    }
    node.pending = false;
  }
  if (node.heap.empty()) {
    node.exhausted = true;
    return true;
  }
  std::pop_heap(node.heap.begin(), node.heap.end(), worse);
  node.last = node.heap.back();
  node.heap.pop_back();
  node.pending = true;
  node.next_tail = 0;
  const auto arity = static_cast<int32_t>(forest_.edge_tails(node.last.edge).size());
  for (int32_t t = 0; t < arity; ++t)
    if (ranks_[node.last.ranks + t] > 0) node.next_tail = t;
  if (!distinct_ || is_new(node, node.last)) node.best.push_back(node.last);
  return true;
}

bool KBest::demand(int32_t v, int32_t k) {
  std::vector<std::pair<int32_t, int32_t>> asked{{v, k}};
  while (!asked.empty()) {
    const auto [u, rank] = asked.back();
    Node& node = nodes_[node_index(u)];
    if (node.exhausted || static_cast<int32_t>(node.best.size()) > rank) {
      asked.pop_back();
      continue;
    }
    int32_t next_tail = 0, next_rank = 0;
    if (!step(node, next_tail, next_rank)) asked.emplace_back(next_tail, next_rank);
  }
  return static_cast<int32_t>(nodes_[node_index(v)].best.size()) > k;
}

void KBest::unroll_item(const Item& item, std::vector<int32_t>& edges) const {
  edges.clear();
  std::vector<Item> open{item};
  while (!open.empty()) {
    const Item top = open.back();
    open.pop_back();
    if (edges.size() >= kLongestDerivation || open.size() >= kLongestDerivation) throw_too_long();
    edges.push_back(top.edge);
    const auto tails = forest_.edge_tails(top.edge);
    for (size_t t = tails.size(); t-- > 0;) open.push_back(chosen(tails[t], ranks_[top.ranks + t]));
  }
}

KBest::Yield KBest::yield_of(const Item& item) const {
  Yield y{0, 1};
  const auto append = [&y](Yield x) {
    y.hash = multiply(y.hash, x.power) + x.hash;
    if (y.hash >= kModulus) y.hash -= kModulus;
    y.power = multiply(y.power, x.power);
  };
  const auto tails = forest_.edge_tails(item.edge);
  for (int32_t word : forest_.edge_words(item.edge)) {
    if (word >= 0) {
      append({static_cast<uint64_t>(word) + 1, kBase});
      continue;
    }
    const int32_t t = slot_tail(word);
    const int32_t rank = ranks_[item.ranks + t];
    const int32_t u = tails[t];
    append(rank == 0 ? viterbi_yields_[u] : nodes_[index_[u]].yields[rank]);
  }
  return y;
}

/// True if no better derivation of this node has the same words; the words are then recorded. Equal hashes are checked word by word.
bool KBest::is_new(Node& node, const Item& item) {
  const Yield y = yield_of(item);
  std::vector<int32_t> edges, words;
  const auto same = [&](Place place) {
    const Yield& other = node.yields[place.index];
    if (other.hash != y.hash || other.power != y.power) return false;
    if (words.empty()) {
      unroll_item(item, edges);
      words = yield(forest_, edges);
    }
    unroll_item(node.best[place.index], edges);
    return words == yield(forest_, edges);
  };
  const auto [place, added] =
      node.seen.insert(hash_key(y.hash), same, [&](Place p) { return hash_key(node.yields[p.index].hash); });
  if (!added) return false;
  place->index = static_cast<int32_t>(node.best.size());
  node.yields.push_back(y);
  return true;
}

bool KBest::next(Derivation& derivation) {
  if (!demand(forest_.goal(), given_)) return false;
  const Item& item = nodes_[node_index(forest_.goal())].best[given_];
  ++given_;
  derivation.score = item.score;
  unroll_item(item, derivation.edges);
  return true;
}

std::vector<Derivation> kbest(const Forest& forest, const double* w, int64_t k, bool distinct) {
  std::vector<double> scores(forest.edges());
  edge_scores(forest, w, scores.data());
  return kbest(forest, std::move(scores), k, distinct);
}

std::vector<Derivation> kbest(const Forest& forest, std::vector<double> scores, int64_t k, bool distinct) {
  KBest search(forest, std::move(scores), distinct);
  std::vector<Derivation> best;
  for (Derivation d; static_cast<int64_t>(best.size()) < k && search.next(d);) best.push_back(d);
  return best;
}

Forest list_of(const Forest& forest, const std::vector<Derivation>& derivations, bool keep_numbers) {
  keep_numbers = keep_numbers && forest.is_list();
  ForestBuilder builder(forest.vocab, forest.features, forest.dense_width, keep_numbers ? forest.number_width : 0);
  builder.copy_node(forest, forest.goal());
  std::vector<int32_t> words, ids;
  std::vector<double> dense, values;
  const size_t width = forest.dense_width;
  YieldScratch scratch;
  for (const Derivation& d : derivations) {
    yield(forest, d.edges, words, scratch);
    dense.assign(width, 0.0);
    for (int32_t e : d.edges)
      for (size_t j = 0; j < width; ++j) dense[j] += forest.dense[e * width + j];
    sparse_features(forest, d.edges, ids, values);
    const double* numbers = keep_numbers ? forest.number_row(d.edges[0]) : nullptr;
    builder.add_edge({}, words, dense.data(), ids, values, numbers);
  }
  return builder.finish();
}

Pool kbest(const Pool& pool, const double* w, int64_t k, bool distinct, int jobs) {
  Pool out;
  out.vocab = pool.vocab;
  out.features = pool.features;
  out.dense_width = pool.dense_width;
  const bool keep_numbers = pool.is_lists();
  if (keep_numbers) out.number_names = pool.number_names;
  out.sentences.resize(pool.size());
  parallel_for(pool.size(), jobs, [&](size_t i, int) {
    const Sentence& s = pool.sentences[i];
    out.sentences[i] = {s.id, s.source, list_of(s.forest, kbest(s.forest, w, k, distinct), keep_numbers), s.references,
                        s.id_kind};
  });
  return out;
}

}  // namespace hopefear
