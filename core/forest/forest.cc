#include "forest/forest.h"

#include <cmath>

#include "forest/stored_forest.h"

namespace hopefear {

void edge_scores(const Forest& forest, const double* w, double* scores) {
  const int32_t edges = forest.edges();
  for (int32_t e = 0; e < edges; ++e) scores[e] = forest.edge_score(e, w);
}

void add_features(const Forest& forest, int32_t e, double factor, double* h) {
  const double* row = forest.dense_row(e);
  for (int32_t j = 0; j < forest.dense_width; ++j) h[j] += factor * row[j];
  if (!forest.sparse_begin.empty())
    for (int32_t k = forest.sparse_begin[e]; k < forest.sparse_begin[e + 1]; ++k)
      h[forest.sparse_ids[k]] += factor * forest.sparse_values[k];
}

namespace {

void check_offsets(std::span<const int32_t> begin, size_t count, size_t total, const std::string& where, const char* name) {
  if (begin.size() != count + 1 || begin[0] != 0 || static_cast<size_t>(begin[count]) != total)
    throw InputError(where + ": the array " + name + " does not fit the forest. Was the file cut off or changed?");
  for (size_t i = 0; i < count; ++i)
    if (begin[i] > begin[i + 1]) throw InputError(where + ": the array " + name + " runs backwards. Was the file changed?");
}

void check_finite(std::span<const double> values, const std::string& where, const char* name) {
  for (double x : values)
    if (!std::isfinite(x)) throw InputError(where + ": " + name + " holds NaN or infinity. Replace it by a finite number");
}

}  // namespace

void validate(const Forest& f, const std::string& where) {
  if (f.edge_begin.size() < 2) throw InputError(where + ": a forest needs at least one node");
  if (f.word_begin.empty()) throw InputError(where + ": the array word_begin is missing");
  const size_t nodes = f.edge_begin.size() - 1, edges = f.word_begin.size() - 1;
  check_offsets(f.edge_begin, nodes, edges, where, "edge_begin");
  check_offsets(f.tail_begin, edges, f.tails.size(), where, "tail_begin");
  check_offsets(f.word_begin, edges, f.words.size(), where, "word_begin");
  if (!f.spans.empty() && f.spans.size() != 2 * nodes) throw InputError(where + ": there must be one span for each node");
  for (size_t v = 0; 2 * v < f.spans.size(); ++v)
    if (f.spans[2 * v] > f.spans[2 * v + 1] || f.spans[2 * v] < -1 || (f.spans[2 * v] < 0 && f.spans[2 * v + 1] >= 0))
      throw InputError(where + ": node " + std::to_string(v) + " has a span that ends before it begins, or begins before 0");
  if (f.dense_width < 0 || f.dense.size() != edges * f.dense_width)
    throw InputError(where + ": dense features do not fit the number of edges");
  if (f.number_width < 0 || f.numbers.size() != edges * f.number_width)
    throw InputError(where + ": candidate numbers do not fit the number of edges");
  if (f.sparse_ids.size() != f.sparse_values.size()) throw InputError(where + ": sparse ids and values differ in number");
  if (f.sparse_begin.empty()) {
    if (!f.sparse_ids.empty()) throw InputError(where + ": sparse features without offsets");
  } else {
    check_offsets(f.sparse_begin, edges, f.sparse_ids.size(), where, "sparse_begin");
  }
  const int32_t feature_count = f.features ? f.features->size() : 0;
  for (int32_t id : f.sparse_ids)
    if (id < f.dense_width || id >= feature_count)
      throw InputError(where + ": sparse feature id " + std::to_string(id) + " is out of range");
  if (f.dense_width > feature_count) throw InputError(where + ": more dense features than feature names");
  const int32_t word_count = f.vocab ? f.vocab->size() : 0;
  std::vector<uint8_t> seen;
  for (size_t v = 0; v < nodes; ++v)
    for (int32_t e = f.edge_begin[v]; e < f.edge_begin[v + 1]; ++e) {
      const auto tails = f.edge_tails(e);
      for (int32_t tail : tails)
        if (tail < 0 || static_cast<size_t>(tail) >= v)
          throw InputError(where + ": edge " + std::to_string(e) + " of node " + std::to_string(v) + " uses node " +
                           std::to_string(tail) +
                           ", which does not come before it: the forest is cyclic or not in topological order");
      seen.assign(tails.size(), 0);
      for (int32_t word : f.edge_words(e)) {
        if (word >= word_count) throw InputError(where + ": edge " + std::to_string(e) + " has a word id out of range");
        if (word >= 0) continue;
        const size_t t = slot_tail(word);
        if (t >= tails.size() || seen[t]++)
          throw InputError(where + ": edge " + std::to_string(e) + " must name each of its tails once among its words");
      }
      for (uint8_t s : seen)
        if (!s) throw InputError(where + ": edge " + std::to_string(e) + " must name each of its tails once among its words");
    }
  check_finite(f.dense, where, "a dense feature");
  check_finite(f.sparse_values, where, "a sparse feature");
}

struct ForestBuilder::Arrays {
  std::vector<int32_t> edge_begin{0}, tail_begin{0}, tails, word_begin{0}, words, spans, sparse_begin{0}, sparse_ids;
  std::vector<double> dense, sparse_values, numbers;
  std::shared_ptr<Vocab> vocab, features;
  int32_t dense_width = 0, number_width = 0;
  bool has_spans = false;
};

ForestBuilder::ForestBuilder(std::shared_ptr<Vocab> vocab, std::shared_ptr<Vocab> features, int32_t dense_width,
                             int32_t number_width)
    : a_(std::make_shared<Arrays>()) {
  a_->vocab = std::move(vocab);
  a_->features = std::move(features);
  a_->dense_width = dense_width;
  a_->number_width = number_width;
}

void ForestBuilder::reserve(size_t nodes, size_t edges, size_t tails, size_t words, size_t sparse) {
  Arrays& a = *a_;
  a.edge_begin.reserve(nodes + 1);
  a.spans.reserve(2 * nodes);
  for (auto* v : {&a.tail_begin, &a.word_begin, &a.sparse_begin}) v->reserve(edges + 1);
  a.tails.reserve(tails);
  a.words.reserve(words);
  a.sparse_ids.reserve(sparse);
  a.sparse_values.reserve(sparse);
  a.dense.reserve(edges * a.dense_width);
  a.numbers.reserve(edges * a.number_width);
}

int32_t ForestBuilder::add_node(int32_t span_begin, int32_t span_end) {
  a_->edge_begin.push_back(a_->edge_begin.back());
  a_->spans.push_back(span_begin);
  a_->spans.push_back(span_end);
  if (span_begin >= 0) a_->has_spans = true;
  return static_cast<int32_t>(a_->edge_begin.size()) - 2;
}

int32_t ForestBuilder::add_edge(std::span<const int32_t> tails, std::span<const int32_t> words, const double* dense,
                                std::span<const int32_t> sparse_ids, std::span<const double> sparse_values,
                                const double* numbers) {
  Arrays& a = *a_;
  a.tails.insert(a.tails.end(), tails.begin(), tails.end());
  a.tail_begin.push_back(static_cast<int32_t>(a.tails.size()));
  a.words.insert(a.words.end(), words.begin(), words.end());
  a.word_begin.push_back(static_cast<int32_t>(a.words.size()));
  if (dense)
    a.dense.insert(a.dense.end(), dense, dense + a.dense_width);
  else
    a.dense.resize(a.dense.size() + a.dense_width);
  if (numbers)
    a.numbers.insert(a.numbers.end(), numbers, numbers + a.number_width);
  else
    a.numbers.resize(a.numbers.size() + a.number_width);
  a.sparse_ids.insert(a.sparse_ids.end(), sparse_ids.begin(), sparse_ids.end());
  a.sparse_values.insert(a.sparse_values.end(), sparse_values.begin(), sparse_values.end());
  a.sparse_begin.push_back(static_cast<int32_t>(a.sparse_ids.size()));
  return a.edge_begin.back()++;
}

int32_t ForestBuilder::copy_node(const Forest& from, int32_t v) {
  return from.spans.empty() ? add_node() : add_node(from.spans[2 * v], from.spans[2 * v + 1]);
}

int32_t ForestBuilder::copy_edge(const Forest& from, int32_t e, std::span<const int32_t> tails) {
  const size_t begin = from.sparse_begin.empty() ? 0 : from.sparse_begin[e],
               end = from.sparse_begin.empty() ? 0 : from.sparse_begin[e + 1];
  return add_edge(tails, from.edge_words(e), from.dense_row(e), from.sparse_ids.subspan(begin, end - begin),
                  from.sparse_values.subspan(begin, end - begin), from.number_row(e));
}

Forest ForestBuilder::finish() {
  Arrays& a = *a_;
  for (auto* v : {&a.edge_begin, &a.tail_begin, &a.tails, &a.word_begin, &a.words, &a.spans, &a.sparse_begin, &a.sparse_ids})
    v->shrink_to_fit();
  for (auto* v : {&a.dense, &a.sparse_values, &a.numbers}) v->shrink_to_fit();
  Forest f;
  f.edge_begin = a.edge_begin;
  f.tail_begin = a.tail_begin;
  f.tails = a.tails;
  f.word_begin = a.word_begin;
  f.words = a.words;
  if (a.has_spans) f.spans = a.spans;
  f.dense = a.dense;
  if (!a.sparse_ids.empty()) {
    f.sparse_begin = a.sparse_begin;
    f.sparse_ids = a.sparse_ids;
    f.sparse_values = a.sparse_values;
  }
  f.numbers = a.numbers;
  f.dense_width = a.dense_width;
  f.number_width = a.number_width;
  f.vocab = a.vocab;
  f.features = a.features;
  f.owner = std::move(a_);
  return stored(std::move(f));
}

}  // namespace hopefear
