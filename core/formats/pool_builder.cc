#include "formats/pool_builder.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <span>
#include <utility>

#include "forest/stored_forest.h"
#include "util/text.h"
#include "util/words.h"

namespace hopefear {
namespace {

constexpr size_t kPrefixSentences = 64;
constexpr size_t kPrefixValues = size_t{1} << 21;
constexpr int32_t kStreamVocab = 1 << 20;
constexpr size_t kMostDense = 4096;  // bounds the memory of all sentences if the first one is unusual

/// Allocates arrays from one block of memory of exactly the size needed.
template <class T>
class Cutter {
 public:
  explicit Cutter(size_t size) : block_(new T[size]), next_(block_.get()) {}
  std::span<T> take(size_t size) { return {std::exchange(next_, next_ + size), size}; }
  std::span<T> copy(const std::vector<T>& values) {
    const std::span<T> place = take(values.size());
    std::copy(values.begin(), values.end(), place.begin());
    return place;
  }
  std::unique_ptr<T[]> release() { return std::move(block_); }

 private:
  std::unique_ptr<T[]> block_;
  T* next_;
};

/// The owner of the arrays of a sentence.
struct Blocks {
  std::unique_ptr<double[]> doubles;
  std::unique_ptr<int32_t[]> ints;
};

}  // namespace

PoolBuilder::PoolBuilder(bool stream, double dense_share, Missing missing)
    : vocab_(std::make_shared<Vocab>()),
      features_(std::make_shared<Vocab>()),
      stream_(stream),
      dense_share_(dense_share),
      missing_(missing) {
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

void PoolBuilder::end_sentence(std::string id, std::string source, std::vector<std::string> references, IdKind kind) {
  if (decided_) {
    ready_.push_back(build(staged_, file_, std::move(id), std::move(source), std::move(references), kind));
    staged_.clear();
  } else {
    prefix_values_ += staged_.feature_ids.size() + staged_.words.size();
    prefix_.push_back({std::exchange(staged_, {}), std::move(id), std::move(source), file_, std::move(references), kind});
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
  const size_t count = features_->size();
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
    for (size_t k = 0; k < w.staged.feature_ids.size(); ++k) missing_.see(w.staged.feature_ids[k], w.staged.feature_values[k]);
  }
  missing_.decide(dense_width_);
  for (Waiting& w : prefix_) {
    ready_.push_back(build(w.staged, w.file, std::move(w.id), std::move(w.source), std::move(w.references), w.id_kind));
    w.staged = {};
  }
  prefix_.clear();
  prefix_.shrink_to_fit();
}

Forest PoolBuilder::forest(const Staged& s, const std::string& file, const std::string& id) const {
  const size_t edges = s.word_begin.size() - 1;
  const size_t sparse =
      std::count_if(s.feature_ids.begin(), s.feature_ids.end(), [&](int32_t feature) { return feature >= dense_width_; });
  const bool list = s.edge_begin.empty();
  const size_t nodes = list ? 1 : s.edge_begin.size() - 1;
  const bool spans = std::any_of(s.spans.begin(), s.spans.end(), [](int32_t i) { return i >= 0; });
  Cutter<double> doubles(edges * dense_width_ + sparse + s.numbers.size());
  Cutter<int32_t> ints(nodes + 1 + 2 * (edges + 1) + s.tails.size() + s.words.size() + (spans ? 2 * nodes : 0) +
                       (sparse ? edges + 1 + sparse : 0));
  Forest f;
  f.vocab = s.vocab;
  f.features = features_;
  f.dense_width = dense_width_;
  f.number_width = number_width;
  if (list) {
    const auto edge_begin = ints.take(2), tail_begin = ints.take(edges + 1);
    edge_begin[0] = 0;
    edge_begin[1] = static_cast<int32_t>(edges);
    std::fill(tail_begin.begin(), tail_begin.end(), 0);
    f.edge_begin = edge_begin;
    f.tail_begin = tail_begin;
  } else {
    f.edge_begin = ints.copy(s.edge_begin);
    f.tail_begin = ints.copy(s.tail_begin);
  }
  f.word_begin = ints.copy(s.word_begin);
  f.tails = ints.copy(s.tails);
  f.words = ints.copy(s.words);
  if (spans) f.spans = ints.copy(s.spans);
  const auto dense = doubles.take(edges * dense_width_), values = doubles.take(sparse);
  const auto begin = ints.take(sparse ? edges + 1 : 0), ids = ints.take(sparse);
  split_features(s, dense, begin, ids, values);
  if (list)
    missing_.complete(s.feature_begin, s.feature_ids, dense, [&](size_t candidate, int32_t feature, size_t others) {
      return input_error(file, 0,
                         "candidate " + std::to_string(candidate + 1) + " of sentence " + quoted(id) + " has no " +
                             quoted((*features_)[feature]) + ", which " + std::to_string(others) + " of its " +
                             std::to_string(edges) +
                             " candidates have. Complete the list, or say --missing mean, or "
                             "zero if that is what it means");
    });
  f.dense = dense;
  f.sparse_begin = begin;
  f.sparse_ids = ids;
  f.sparse_values = values;
  f.numbers = doubles.copy(s.numbers);
  f.owner = std::make_shared<Blocks>(Blocks{doubles.release(), ints.release()});
  return stored(std::move(f));
}

/// Moves the features of each edge to its dense row and, by rising id, to the sparse arrays.
void PoolBuilder::split_features(const Staged& s, std::span<double> dense, std::span<int32_t> begin, std::span<int32_t> ids,
                                 std::span<double> values) const {
  std::fill(dense.begin(), dense.end(), 0.0);
  int32_t used = 0;
  std::vector<std::pair<int32_t, double>> row;
  const size_t edges = s.word_begin.size() - 1;
  for (size_t e = 0; e < edges; ++e) {
    row.clear();
    for (size_t k = s.feature_begin[e]; k < s.feature_begin[e + 1]; ++k) {
      const int32_t feature = s.feature_ids[k];
      if (feature < dense_width_)
        dense[e * dense_width_ + feature] = s.feature_values[k];
      else
        row.emplace_back(feature, s.feature_values[k]);
    }
    if (begin.empty()) continue;
    std::sort(row.begin(), row.end());
    begin[e] = used;
    for (const auto& [feature, value] : row) {
      ids[used] = feature;
      values[used++] = value;
    }
  }
  if (!begin.empty()) begin[edges] = used;
}

NbestSentence PoolBuilder::build(const Staged& s, const std::string& file, std::string id, std::string source,
                                 std::vector<std::string> references, IdKind kind) const {
  NbestSentence out;
  Forest made = forest(s, file, id);
  out.sentence = {std::move(id), std::move(source), std::move(made), {}, kind};
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

void PoolBuilder::collect(Pool& pool) {
  while (has_ready()) {
    NbestSentence next = pop();
    for (const auto& text : next.references)
      if (auto words = add_words(text, *vocab_); !words.empty()) next.sentence.references.push_back(std::move(words));
    pool.sentences.push_back(std::move(next.sentence));
  }
  pool.vocab = vocab_;
  pool.features = features_;
  pool.dense_width = dense_width_;
}

}  // namespace hopefear
