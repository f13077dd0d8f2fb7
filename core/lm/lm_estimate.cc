#include "lm/lm_estimate.h"

#include <algorithm>
#include <memory>

#include "util/error.h"
#include "util/parallel.h"
#include "util/text.h"

namespace hopefear {
namespace {

/// A part of the text, cut at line ends, with its own vocabulary.
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
  // Words get their ids in the order of the text, independently of the cuts.
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

std::span<const uint32_t> LmText::slice(size_t k, size_t count) const {
  const auto cut = [&](size_t i) {
    return std::find(words.begin() + static_cast<std::ptrdiff_t>(words.size() * i / count), words.end(), kBos) - words.begin();
  };
  return {words.begin() + cut(k), words.begin() + cut(k + 1)};
}

namespace {

LmDiscounts discounts_of(const KeptVector<uint32_t>& counts, const std::array<double, 3>& fallback) {
  std::array<double, 5> t{};
  for (uint32_t a : counts)
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

/// Sums over the words after one context.
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

/// One order by adjusted or by plain counts.
struct Smoothing {
  LmDiscounts discounts;
  KeptVector<Sums> sums;  // of each context

  double backoff(size_t context) const { return sums[context].total ? sums[context].backoff(discounts) : 1.0; }
  /// u(w_n | w_1^{n-1}) of an n-gram with this count.
  double own_share(uint32_t count, uint32_t context) const {
    const uint32_t total = sums[context].total;
    return total ? (count - discount(discounts, count)) / total : 0.0;
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

/// Computes probabilities from counts, order by order, each from the one below it.
class Estimator {
 public:
  Estimator(CountedOrders&& counted, const std::vector<uint64_t>& prune, const std::array<double, 3>& fallback, int jobs)
      : counted_(std::move(counted)),
        context_(find_contexts(counted_, jobs)),
        prune_(prune),
        jobs_(jobs),
        adjusted_(counted_.size()),
        plain_(counted_.size() - 1) {
    parallel_for(adjusted_.size() + plain_.size(), jobs, [&](size_t task, int) {
      const bool plain = task >= adjusted_.size();
      const size_t k = plain ? task - adjusted_.size() : task;
      const auto& counts = plain ? counted_[k].raw : counted_[k].adjusted;
      Smoothing& smoothing = plain ? plain_[k] : adjusted_[k];
      smoothing.discounts = discounts_of(counts, fallback);
      smoothing.sums.resize(k == 0 ? 1 : counted_[k - 1].word.size());
      for (size_t i = 0; i < counts.size(); ++i) smoothing.sums[context_[k][i]].add(counts[i], keeps(k, i));
    });
  }

  std::vector<LmDiscounts> discounts() const {
    std::vector<LmDiscounts> discounts;
    for (const Smoothing& smoothing : adjusted_) discounts.push_back(smoothing.discounts);
    return discounts;
  }

  BackoffModel run(std::shared_ptr<Vocab> vocab) {
    BackoffModel model;
    model.vocab = std::move(vocab);
    model.lists.resize(counted_.size());
    uniform_ = 1.0 / (model.vocab->size() - 1);  // without <s>
    for (size_t k = 0; k < counted_.size(); ++k) {
      const KeptVector<double> b = backoffs(adjusted_[k]);
      if (k > 0) write_backoffs(k, b, model.lists[k - 1]);
      interpolate(k, adjusted_[k], b, counted_[k].adjusted, p_);
      if (k < plain_.size()) interpolate(k, plain_[k], backoffs(plain_[k]), counted_[k].raw, rest_);
      write(k, model.lists[k]);
      counted_[k] = {};
      context_[k] = {};
      adjusted_[k].sums = {};
      if (k < plain_.size()) plain_[k].sums = {};
      lower_.swap(p_);
      lower_index_.swap(index_);
    }
    return model;
  }

 private:
  /// Of order k + 1.
  bool keeps(size_t k, size_t i) const { return prune_[k] == 0 || counted_[k].raw[i] > prune_[k]; }

  KeptVector<double> backoffs(const Smoothing& smoothing) const {
    KeptVector<double> b(smoothing.sums.size());
    in_blocks(b.size(), jobs_, [&](size_t c) { b[c] = smoothing.backoff(c); });
    return b;
  }

  /// Those of the order below, whose contexts the n-grams of this order are.
  void write_backoffs(size_t k, const KeptVector<double>& b, NgramList& below) const {
    const Counted& list = counted_[k];
    std::vector<bool> extends(b.size());
    for (size_t i = 0; i < list.word.size(); ++i)
      if (keeps(k, i)) extends[context_[k][i]] = true;
    below.backoff.resize(below.size());
    in_blocks(b.size(), jobs_, [&](size_t c) {
      if (!lower_index_.empty() && lower_index_[c] == kDropped) return;
      below.backoff[lower_index_.empty() ? c : lower_index_[c]] = extends[c] ? log10_of(b[c]) + 0.0f : kNoExtension;
    });
  }

  void interpolate(size_t k, const Smoothing& smoothing, const KeptVector<double>& b, const KeptVector<uint32_t>& counts,
                   KeptVector<double>& p) const {
    p.resize(counts.size());
    in_blocks(p.size(), jobs_, [&](size_t i) {
      const uint32_t context = context_[k][i];
      p[i] = smoothing.own_share(counts[i], context) + b[context] * (k == 0 ? uniform_ : lower_[counted_[k].suffix[i]]);
    });
  }

  void drop_pruned(size_t k) {
    Counted& list = counted_[k];
    index_.clear();
    if (prune_[k] == 0) return;
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

  void write(size_t k, NgramList& result) {
    drop_pruned(k);
    result.word = std::move(counted_[k].word);
    result.suffix = std::move(counted_[k].suffix);
    write_logs(p_, result.size(), result.prob);
    if (k == 0) result.prob[kBos] = kNeverPredicted;
    if (k < plain_.size()) write_logs(rest_, result.size(), result.rest);
  }

  void write_logs(const KeptVector<double>& p, size_t kept, KeptVector<float>& logs) const {
    logs.resize(kept);
    in_blocks(p.size(), jobs_, [&](size_t i) {
      if (index_.empty())
        logs[i] = log10_of(p[i]);
      else if (index_[i] != kDropped)
        logs[index_[i]] = log10_of(p[i]);
    });
  }

  CountedOrders counted_;
  std::vector<KeptVector<uint32_t>> context_;  // of each n-gram, in the list one order below
  const std::vector<uint64_t>& prune_;
  const int jobs_;
  std::vector<Smoothing> adjusted_, plain_;  // of each order; plain counts: below the highest, for models of their own order
  double uniform_ = 0;
  KeptVector<double> p_, lower_;              // p(w_n | w_1..w_{n-1}) of this order and of the one below
  KeptVector<double> rest_;                   // of a model of this order
  KeptVector<uint32_t> index_, lower_index_;  // where a kept n-gram goes; empty: all stay where they are
};

}  // namespace

NgramSpec ngram_spec(const LmText& text, int order, std::vector<uint64_t> prune) {
  if (order < 1 || order > kMaxLmOrder)
    throw InputError("the order of a language model is 1 to " + std::to_string(kMaxLmOrder) + ", not " + std::to_string(order));
  if (static_cast<int>(prune.size()) > order) throw InputError("more pruning thresholds than orders. Give at most one per order");
  prune.resize(order, prune.empty() ? 0 : prune.back());
  if (prune[0] != 0) throw InputError("unigrams cannot be pruned: the first threshold must be 0");
  if (!std::is_sorted(prune.begin(), prune.end()))
    throw InputError("pruning thresholds must not fall from one order to the next");
  if (text.sentences == 0) throw InputError("no text to estimate a language model from. Give at least one line");
  if (text.words.size() >= 0xffffffff) throw InputError("more than four billion words. Take a part of the corpus");
  return {static_cast<uint32_t>(text.vocab->size()), order, std::move(prune)};
}

namespace {
void check_discounts(const std::array<double, 3>& fallback) {
  for (int k = 1; k <= 3; ++k)
    if (!(fallback[k - 1] > 0 && fallback[k - 1] <= k))
      throw InputError("the fall-back discount for count " + std::to_string(k) + " must be above 0 and at most " +
                       std::to_string(k));
}
}  // namespace

BackoffModel estimate(LmText&& text, const LmEstimateOptions& options, std::vector<LmDiscounts>* discounts) {
  const NgramSpec spec = ngram_spec(text, options.order, options.prune);
  check_discounts(options.fallback_discounts);
  CountedOrders counted =
      options.ranges.empty() ? count_ngrams(text.words, spec, options.jobs) : join_ranges(options.ranges, spec);
  text.words = {};
  Estimator estimator(std::move(counted), spec.prune, options.fallback_discounts, options.jobs);
  if (discounts) *discounts = estimator.discounts();
  return estimator.run(std::move(text.vocab));
}

}  // namespace hopefear
