#include "formats/pool_builder.h"

#include <algorithm>
#include <limits>

#include "util/text.h"

namespace hopefear {
namespace {

constexpr size_t kPrefixSentences = 64;
constexpr size_t kPrefixValues = size_t{1} << 21;
constexpr int32_t kStreamVocab = 1 << 20;
constexpr size_t kMostDense = 4096;  // bounds what a freak first sentence can do to the memory of all others

/// The exact arrays of one sentence, in two blocks.
struct Blocks {
  std::unique_ptr<double[]> doubles;
  std::unique_ptr<int32_t[]> ints;
};

}  // namespace

PoolBuilder::PoolBuilder(bool stream, double dense_share)
    : vocab_(std::make_shared<Vocab>()), features_(std::make_shared<Vocab>()), stream_(stream), dense_share_(dense_share) {
  staged_.vocab = vocab_;
}

void PoolBuilder::Staged::clear() {
  edge_begin.clear();
  tail_begin.clear();
  tails.clear();
  spans.clear();
  word_begin.resize(1);
  words.clear();
  feature_begin.resize(1);
  feature_ids.clear();
  feature_values.clear();
  numbers.clear();
  texts.clear();
  text_begin.resize(1);
}

void PoolBuilder::add_node(int32_t span_begin, int32_t span_end) {
  if (staged_.edge_begin.empty()) {
    staged_.edge_begin.push_back(0);
    staged_.tail_begin.push_back(0);
  }
  staged_.edge_begin.push_back(staged_.edge_begin.back());
  staged_.spans.push_back(span_begin);
  staged_.spans.push_back(span_end);
}

void PoolBuilder::add_text(std::string_view text) {
  for_each_word(text, [&](std::string_view word) { staged_.words.push_back(vocab_->add(word)); });
  if (!stream_) return;
  staged_.texts += text;
  staged_.text_begin.push_back(staged_.texts.size());
}

void PoolBuilder::end_candidate() {
  constexpr size_t limit = std::numeric_limits<int32_t>::max() - 1;
  if (staged_.words.size() > limit || staged_.feature_ids.size() > limit || staged_.tails.size() > limit)
    throw InputError("one sentence has more than 2147483646 words, tails or feature values. Prune it");
  if (!staged_.edge_begin.empty()) {
    staged_.tail_begin.push_back(static_cast<int32_t>(staged_.tails.size()));
    ++staged_.edge_begin.back();
  }
  staged_.word_begin.push_back(static_cast<int32_t>(staged_.words.size()));
  staged_.feature_begin.push_back(staged_.feature_ids.size());
  ++candidate_;
}

void PoolBuilder::end_sentence(std::string id, std::string source, std::vector<std::string> references) {
  if (decided_) {
    ready_.push_back(build(staged_, std::move(id), std::move(source), std::move(references)));
    staged_.clear();
  } else {
    prefix_values_ += staged_.feature_ids.size() + staged_.words.size();
    prefix_.push_back({std::exchange(staged_, {}), std::move(id), std::move(source), std::move(references)});
    if (prefix_.size() >= kPrefixSentences || prefix_values_ >= kPrefixValues) decide();
  }
  if (stream_ && vocab_->size() > kStreamVocab) vocab_ = std::make_shared<Vocab>();
  staged_.vocab = vocab_;
}

void PoolBuilder::finish() {
  if (!decided_) decide();
}

void PoolBuilder::decide() {
  decided_ = true;
  const auto count = static_cast<size_t>(features_->size());
  std::vector<size_t> occurs(count, 0);
  size_t candidates = 0;
  for (const Waiting& w : prefix_) {
    candidates += w.staged.word_begin.size() - 1;
    for (int32_t id : w.staged.feature_ids) ++occurs[id];
  }
  std::vector<std::string> names;
  renumbering_.assign(count, -1);
  auto give_next_id = [&](size_t id) {
    renumbering_[id] = static_cast<int32_t>(names.size());
    names.push_back((*features_)[static_cast<int32_t>(id)]);
  };
  for (size_t id = 0; id < count && names.size() < kMostDense; ++id)
    if (occurs[id] > 0 && static_cast<double>(occurs[id]) >= dense_share_ * static_cast<double>(candidates)) give_next_id(id);
  dense_width_ = static_cast<int32_t>(names.size());
  for (size_t id = 0; id < count; ++id)
    if (renumbering_[id] < 0) give_next_id(id);
  features_->clear();
  for (const auto& name : names) features_->add(name);
  seen_.assign(count, 0);
  for (Waiting& w : prefix_) {
    for (int32_t& id : w.staged.feature_ids) id = renumbering_[id];
    ready_.push_back(build(w.staged, std::move(w.id), std::move(w.source), std::move(w.references)));
    w.staged = {};
  }
  prefix_.clear();
  prefix_.shrink_to_fit();
}

NbestSentence PoolBuilder::build(const Staged& s, std::string id, std::string source, std::vector<std::string> references) const {
  const size_t edges = s.word_begin.size() - 1, width = static_cast<size_t>(dense_width_);
  size_t sparse = 0;
  for (int32_t feature : s.feature_ids) sparse += feature >= dense_width_;

  const bool list = s.edge_begin.empty();
  const size_t nodes = list ? 1 : s.edge_begin.size() - 1;
  const bool spans = std::any_of(s.spans.begin(), s.spans.end(), [](int32_t i) { return i >= 0; });
  const size_t dense_size = edges * width;
  auto blocks = std::make_shared<Blocks>();
  blocks->doubles.reset(new double[dense_size + sparse + s.numbers.size()]);
  blocks->ints.reset(new int32_t[nodes + 1 + 2 * (edges + 1) + s.tails.size() + s.words.size() + (spans ? 2 * nodes : 0) +
                                 (sparse ? edges + 1 + sparse : 0)]);
  double* const dense = blocks->doubles.get();
  double* const sparse_values = dense + dense_size;
  double* const numbers = sparse_values + sparse;
  int32_t* const edge_begin = blocks->ints.get();
  int32_t* const tail_begin = edge_begin + nodes + 1;
  int32_t* const word_begin = tail_begin + edges + 1;
  int32_t* const tails = word_begin + edges + 1;
  int32_t* const words = tails + s.tails.size();
  int32_t* const span = words + s.words.size();
  int32_t* const sparse_begin = span + (spans ? 2 * nodes : 0);
  int32_t* const sparse_ids = sparse_begin + edges + 1;

  if (list) {
    edge_begin[0] = 0;
    edge_begin[1] = static_cast<int32_t>(edges);
    std::fill_n(tail_begin, edges + 1, 0);
  } else {
    std::copy(s.edge_begin.begin(), s.edge_begin.end(), edge_begin);
    std::copy(s.tail_begin.begin(), s.tail_begin.end(), tail_begin);
    std::copy(s.tails.begin(), s.tails.end(), tails);
    if (spans) std::copy(s.spans.begin(), s.spans.end(), span);
  }
  std::copy(s.word_begin.begin(), s.word_begin.end(), word_begin);
  std::copy(s.words.begin(), s.words.end(), words);
  std::copy(s.numbers.begin(), s.numbers.end(), numbers);
  std::fill_n(dense, dense_size, 0.0);
  int32_t used = 0;
  std::vector<std::pair<int32_t, double>> row;
  for (size_t e = 0; e < edges; ++e) {
    row.clear();
    for (size_t k = s.feature_begin[e]; k < s.feature_begin[e + 1]; ++k) {
      const int32_t feature = s.feature_ids[k];
      if (feature < dense_width_)
        dense[e * width + static_cast<size_t>(feature)] = s.feature_values[k];
      else
        row.emplace_back(feature, s.feature_values[k]);
    }
    if (!sparse) continue;
    std::sort(row.begin(), row.end());
    sparse_begin[e] = used;
    for (const auto& [feature, value] : row) {
      sparse_ids[used] = feature;
      sparse_values[used++] = value;
    }
  }

  NbestSentence out;
  Forest& f = out.sentence.forest;
  f.edge_begin = {edge_begin, nodes + 1};
  f.tail_begin = {tail_begin, edges + 1};
  f.tails = {tails, s.tails.size()};
  if (spans) f.spans = {span, 2 * nodes};
  f.word_begin = {word_begin, edges + 1};
  f.words = {words, s.words.size()};
  f.dense = {dense, dense_size};
  f.dense_width = dense_width_;
  f.numbers = {numbers, s.numbers.size()};
  f.number_width = number_width;
  if (sparse) {
    sparse_begin[edges] = used;
    f.sparse_begin = {sparse_begin, edges + 1};
    f.sparse_ids = {sparse_ids, sparse};
    f.sparse_values = {sparse_values, sparse};
  }
  f.vocab = s.vocab;
  f.features = features_;
  f.owner = std::move(blocks);
  out.sentence.id = std::move(id);
  out.sentence.source = std::move(source);
  out.references = std::move(references);
  if (stream_) {
    out.texts = s.texts;
    out.text_begin = s.text_begin;
  }
  return out;
}

NbestSentence PoolBuilder::pop() {
  NbestSentence next = std::move(ready_.front());
  ready_.pop_front();
  return next;
}

}  // namespace hopefear
