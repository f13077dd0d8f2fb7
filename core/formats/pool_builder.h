// Builds lists and forests from candidates and edges: the part that the readers of all text formats share.
//
// Which features are dense is decided once, after a bounded prefix of the file: those that a given share of its candidates
// (or edges) have. They become columns; all others, and all that first appear later, are sparse. A dense feature that a later
// candidate lacks is 0 there.
#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "forest/pool.h"
#include "formats/missing.h"

namespace hopefear {

/// A sentence of a stream of lists. The texts are those of the file, blank for blank.
struct NbestSentence {
  Sentence sentence;
  std::string texts;
  std::vector<size_t> text_begin{0};
  std::vector<std::string> references;  // as the file has them (JSONL)

  std::string_view text(size_t i) const {
    return std::string_view(texts).substr(text_begin[i], text_begin[i + 1] - text_begin[i]);
  }
};

class PoolBuilder {
 public:
  /// A stream starts a new vocabulary of words from time to time, so that its memory stays bounded, and keeps the texts.
  /// `dense_share`: features that at least this share of the candidates has are dense; `missing`: how to treat scores that some
  /// candidates of a list lack.
  PoolBuilder(bool stream, double dense_share, Missing missing = Missing::zero);

  /// The file of the next sentences, for messages.
  void begin_file(std::string name) { file_ = std::move(name); }

  // a forest: each node in topological order, then its edges; a list has no add_node and no add_tail
  void add_node(int32_t span_begin, int32_t span_end);
  void add_tail(int32_t node) { staged_.tails.push_back(node); }
  void add_word_id(int32_t word) { staged_.words.push_back(word); }  // of vocab(), or a slot

  // one candidate or edge: its words, features and numbers, then end_candidate
  void add_text(std::string_view text);
  int32_t feature(std::string_view name) { return features_->add(name); }
  /// False if this candidate already has the feature.
  bool add_feature(int32_t id, double value) {
    if (static_cast<size_t>(id) >= seen_.size()) seen_.resize(1 + id + id / 2, 0);
    if (seen_[id] == candidate_) return false;
    seen_[id] = candidate_;
    staged_.feature_ids.push_back(id);
    staged_.feature_values.push_back(value);
    return true;
  }
  std::vector<double>& numbers() { return staged_.numbers; }  // a row of number_width is appended for each candidate
  void end_candidate();

  // one sentence
  void end_sentence(std::string id, std::string source = "", std::vector<std::string> references = {},
                    IdKind kind = IdKind::place);
  size_t candidates() const { return staged_.word_begin.size() - 1; }
  void finish();  // at the end of the file

  /// Feature ids are given in the order of appearance until the dense ones are known and move to the front. Then, once, this
  /// returns the new id of each old one (otherwise nothing): callers that store ids must update them.
  std::vector<int32_t> take_renumbering() { return std::exchange(renumbering_, {}); }

  bool has_ready() const { return !ready_.empty(); }
  NbestSentence pop();
  /// Moves the sentences that are ready into a pool, with their references as words and the vocabularies.
  void collect(Pool& pool);

  int32_t dense_width() const { return dense_width_; }
  int32_t number_width = 0;
  const std::shared_ptr<Vocab>& features() const { return features_; }
  const std::shared_ptr<Vocab>& vocab() const { return vocab_; }

 private:
  /// The candidates of one sentence before the dense features are known.
  struct Staged {
    std::vector<int32_t> edge_begin, tail_begin, tails, spans;  // empty for a list
    std::vector<int32_t> word_begin{0}, words, feature_ids;
    std::vector<size_t> feature_begin{0};
    std::vector<double> feature_values, numbers;
    std::string texts;
    std::vector<size_t> text_begin{0};
    std::shared_ptr<Vocab> vocab;
    void clear();
  };
  struct Waiting {
    Staged staged;
    std::string id, source, file;
    std::vector<std::string> references;
    IdKind id_kind;
  };

  void decide();
  Forest forest(const Staged& staged, const std::string& file, const std::string& id) const;
  void split_features(const Staged& staged, std::span<double> dense, std::span<int32_t> begin, std::span<int32_t> ids,
                      std::span<double> values) const;
  NbestSentence build(const Staged& staged, const std::string& file, std::string id, std::string source,
                      std::vector<std::string> references, IdKind kind) const;

  std::shared_ptr<Vocab> vocab_, features_;
  bool stream_;
  double dense_share_;
  MissingScores missing_;
  std::string file_;
  bool decided_ = false;
  int32_t dense_width_ = 0;
  Staged staged_;
  std::vector<Waiting> prefix_;
  size_t prefix_values_ = 0;
  std::vector<uint64_t> seen_;  // per feature: the last candidate that had it
  uint64_t candidate_ = 1;
  std::vector<int32_t> renumbering_;
  std::deque<NbestSentence> ready_;
};

}  // namespace hopefear
