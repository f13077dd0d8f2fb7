#include "lm/lm_estimate.h"

#include <algorithm>
#include <memory>

#include "util/error.h"
#include "util/parallel.h"
#include "util/text.h"

namespace hopefear {
namespace {

/// A part of the text, at line ends, with a vocabulary of its own.
struct Piece {
  Vocab vocab;
  std::vector<uint32_t> words;
  uint64_t sentences = 0, skipped = 0;
  uint64_t bad_line = 0;  // the first line that is not UTF-8, from 1
};

void tokenise(std::string_view text, Piece& piece) {
  for (const char* mark : {"<unk>", "<s>", "</s>"}) piece.vocab.add(mark);
  size_t i = 0;
  while (i < text.size()) {
    const size_t end = std::min(text.find('\n', i), text.size());
    ++piece.sentences;
    piece.words.push_back(kBos);
    lm_words(text.substr(i, end - i), [&](std::string_view word) {
      const int32_t known = piece.vocab.size();
      const auto id = static_cast<uint32_t>(piece.vocab.add(word));
      if (id == kBos || id == kEos) {
        ++piece.skipped;
        return;
      }
      if (static_cast<int32_t>(id) == known && invalid_utf8(word) >= 0 && piece.bad_line == 0) piece.bad_line = piece.sentences;
      piece.words.push_back(id);
    });
    piece.words.push_back(kEos);
    i = end + 1;
  }
}

}  // namespace

LmText::LmText() : vocab(std::make_shared<Vocab>()) {
  for (const char* mark : {"<unk>", "<s>", "</s>"}) vocab->add(mark);
}

void LmText::add(std::string_view text, const std::string& name, int jobs) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // a byte order mark
  // Words get their ids in the order of the text, however it is cut.
  const size_t count = std::clamp<size_t>(text.size() >> 18, 1, resolve_jobs(jobs));
  std::vector<size_t> cut{0};
  for (size_t k = 1; k < count; ++k) {
    const size_t end = text.find('\n', std::max(cut.back(), text.size() / count * k));
    cut.push_back(end == std::string_view::npos ? text.size() : end + 1);
  }
  cut.push_back(text.size());
  std::vector<std::unique_ptr<Piece>> pieces;
  for (size_t k = 0; k < count; ++k) pieces.push_back(std::make_unique<Piece>());
  parallel_for(count, jobs, [&](size_t k, int) { tokenise(text.substr(cut[k], cut[k + 1] - cut[k]), *pieces[k]); });
  uint64_t lines = 0;
  size_t total = words.size();
  for (const auto& piece : pieces) {
    if (piece->bad_line > 0)
      throw input_error(name, static_cast<long>(lines + piece->bad_line),
                        "not UTF-8. Convert the file, for example with: iconv -f latin1 -t utf-8");
    lines += piece->sentences;
    total += piece->words.size();
  }
  words.reserve(total);
  for (auto& piece : pieces) {
    std::vector<uint32_t> map(piece->vocab.size());
    for (size_t id = 0; id < map.size(); ++id)
      map[id] = static_cast<uint32_t>(vocab->add(piece->vocab[static_cast<int32_t>(id)]));
    for (uint32_t word : piece->words) words.push_back(map[word]);
    sentences += piece->sentences;
    skipped += piece->skipped;
    piece.reset();
  }
}

namespace {

/// A position of the text and the words before it, the nearest in the highest bits; 0 where the sentence has no more.
template <class Key>
struct Item {
  Key key;
  uint32_t position;
};

/// The distinct n-grams of one order, sorted by last word, then the word before it, and so on.
struct Counted {
  KeptVector<uint32_t> word, suffix;  // as in NgramList
  KeptVector<uint32_t> adjusted;      // a(w_1^n)
  KeptVector<uint32_t> context;       // index of w_1..w_{n-1} in the list below; first, a position where the n-gram ends
  KeptVector<uint32_t> raw;           // c(w_1^n), only where this order is pruned
};

struct Bits {
  int width;  // of a word's code, which is id + 1
  int count;  // of words in a key: N - 1
};

template <class Key>
int leading_words(Key difference, Bits bits) {
  if (difference == 0) return bits.count;
  int zeros;
  if constexpr (sizeof(Key) == 8) {
    zeros = std::countl_zero(difference);
  } else {
    const auto high = static_cast<uint64_t>(difference >> 64);
    zeros = high ? std::countl_zero(high) : 64 + std::countl_zero(static_cast<uint64_t>(difference));
  }
  return (zeros - (static_cast<int>(sizeof(Key)) * 8 - bits.width * bits.count)) / bits.width;
}

template <class Key>
int words_in(Key key, Bits bits) {
  int zeros;
  const auto low = static_cast<uint64_t>(key);
  if constexpr (sizeof(Key) == 8)
    zeros = std::countr_zero(low);
  else
    zeros = low ? std::countr_zero(low) : 64 + std::countr_zero(static_cast<uint64_t>(key >> 64));
  return bits.count - zeros / bits.width;
}

/// Counts by one sort; see the head of lm_estimate.h.
template <class Key>
class NgramCounter {
 public:
  NgramCounter(const LmText& text, int order, const std::vector<uint64_t>& prune, int jobs)
      : text_(text),
        order_(order),
        prune_(prune),
        jobs_(jobs),
        vocab_(text.vocab->size()),
        depth_(order - 1),
        bits_{static_cast<int>(std::bit_width(vocab_)), order - 1} {}

  /// Adjusted counts of all orders and, in `raw`, plain counts of the orders that are pruned.
  std::vector<Counted> run() {
    fill_buckets();
    cut_segments();
    parallel_for(segment_.size() - 1, jobs_, [&](size_t s, int) { sort_and_count(s); });
    make_room();
    at_ = kept_array<uint32_t>(text_.words.size() * depth_);
    parallel_for(segment_.size() - 1, jobs_, [&](size_t s, int) { write_lists(s); });
    items_.reset();
    find_contexts();
    return std::move(counted_);
  }

 private:
  /// Items in buckets by the word itself: bucket w is items_[begin_[w] .. begin_[w + 1]).
  void fill_buckets() {
    begin_.resize(vocab_ + 2);
    for (uint32_t word : text_.words)
      if (word != kBos) ++begin_[word + 2];
    for (size_t w = 2; w < vocab_ + 2; ++w) begin_[w] += begin_[w - 1];
    items_ = kept_array<Item<Key>>(begin_[vocab_ + 1]);
    Key context = 0;
    const int top = bits_.width * (bits_.count - 1);
    for (size_t i = 0; i < text_.words.size(); ++i) {
      const uint32_t word = text_.words[i];
      if (word == kBos)
        context = 0;
      else
        items_[begin_[word + 1]++] = {context, static_cast<uint32_t>(i)};
      if (depth_ > 0) context = (context >> bits_.width) | (static_cast<Key>(word) + 1) << top;
    }
  }

  /// Segments of whole buckets, so that each can be sorted and scanned alone.
  void cut_segments() {
    const size_t share = begin_[vocab_] / 256 + 1;
    for (size_t w = 0; w < vocab_; ++w)
      if (begin_[w + 1] - begin_[segment_.back()] >= share || w + 1 == vocab_) segment_.push_back(static_cast<uint32_t>(w + 1));
    offset_.resize(segment_.size());
  }

  /// each(word, position, common, length): `common` words with the item before, of `length` words that the sentence has, at most N.
  template <class Each>
  void scan(size_t s, Each&& each) const {
    for (uint32_t w = segment_[s]; w < segment_[s + 1]; ++w) {
      Key before = 0;
      for (uint32_t i = begin_[w]; i < begin_[w + 1]; ++i) {
        const Key key = items_[i].key;
        const int common = i == begin_[w] ? 0 : 1 + leading_words<Key>(key ^ before, bits_);
        each(w, items_[i].position, common, depth_ == 0 ? 1 : 1 + words_in(key, bits_));
        before = key;
      }
    }
  }

  void sort_and_count(size_t s) {
    for (uint32_t w = segment_[s]; w < segment_[s + 1]; ++w)
      if (depth_ > 0)
        std::sort(items_.get() + begin_[w], items_.get() + begin_[w + 1],
                  [](const auto& a, const auto& b) { return a.key < b.key; });
    std::array<size_t, kMaxLmOrder> count{};
    scan(s, [&](uint32_t, uint32_t, int common, int length) {
      for (int n = common + 1; n <= length; ++n) ++count[n - 1];
    });
    offset_[s + 1] = count;
  }

  void make_room() {
    for (size_t s = 1; s < offset_.size(); ++s)
      for (int n = 0; n < order_; ++n) offset_[s][n] += offset_[s - 1][n];
    counted_.resize(order_);
    for (int n = 1; n <= order_; ++n) {
      Counted& list = counted_[n - 1];
      const size_t size = n == 1 ? vocab_ : offset_.back()[n - 1];
      if (size >= 0xffffffff) throw InputError("more than four billion n-grams. Take a smaller corpus or a lower order");
      list.word.resize(size);
      list.suffix.resize(size);
      list.adjusted.resize(size);
      list.context.resize(size);
      if (prune_[n - 1] > 0) list.raw.resize(size);
    }
  }

  void write_lists(size_t s) {
    std::array<uint32_t, kMaxLmOrder> now{}, next{};
    for (int n = 0; n < order_; ++n) next[n] = static_cast<uint32_t>(offset_[s][n]);
    scan(s, [&](uint32_t word, uint32_t position, int common, int length) {
      now[0] = word;
      for (int n = std::max(2, common + 1); n <= length; ++n) {
        const uint32_t index = now[n - 1] = next[n - 1]++;
        Counted& list = counted_[n - 1];
        list.word[index] = text_.words[position - n + 1];
        list.suffix[index] = now[n - 2];
        list.context[index] = position;
        ++counted_[n - 2].adjusted[now[n - 2]];  // one more v before w_2..w_n
      }
      ++counted_[length - 1].adjusted[now[length - 1]];  // n = N or w_1 = <s>: occurrences
      for (int n = 2; n <= length; ++n)
        if (prune_[n - 1] > 0) ++counted_[n - 1].raw[now[n - 1]];
      const size_t row = position * depth_;
      for (int n = 1; n <= std::min(length, order_ - 1); ++n) at_[row + n - 1] = now[n - 1];
    });
  }

  void find_contexts() {
    for (size_t i = 0; depth_ > 0 && i < text_.words.size(); ++i)
      if (text_.words[i] == kBos) at_[i * depth_] = kBos;
    for (uint32_t w = 0; w < vocab_; ++w) counted_[0].word[w] = w;
    parallel_for(depth_, jobs_, [&](size_t k, int) {  // order k + 2
      for (uint32_t& place : counted_[k + 1].context) place = at_[(place - 1ULL) * depth_ + k];
    });
  }

  const LmText& text_;
  const int order_;
  const std::vector<uint64_t>& prune_;
  const int jobs_;
  const size_t vocab_, depth_;  // depth_: N - 1
  const Bits bits_;
  std::vector<uint32_t> begin_;
  std::shared_ptr<Item<Key>[]> items_;
  std::vector<uint32_t> segment_{0};                     // the first word of each
  std::vector<std::array<size_t, kMaxLmOrder>> offset_;  // of the lists of each segment
  std::vector<Counted> counted_;
  std::shared_ptr<uint32_t[]> at_;  // at_[i * (N - 1) + n - 1]: the n-gram that ends at position i
};

LmDiscounts discounts_of(const Counted& list, const std::array<double, 3>& fallback) {
  std::array<double, 5> t{};
  for (uint32_t a : list.adjusted)
    if (a >= 1 && a <= 4) ++t[a];
  LmDiscounts result;
  for (int k = 1; k <= 3; ++k) {
    const double d = k - (k + 1) * t[1] * t[k + 1] / ((t[1] + 2 * t[2]) * t[k]);
    if (!(t[k] > 0 && d > 0 && d <= k)) return {fallback, true};
    result.d[k - 1] = d;
  }
  return result;
}

double discount(const LmDiscounts& discounts, uint32_t a) { return a == 0 ? 0 : discounts.d[std::min(a, 3u) - 1]; }

/// What the words behind one context have together.
struct Sums {
  uint32_t total = 0, ones = 0, twos = 0, more = 0, pruned = 0;
  void add(uint32_t a, bool kept) {
    total += a;
    if (!kept)
      pruned += a;
    else if (a == 1)
      ++ones;
    else if (a == 2)
      ++twos;
    else if (a > 2)
      ++more;
  }
  double backoff(const LmDiscounts& discounts) const {
    return (discounts.d[0] * ones + discounts.d[1] * twos + discounts.d[2] * more + pruned) / total;
  }
};

constexpr uint32_t kDropped = 0xffffffff;

float log10_of(double p) { return static_cast<float>(std::log(p) * 0.43429448190325182765); }

constexpr size_t kBlock = 1 << 14;
template <class Body>
void in_blocks(size_t count, int jobs, Body&& body) {
  parallel_for((count + kBlock - 1) / kBlock, jobs, [&](size_t block, int) {
    for (size_t i = block * kBlock; i < std::min(count, (block + 1) * kBlock); ++i) body(i);
  });
}

/// The threshold of each order. Throws InputError for options that cannot be, and for a text that does not fit.
std::vector<uint64_t> checked_prune(const LmText& text, const LmEstimateOptions& options) {
  const int order = options.order;
  if (order < 1 || order > kMaxLmOrder)
    throw InputError("the order of a language model is 1 to " + std::to_string(kMaxLmOrder) + ", not " + std::to_string(order));
  std::vector<uint64_t> prune = options.prune;
  if (static_cast<int>(prune.size()) > order) throw InputError("more pruning thresholds than orders. Give at most one per order");
  prune.resize(order, prune.empty() ? 0 : prune.back());
  if (prune[0] != 0) throw InputError("unigrams cannot be pruned: the first threshold must be 0");
  if (!std::is_sorted(prune.begin(), prune.end()))
    throw InputError("pruning thresholds must not fall from one order to the next");
  for (int k = 1; k <= 3; ++k)
    if (!(options.fallback_discounts[k - 1] > 0 && options.fallback_discounts[k - 1] <= k))
      throw InputError("the fall-back discount for count " + std::to_string(k) + " must be above 0 and at most " +
                       std::to_string(k));
  if (text.sentences == 0) throw InputError("no text to estimate a language model from. Give at least one line");
  if (text.words.size() >= 0xffffffff) throw InputError("more than four billion words. Take a part of the corpus");
  return prune;
}

std::vector<Counted> count_ngrams(const LmText& text, int order, const std::vector<uint64_t>& prune, int jobs) {
  const int bits = static_cast<int>(std::bit_width(static_cast<uint32_t>(text.vocab->size()))) * (order - 1);
  if (bits > 128) throw InputError("too many distinct words for this order. Lower the order or replace rare words by <unk>");
  return bits <= 64 ? NgramCounter<uint64_t>(text, order, prune, jobs).run()
                    : NgramCounter<unsigned __int128>(text, order, prune, jobs).run();
}

/// From counts to probabilities, order after order, each from the one below it.
class Estimator {
 public:
  Estimator(std::vector<Counted>&& counted, const std::vector<uint64_t>& prune, const std::array<double, 3>& fallback, int jobs)
      : counted_(std::move(counted)), prune_(prune), jobs_(jobs), discounts_(counted_.size()), sums_(counted_.size()) {
    parallel_for(counted_.size(), jobs, [&](size_t k, int) {
      const Counted& list = counted_[k];
      discounts_[k] = discounts_of(list, fallback);
      sums_[k].resize(k == 0 ? 1 : counted_[k - 1].word.size());
      for (size_t i = 0; i < list.adjusted.size(); ++i) sums_[k][list.context[i]].add(list.adjusted[i], keeps(k, i));
    });
  }

  const std::vector<LmDiscounts>& discounts() const { return discounts_; }

  BackoffModel run(std::shared_ptr<Vocab> vocab) {
    BackoffModel model;
    model.vocab = std::move(vocab);
    model.lists.resize(counted_.size());
    const double uniform = 1.0 / (model.vocab->size() - 1);  // without <s>
    for (size_t k = 0; k < counted_.size(); ++k) {
      KeptVector<double> b(sums_[k].size());
      in_blocks(b.size(), jobs_, [&](size_t c) { b[c] = sums_[k][c].total ? sums_[k][c].backoff(discounts_[k]) : 1.0; });
      if (k > 0) write_backoffs(k, b, model.lists[k - 1]);
      interpolate(k, b, uniform);
      write_probabilities(k, model.lists[k]);
      counted_[k] = {};
      sums_[k] = {};
      lower_.swap(p_);
      lower_index_.swap(index_);
    }
    return model;
  }

 private:
  /// Of order k + 1.
  bool keeps(size_t k, size_t i) const { return counted_[k].raw.empty() || counted_[k].raw[i] > prune_[k]; }

  /// Those of the order below, whose contexts the n-grams of this order are.
  void write_backoffs(size_t k, const KeptVector<double>& b, NgramList& below) const {
    const Counted& list = counted_[k];
    std::vector<bool> extends(b.size());
    for (size_t i = 0; i < list.word.size(); ++i)
      if (keeps(k, i)) extends[list.context[i]] = true;
    below.backoff.resize(below.size());
    in_blocks(b.size(), jobs_, [&](size_t c) {
      if (!lower_index_.empty() && lower_index_[c] == kDropped) return;
      below.backoff[lower_index_.empty() ? c : lower_index_[c]] = extends[c] ? log10_of(b[c]) + 0.0f : kNoExtension;
    });
  }

  void interpolate(size_t k, const KeptVector<double>& b, double uniform) {
    const Counted& list = counted_[k];
    p_.resize(list.word.size());
    in_blocks(p_.size(), jobs_, [&](size_t i) {
      const Sums& s = sums_[k][list.context[i]];
      const uint32_t a = list.adjusted[i];
      const double u = s.total ? (a - discount(discounts_[k], a)) / s.total : 0.0;
      p_[i] = u + b[list.context[i]] * (k == 0 ? uniform : lower_[list.suffix[i]]);
    });
  }

  void drop_pruned(size_t k) {
    Counted& list = counted_[k];
    index_.clear();
    if (list.raw.empty()) return;
    const size_t size = list.word.size();
    index_.resize(size);
    uint32_t kept = 0;
    for (size_t i = 0; i < size; ++i) index_[i] = keeps(k, i) ? kept++ : kDropped;
    // The suffix of an n-gram is at least as frequent, and its threshold is no higher: it is kept as well.
    for (size_t i = 0; i < size; ++i) {
      if (index_[i] == kDropped) continue;
      list.word[index_[i]] = list.word[i];
      list.suffix[index_[i]] = lower_index_.empty() ? list.suffix[i] : lower_index_[list.suffix[i]];
    }
    list.word.resize(kept);
    list.suffix.resize(kept);
  }

  void write_probabilities(size_t k, NgramList& result) {
    drop_pruned(k);
    result.word = std::move(counted_[k].word);
    result.suffix = std::move(counted_[k].suffix);
    result.prob.resize(result.word.size());
    in_blocks(p_.size(), jobs_, [&](size_t i) {
      if (index_.empty())
        result.prob[i] = log10_of(p_[i]);
      else if (index_[i] != kDropped)
        result.prob[index_[i]] = log10_of(p_[i]);
    });
    if (k == 0) result.prob[kBos] = kNeverPredicted;
  }

  std::vector<Counted> counted_;
  const std::vector<uint64_t>& prune_;
  const int jobs_;
  std::vector<LmDiscounts> discounts_;
  std::vector<KeptVector<Sums>> sums_;        // sums_[n - 1][context] for n-grams
  KeptVector<double> p_, lower_;              // p(w_n | w_1..w_{n-1}) of this order and of the one below
  KeptVector<uint32_t> index_, lower_index_;  // where a kept n-gram goes; empty: all stay where they are
};

}  // namespace

BackoffModel estimate(LmText&& text, const LmEstimateOptions& options, std::vector<LmDiscounts>* discounts) {
  const std::vector<uint64_t> prune = checked_prune(text, options);
  auto counted = count_ngrams(text, options.order, prune, options.jobs);
  text.words = {};
  Estimator estimator(std::move(counted), prune, options.fallback_discounts, options.jobs);
  if (discounts) *discounts = estimator.discounts();
  return estimator.run(std::move(text.vocab));
}

}  // namespace hopefear
