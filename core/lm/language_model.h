// Queries to a back-off n-gram model, left to right and in charts, in one memory-mapped block.
//
// Layout. Unigrams are an array. Each higher order is a hash table of 64-byte buckets. An n-gram w_1..w_n is keyed exactly, by the
// slot of its suffix w_2..w_n and by w_1; its bucket comes from a hash of its words, last word first, so that the cache lines
// of all orders of a query can be fetched in parallel. The words of an n-gram can be read back from its slot.
//
// States. Only context that can still matter is kept (Li and Khudanpur 2008; Heafield et al. 2011, "Left language model state
// for syntactic machine translation"): to the right, the longest suffix that some n-gram continues or that has a back-off
// weight; to the left, the n-grams that some n-gram continues to the left. So hypotheses that are equivalent for the model
// have equal states. All scores are log10, and sums are in double: they are exact except for the last bits.
//
// Intended use in a chart decoder, once per rule application:
//   LmState out;
//   RuleScore rule(model, out);              // then, in target order:
//   rule.begin_sentence();                   //   only for the rule that opens the sentence
//   rule.terminal(word);                     //   word = map[decoder's word], from model.map_words
//   rule.nonterminal(child_state);           //   counts only what changes: the child's own score stays with the child
//   double delta = rule.finish();            // out is now the state of the new item; end a sentence by terminal(kEos)
#pragma once
#include <array>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "lm/backoff_model.h"
#include "util/memory_map.h"

namespace hopefear {

inline constexpr int kMaxLmContext = kMaxLmOrder - 1;
inline constexpr double kLn10 = 2.302585092994045684;  // from log10 to natural logarithms

/// The context for the following words: plain data, of which only the first `length` entries are defined.
struct LmContext {
  uint32_t word[kMaxLmContext];  // the last word first
  float backoff[kMaxLmContext];  // backoff[i] = b(word[i]..word[0]); follows from the words
  uint32_t length = 0;

  friend bool operator==(const LmContext& a, const LmContext& b) {
    return a.length == b.length && std::memcmp(a.word, b.word, a.length * sizeof(uint32_t)) == 0;
  }
  /// Below, equal or above zero: some total order.
  int compare(const LmContext& other) const {
    if (length != other.length) return length < other.length ? -1 : 1;
    return std::memcmp(word, other.word, length * sizeof(uint32_t));
  }
  uint64_t hash(uint64_t seed = 0) const {
    uint64_t h = seed + length;
    for (uint32_t i = 0; i < length; ++i) h = (h ^ (h >> 32) ^ word[i]) * 0x9fb21c651e98df25ULL;
    return h ^ (h >> 29);
  }
};

/// The first words of a span, as far as words to their left can change their probabilities.
struct LmLeft {
  uint32_t word[kMaxLmContext];  // w_1, w_2, ...
  uint32_t slot[kMaxLmContext];  // slot[n - 1] of the n-gram w_1..w_n; the last one determines the others and the words
  uint16_t length = 0;
  uint16_t full = 0;  // 1: the words after these do not depend on words to the left

  friend bool operator==(const LmLeft& a, const LmLeft& b) { return a.compare(b) == 0; }
  int compare(const LmLeft& other) const {
    const uint64_t a = key(), b = other.key();
    return a < b ? -1 : a > b;
  }
  uint64_t key() const {
    return static_cast<uint64_t>(length) << 33 | static_cast<uint64_t>(full) << 32 | (length ? slot[length - 1] : 0);
  }
};

/// The state of a chart item: two items with equal states get equal scores in every context.
struct LmState {
  LmLeft left;
  LmContext right;

  friend bool operator==(const LmState& a, const LmState& b) { return a.left == b.left && a.right == b.right; }
  int compare(const LmState& other) const {
    const int by_left = left.compare(other.left);
    return by_left ? by_left : right.compare(other.right);
  }
  uint64_t hash() const { return right.hash(left.key() * 0xd6e8feb86659fd93ULL); }
};

/// The score of one word.
struct WordScore {
  double prob;    // log10, back-off weights included
  int matched;    // the length of the longest n-gram found, itself included
  bool unknown;   // the word was <unk>
  bool extends;   // the n-gram found is all of the context and the word, and some n-gram continues it to the left
  uint32_t slot;  // of that n-gram, if `extends`
};

class LanguageModel {
 public:
  /// Builds the query structure; consumes the lists.
  static LanguageModel build(BackoffModel&& model);
  /// Maps a file that was written from bytes(). verify: check the checksum of the whole file, not only of the header.
  static LanguageModel open(const std::string& path, bool verify);
  /// The lists again, in the order of the words of the n-grams, without rest costs.
  BackoffModel lists() const;
  /// The file: header, tables, vocabulary.
  std::span<const std::byte> bytes() const { return {memory_->data(), memory_->size()}; }

  int order() const { return order_; }
  uint32_t words() const { return vocab_size_; }
  uint64_t count(int order) const { return counts_[order - 1]; }  // n-grams
  /// Whether there are rest costs: the model was estimated here, not read from an ARPA file.
  bool has_rests() const { return rests_[0] != nullptr; }
  std::string_view word(uint32_t id) const { return {text_ + text_begin_[id], text_begin_[id + 1] - text_begin_[id]}; }
  /// The id of a word, kUnk when the model does not know it.
  uint32_t find(std::string_view word) const;
  /// The same for a word of running text, where "<s>" and "</s>" are unknown words, not marks.
  uint32_t find_in_text(std::string_view word) const {
    const uint32_t id = find(word);
    return id == kBos || id == kEos ? kUnk : id;
  }
  /// Lengthens `map` to map[id in vocab] = id here; call again when the vocabulary has grown.
  void map_words(const Vocab& vocab, std::vector<uint32_t>& map) const;

  LmContext begin_sentence() const {
    LmContext context;
    context.word[0] = kBos;
    context.backoff[0] = unigrams_[kBos].backoff;
    context.length = order_ > 1 && has_extension(context.backoff[0]);
    return context;
  }

  /// The score of a word after a context; `out` must be another object than `in`.
  WordScore score(const LmContext& in, uint32_t word, LmContext& out) const {
    const int available = static_cast<int>(in.length);
    const std::byte* line[kMaxLmContext];  // all of them are prefetched before the first is read
    fetch(hash_word(word), 1, in.word, available, line);
    Look look = at_unigram(word);
    out.word[0] = word;
    out.backoff[0] = look.backoff;
    uint32_t length = order_ > 1 && has_extension(look.backoff);
    int matched = 1;
    for (; matched <= available; ++matched) {
      if (!look.extends || !extend(look, matched, in.word[matched - 1], line[matched - 1])) break;
      if (matched + 1 == order_) {
        ++matched;
        break;
      }
      out.word[matched] = in.word[matched - 1];
      out.backoff[matched] = look.backoff;
      length = has_extension(look.backoff) ? static_cast<uint32_t>(matched) + 1 : length;
    }
    out.length = length;
    double prob = look.prob;
    for (int i = matched - 1; i < available; ++i) prob += in.backoff[i];
    return {prob, matched, word == kUnk, matched == available + 1 && look.extends, look.slot};
  }

  /// The expected change, log10, of the score of a span's first words, which were scored without context. Models of order 1, 2, ...
  /// have no more context, and are right on average (Heafield et al. 2012, "Language model rest costs and space-efficient
  /// storage"). 0 without rest costs.
  double rest(const LmLeft& left) const {
    double sum = 0;
    for (int n = 1; has_rests() && n <= left.length; ++n)
      sum += static_cast<double>(rests_[n - 1][left.slot[n - 1]]) - prob(n, left.slot[n - 1]);
    return sum;
  }

  /// Running text: log10 probability of the words (and of </s>); `each` (or null) gets one entry per word.
  double score_text(std::string_view line, bool bos, bool eos, std::vector<WordScore>* each = nullptr) const;

 private:
  friend class RuleScore;
  struct Unigram {
    float prob, backoff;  // sign bit of prob: set when no bigram ends in this word
  };
  struct Value {
    float prob, backoff;
  };
  static constexpr uint64_t kEmpty = ~0ULL;
  struct alignas(64) Bucket {
    static constexpr int kWays = 4;
    uint64_t key[kWays];
    Value value[kWays];
  };
  struct alignas(64) TopBucket {
    static constexpr int kWays = 5;
    uint64_t key[kWays];
    float prob[kWays];
    uint32_t unused;
  };
  struct Table {
    const std::byte* buckets = nullptr;  // 64 bytes each, of either kind
    uint64_t size = 0, max_probe = 0;

    const std::byte* home(uint64_t hash) const { return buckets + home_of(hash, size) * 64; }
    /// The bucket and way of a key, or {nullptr, 0}; `line` is its home.
    template <class B>
    std::pair<const B*, uint32_t> find(const std::byte* line, uint64_t key) const {
      for (uint64_t probe = 0;; ++probe) {
        const B* bucket = reinterpret_cast<const B*>(line);
        if (const uint32_t ways = ways_with(*bucket, key)) return {bucket, static_cast<uint32_t>(std::countr_zero(ways))};
        if (bucket->key[B::kWays - 1] == kEmpty || probe >= max_probe) return {nullptr, 0};
        line += 64;
        if (line == buckets + size * 64) line = buckets;
      }
    }
  };
  /// A bit for each way that has the key; without branches, because ways are unpredictable.
  template <class B>
  static uint32_t ways_with(const B& bucket, uint64_t key) {
    uint32_t ways = 0;
#ifdef __AVX2__
    const __m256i four = _mm256_load_si256(reinterpret_cast<const __m256i*>(bucket.key));
    const __m256i equal = _mm256_cmpeq_epi64(four, _mm256_set1_epi64x(static_cast<long long>(key)));
    ways = static_cast<uint32_t>(_mm256_movemask_pd(_mm256_castsi256_pd(equal)));
    if constexpr (B::kWays == 5) ways |= static_cast<uint32_t>(bucket.key[4] == key) << 4;
#else
    for (int k = 0; k < B::kWays; ++k) ways |= static_cast<uint32_t>(bucket.key[k] == key) << k;
#endif
    return ways;
  }
  /// The state of a chain of look-ups w_n, w_{n-1} w_n, ...
  struct Look {
    uint32_t slot;
    float prob, backoff;
    bool extends;
  };

  static uint64_t home_of(uint64_t hash, uint64_t size) {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(hash) * size) >> 64);
  }
  static uint64_t hash_word(uint32_t word) { return (word + 1ULL) * 0x9e3779b97f4a7c15ULL; }
  static uint64_t hash_extend(uint64_t hash, uint32_t word) {
    return ((hash ^ (hash >> 29)) + (word + 1ULL) * 0xbf58476d1ce4e5b9ULL) * 0x94d049bb133111ebULL;
  }
  static uint64_t key_of(uint32_t slot, uint32_t word) { return static_cast<uint64_t>(slot) << 32 | word; }

  Look at_unigram(uint32_t word) const {
    const Unigram& u = unigrams_[word];
    return {word, -std::fabs(u.prob), u.backoff, !std::signbit(u.prob)};
  }
  const Value& value(int n, uint32_t slot) const {
    return reinterpret_cast<const Bucket*>(tables_[n - 2].buckets)[slot / Bucket::kWays].value[slot % Bucket::kWays];
  }
  double prob(int n, uint32_t slot) const { return -std::fabs(n == 1 ? unigrams_[slot].prob : value(n, slot).prob); }
  /// Extends the n-gram of length `have` by one word to its left, in `line`; false, and no change, if the model has none.
  bool extend(Look& look, int have, uint32_t word, const std::byte* line) const {
    const uint64_t key = key_of(look.slot, word);
    const Table& table = tables_[have - 1];
    if (have + 1 == order_) {
      const auto [bucket, way] = table.find<TopBucket>(line, key);
      if (bucket == nullptr) return false;
      look.prob = bucket->prob[way];
      look.extends = false;
      return true;
    }
    const auto [bucket, way] = table.find<Bucket>(line, key);
    if (bucket == nullptr) return false;
    const Value& value = bucket->value[way];
    const auto number = static_cast<uint32_t>((reinterpret_cast<const std::byte*>(bucket) - table.buckets) / 64);
    look = {number * Bucket::kWays + way, -std::fabs(value.prob), value.backoff, !std::signbit(value.prob)};
    return true;
  }
  /// The cache lines of an n-gram with 1, 2, ... words more to its left; `have` is its length.
  void fetch(uint64_t hash, int have, const uint32_t* left, int available, const std::byte** line) const {
    for (int i = 0; i < available; ++i) {
      hash = hash_extend(hash, left[i]);
      line[i] = tables_[have - 1 + i].home(hash);
      __builtin_prefetch(line[i]);
    }
  }
  struct Header;
  class Builder;
  static LanguageModel attach(std::shared_ptr<MemoryMap> memory, const std::string& name, bool verify);

  std::shared_ptr<MemoryMap> memory_;
  int order_ = 0;
  uint32_t vocab_size_ = 0;
  std::array<uint64_t, kMaxLmOrder> counts_{};
  const Unigram* unigrams_ = nullptr;
  std::array<Table, kMaxLmContext> tables_;          // tables_[n - 2] has order n
  std::array<const float*, kMaxLmContext> rests_{};  // rests_[n - 1][slot]: log10 p by a model of order n; null: not known
  const uint64_t* text_begin_ = nullptr;             // words() + 1 offsets into text_
  const char* text_ = nullptr;
  const uint64_t* word_slots_ = nullptr;  // hash << 32 | id + 1, or 0: linear probing
  uint64_t word_mask_ = 0;
};

/// The score of one rule application in a chart; see the head of this file.
class RuleScore {
 public:
  RuleScore(const LanguageModel& model, LmState& out) : model_(model), out_(out) {
    out.left.length = 0;
    out.left.full = 0;
    out.right.length = 0;
  }
  /// Continues from another one; `out` is its state.
  RuleScore(const LanguageModel& model, LmState& out, bool left_done) : model_(model), out_(out), left_done_(left_done) {}

  void begin_sentence() {
    out_.right = model_.begin_sentence();
    left_done_ = true;
  }

  void terminal(uint32_t word) {
    const LmContext in = out_.right;
    const WordScore got = model_.score(in, word, out_.right);
    prob_ += got.prob;
    if (!left_done_) grow_left(word, got.extends, got.slot, out_.right.length == in.length + 1);
  }

  /// child_score: the child's own score, if it is to be part of the sum.
  void nonterminal(const LmState& child, double child_score = 0) {
    prob_ += child_score;
    const LmContext in = out_.right;
    const LmLeft& left = child.left;
    if (left.length == 0 && !left.full) return;  // an empty span
    if (in.length == 0) {                        // nothing to its left changes it: we are empty, or closed already
      if (!left_done_) {
        out_.left = left;
        left_done_ = left.full;
      }
      out_.right = child.right;
      return;
    }
    // The first words of the child get the longer context. Before word n, `use` words of ours still count, and
    // backoff[j] = b(c_{j+1}..c_1 w_1..w_{n-1}), where c_1 is our last word.
    int use = static_cast<int>(in.length);
    float backoff[kMaxLmContext];
    std::memcpy(backoff, in.backoff, sizeof backoff);
    for (int n = 1; n <= left.length && use > 0; ++n) {
      const std::byte* line[kMaxLmContext];
      LanguageModel::Look look = at(left, n, in, use, line);
      const float before = look.prob;
      int matched = 0, next_use = 0;
      float next_backoff[kMaxLmContext];
      while (matched < use && look.extends && model_.extend(look, n + matched, in.word[matched], line[matched])) {
        if (n + matched + 1 < model_.order_) {
          next_backoff[matched] = look.backoff;
          if (has_extension(look.backoff)) next_use = matched + 1;
        }
        ++matched;
      }
      double change = static_cast<double>(look.prob) - before;
      for (int j = matched; j < use; ++j) change += backoff[j];
      prob_ += change;
      const bool whole = matched == static_cast<int>(in.length);
      if (!left_done_) grow_left(left.word[n - 1], whole && look.extends, look.slot, next_use == static_cast<int>(in.length));
      use = next_use;
      std::memcpy(backoff, next_backoff, sizeof(float) * use);
    }
    if (left.full || use == 0) {
      for (int j = 0; j < use; ++j) prob_ += backoff[j];
      left_done_ = true;
      out_.right = child.right;
      return;
    }
    // The child is short and all of it is context: ours follows it.
    LmContext& right = out_.right;
    right = child.right;
    for (int j = 0; j < use; ++j) {
      right.word[right.length] = in.word[j];
      right.backoff[right.length++] = backoff[j];
    }
  }

  /// Whether no more first words can follow.
  bool left_done() const { return left_done_; }
  /// The sum so far; the state is then ready.
  double finish() {
    out_.left.full = left_done_ || out_.left.length + 1 == model_.order_;
    return prob_;
  }

 private:
  /// Our span was w_1..w_{n-1}, all of it context; now w_n is added.
  void grow_left(uint32_t word, bool extends, uint32_t slot, bool still_context) {
    if (extends) {
      LmLeft& left = out_.left;
      left.word[left.length] = word;
      left.slot[left.length++] = slot;
    }
    left_done_ = !extends || !still_context;
  }
  /// The n-gram w_1..w_n of a child, with its cache lines after our words.
  LanguageModel::Look at(const LmLeft& left, int n, const LmContext& in, int use, const std::byte** line) const {
    uint64_t hash = LanguageModel::hash_word(left.word[n - 1]);
    for (int i = n - 2; i >= 0; --i) hash = LanguageModel::hash_extend(hash, left.word[i]);
    model_.fetch(hash, n, in.word, use, line);
    if (n == 1) return model_.at_unigram(left.word[0]);
    const uint32_t slot = left.slot[n - 1];
    const LanguageModel::Value& value = model_.value(n, slot);
    return {slot, -std::fabs(value.prob), value.backoff, true};
  }

  const LanguageModel& model_;
  LmState& out_;
  double prob_ = 0;
  bool left_done_ = false;
};

}  // namespace hopefear
