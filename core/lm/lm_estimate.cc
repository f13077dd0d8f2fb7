#include "lm/lm_estimate.h"

#include <algorithm>
#include <memory>

#include "util/error.h"
#include "util/parallel.h"

namespace hopefear {
namespace {

bool is_utf8(std::string_view text) {
  size_t i = 0;
  const auto tail = [&](size_t k) { return i + k < text.size() && (static_cast<unsigned char>(text[i + k]) & 0xc0) == 0x80; };
  while (i < text.size()) {
    const auto a = static_cast<unsigned char>(text[i]);
    const auto b = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0u;
    if (a < 0x80) {
      i += 1;
    } else if (a >= 0xc2 && a < 0xe0 && tail(1)) {
      i += 2;
    } else if ((a & 0xf0) == 0xe0 && tail(1) && tail(2) && (a != 0xe0 || b >= 0xa0) && (a != 0xed || b < 0xa0)) {
      i += 3;
    } else if (a >= 0xf0 && a < 0xf5 && tail(1) && tail(2) && tail(3) && (a != 0xf0 || b >= 0x90) && (a != 0xf4 || b < 0x90)) {
      i += 4;
    } else {
      return false;
    }
  }
  return true;
}

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
      if (static_cast<int32_t>(id) == known && !is_utf8(word) && piece.bad_line == 0) piece.bad_line = piece.sentences;
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
  const size_t count = std::clamp<size_t>(text.size() >> 18, 1, static_cast<size_t>(resolve_jobs(jobs)));
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
    std::vector<uint32_t> map(static_cast<size_t>(piece->vocab.size()));
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
  std::vector<uint32_t> word, suffix;  // as in NgramList
  std::vector<uint32_t> adjusted;      // a(w_1^n)
  std::vector<uint32_t> context;       // index of w_1..w_{n-1} in the list below; first, a position where the n-gram ends
  std::vector<uint32_t> raw;           // c(w_1^n), only where this order is pruned
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

/// Adjusted counts of all orders and, in `raw`, plain counts of the orders that are pruned.
template <class Key>
std::vector<Counted> count_ngrams(const LmText& text, int order, const std::vector<uint64_t>& prune, int jobs) {
  const size_t vocab = static_cast<size_t>(text.vocab->size()), positions = text.words.size();
  const Bits bits{static_cast<int>(std::bit_width(vocab)), order - 1};
  const size_t depth = static_cast<size_t>(order) - 1;
  std::vector<Counted> counted(static_cast<size_t>(order));

  // Items in buckets by the word itself: bucket w is items[begin[w] .. begin[w + 1]).
  std::vector<uint32_t> begin(vocab + 2);
  for (uint32_t word : text.words)
    if (word != kBos) ++begin[word + 2];
  for (size_t w = 2; w < vocab + 2; ++w) begin[w] += begin[w - 1];
  const size_t items_count = begin[vocab + 1];
  auto items = std::make_unique_for_overwrite<Item<Key>[]>(items_count);
  {
    Key context = 0;
    const int top = bits.width * (bits.count - 1);
    for (size_t i = 0; i < positions; ++i) {
      const uint32_t word = text.words[i];
      if (word == kBos)
        context = 0;
      else
        items[begin[word + 1]++] = {context, static_cast<uint32_t>(i)};
      if (depth > 0) context = (context >> bits.width) | (static_cast<Key>(word) + 1) << top;
    }
  }

  // Segments of whole buckets, so that each can be sorted and scanned alone.
  std::vector<uint32_t> segment{0};
  const size_t share = items_count / 256 + 1;
  for (size_t w = 0; w < vocab; ++w)
    if (begin[w + 1] - begin[segment.back()] >= share || w + 1 == vocab) segment.push_back(static_cast<uint32_t>(w + 1));
  const size_t segments = segment.size() - 1;

  // each(item, common, length): `common` words with the item before, of `length` words that the sentence has, at most N.
  const auto scan = [&](size_t s, auto&& each) {
    for (uint32_t w = segment[s]; w < segment[s + 1]; ++w) {
      Key before = 0;
      for (uint32_t i = begin[w]; i < begin[w + 1]; ++i) {
        const Key key = items[i].key;
        const int common = i == begin[w] ? 0 : 1 + leading_words<Key>(key ^ before, bits);
        each(w, items[i].position, common, depth == 0 ? 1 : 1 + words_in(key, bits));
        before = key;
      }
    }
  };
  std::vector<std::array<size_t, kMaxLmOrder>> offset(segments + 1);
  parallel_for(segments, jobs, [&](size_t s, int) {
    for (uint32_t w = segment[s]; w < segment[s + 1]; ++w)
      if (depth > 0)
        std::sort(items.get() + begin[w], items.get() + begin[w + 1], [](const auto& a, const auto& b) { return a.key < b.key; });
    std::array<size_t, kMaxLmOrder> count{};
    scan(s, [&](uint32_t, uint32_t, int common, int length) {
      for (int n = common + 1; n <= length; ++n) ++count[n - 1];
    });
    offset[s + 1] = count;
  });
  for (size_t s = 1; s <= segments; ++s)
    for (int n = 0; n < order; ++n) offset[s][n] += offset[s - 1][n];
  for (int n = 1; n <= order; ++n) {
    Counted& list = counted[n - 1];
    const size_t size = n == 1 ? vocab : offset[segments][n - 1];
    if (size >= 0xffffffff) throw InputError("more than four billion n-grams. Take a smaller corpus or a lower order");
    list.word.resize(size);
    list.suffix.resize(size);
    list.adjusted.resize(size);
    list.context.resize(size);
    if (prune[n - 1] > 0) list.raw.resize(size);
  }
  // at[i * (N - 1) + n - 1]: the n-gram that ends at position i.
  auto at = std::make_unique_for_overwrite<uint32_t[]>(positions * depth);
  parallel_for(segments, jobs, [&](size_t s, int) {
    std::array<uint32_t, kMaxLmOrder> now{}, next{};
    for (int n = 0; n < order; ++n) next[n] = static_cast<uint32_t>(offset[s][n]);
    scan(s, [&](uint32_t word, uint32_t position, int common, int length) {
      now[0] = word;
      for (int n = std::max(2, common + 1); n <= length; ++n) {
        const uint32_t index = now[n - 1] = next[n - 1]++;
        Counted& list = counted[n - 1];
        list.word[index] = text.words[position - static_cast<uint32_t>(n) + 1];
        list.suffix[index] = now[n - 2];
        list.context[index] = position;
        ++counted[n - 2].adjusted[now[n - 2]];  // one more v before w_2..w_n
      }
      ++counted[length - 1].adjusted[now[length - 1]];  // n = N or w_1 = <s>: occurrences
      for (int n = 2; n <= length; ++n)
        if (prune[n - 1] > 0) ++counted[n - 1].raw[now[n - 1]];
      const size_t row = position * depth;
      for (int n = 1; n <= std::min(length, order - 1); ++n) at[row + static_cast<size_t>(n) - 1] = now[n - 1];
    });
  });
  items.reset();
  for (size_t i = 0; depth > 0 && i < positions; ++i)
    if (text.words[i] == kBos) at[i * depth] = kBos;
  for (uint32_t w = 0; w < vocab; ++w) counted[0].word[w] = w;
  parallel_for(depth, jobs, [&](size_t k, int) {  // order k + 2
    for (uint32_t& place : counted[k + 1].context) place = at[(place - 1ULL) * depth + k];
  });
  return counted;
}

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

}  // namespace

BackoffModel estimate(LmText&& text, const LmEstimateOptions& options, std::vector<LmDiscounts>* discounts_out) {
  const int order = options.order, jobs = options.jobs;
  if (order < 1 || order > kMaxLmOrder)
    throw InputError("the order of a language model is 1 to " + std::to_string(kMaxLmOrder) + ", not " + std::to_string(order));
  std::vector<uint64_t> prune = options.prune;
  if (prune.size() > static_cast<size_t>(order))
    throw InputError("more pruning thresholds than orders. Give at most one an order");
  prune.resize(static_cast<size_t>(order), prune.empty() ? 0 : prune.back());
  if (prune[0] != 0) throw InputError("unigrams cannot be pruned: the first threshold must be 0");
  if (!std::is_sorted(prune.begin(), prune.end()))
    throw InputError("pruning thresholds must not fall from one order to the next");
  for (int k = 1; k <= 3; ++k)
    if (!(options.fallback_discounts[k - 1] > 0 && options.fallback_discounts[k - 1] <= k))
      throw InputError("the fall-back discount for count " + std::to_string(k) + " must be above 0 and at most " +
                       std::to_string(k));
  if (text.sentences == 0) throw InputError("no text to estimate a language model from. Give at least one line");
  if (text.words.size() >= 0xffffffff) throw InputError("more than four billion words. Take a part of the corpus");
  const auto width = static_cast<int>(std::bit_width(static_cast<size_t>(text.vocab->size())));
  if (width * (order - 1) > 128)
    throw InputError("too many distinct words for this order. Lower the order or replace rare words by <unk>");

  auto counted = width * (order - 1) <= 64 ? count_ngrams<uint64_t>(text, order, prune, jobs)
                                           : count_ngrams<unsigned __int128>(text, order, prune, jobs);
  text.words = {};

  const auto n_orders = static_cast<size_t>(order);
  std::vector<LmDiscounts> discounts(n_orders);
  std::vector<std::vector<Sums>> sums(n_orders);  // sums[n - 1][context] for n-grams
  parallel_for(n_orders, jobs, [&](size_t k, int) {
    const Counted& list = counted[k];
    discounts[k] = discounts_of(list, options.fallback_discounts);
    sums[k].resize(k == 0 ? 1 : counted[k - 1].word.size());
    for (size_t i = 0; i < list.adjusted.size(); ++i)
      sums[k][list.context[i]].add(list.adjusted[i], list.raw.empty() || list.raw[i] > prune[k]);
  });
  if (discounts_out) *discounts_out = discounts;

  BackoffModel model;
  model.vocab = std::move(text.vocab);
  model.lists.resize(n_orders);
  const double uniform = 1.0 / (model.vocab->size() - 1);  // without <s>
  std::vector<double> p, lower;                            // p(w_n | w_1..w_{n-1}) of this order and of the one below
  std::vector<uint32_t> index, lower_index;                // where a kept n-gram goes
  for (size_t k = 0; k < n_orders; ++k) {
    Counted& list = counted[k];
    const size_t size = list.word.size();
    std::vector<double> b(sums[k].size());
    in_blocks(b.size(), jobs, [&](size_t c) { b[c] = sums[k][c].total ? sums[k][c].backoff(discounts[k]) : 1.0; });
    if (k > 0) {  // the back-off weights of the order below
      std::vector<bool> extends(b.size());
      for (size_t i = 0; i < size; ++i)
        if (list.raw.empty() || list.raw[i] > prune[k]) extends[list.context[i]] = true;
      NgramList& below = model.lists[k - 1];
      below.backoff.resize(below.size());
      in_blocks(b.size(), jobs, [&](size_t c) {
        if (!lower_index.empty() && lower_index[c] == kDropped) return;
        below.backoff[lower_index.empty() ? c : lower_index[c]] = extends[c] ? log10_of(b[c]) + 0.0f : kNoExtension;
      });
    }
    p.resize(size);
    in_blocks(size, jobs, [&](size_t i) {
      const Sums& s = sums[k][list.context[i]];
      const uint32_t a = list.adjusted[i];
      const double u = s.total ? (a - discount(discounts[k], a)) / s.total : 0.0;
      p[i] = u + b[list.context[i]] * (k == 0 ? uniform : lower[list.suffix[i]]);
    });
    index.clear();
    if (!list.raw.empty()) {
      index.resize(size);
      uint32_t kept = 0;
      for (size_t i = 0; i < size; ++i) index[i] = list.raw[i] > prune[k] ? kept++ : kDropped;
      // The suffix of an n-gram is at least as frequent, and its threshold is no higher: it is kept as well.
      for (size_t i = 0; i < size; ++i) {
        if (index[i] == kDropped) continue;
        list.word[index[i]] = list.word[i];
        list.suffix[index[i]] = lower_index.empty() ? list.suffix[i] : lower_index[list.suffix[i]];
      }
      list.word.resize(kept);
      list.suffix.resize(kept);
    }
    NgramList& result = model.lists[k];
    result.word = std::move(list.word);
    result.suffix = std::move(list.suffix);
    result.prob.resize(result.word.size());
    in_blocks(size, jobs, [&](size_t i) {
      if (index.empty())
        result.prob[i] = log10_of(p[i]);
      else if (index[i] != kDropped)
        result.prob[index[i]] = log10_of(p[i]);
    });
    if (k == 0) result.prob[kBos] = kNeverPredicted;
    list = {};
    sums[k] = {};
    lower.swap(p);
    lower_index.swap(index);
  }
  return model;
}

}  // namespace hopefear
