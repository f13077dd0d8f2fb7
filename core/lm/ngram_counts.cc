#include "lm/ngram_counts.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <utility>

#include "util/error.h"
#include "util/parallel.h"

namespace hopefear {
namespace {

constexpr const char* kTooMany = "more than four billion n-grams. Take a smaller corpus or a lower order";

/// Packs the words before an occurrence into a key, the nearest in the highest bits; 0 where the sentence has no more.
struct Packing {
  int width;  // of a word's code, which is id + 1
  int count;  // of words in a key: N - 1

  explicit Packing(const NgramSpec& spec) : width(static_cast<int>(std::bit_width(spec.vocab))), count(spec.order - 1) {}

  template <class Key>
  Key push(Key key, uint32_t word) const {
    return count == 0 ? 0 : (key >> width) | (static_cast<Key>(word) + 1) << (width * (count - 1));
  }

  /// The k-th word before, from 1.
  template <class Key>
  uint32_t word(Key key, int k) const {
    return (static_cast<uint32_t>(key >> (width * (count - k))) & ((uint32_t{1} << width) - 1)) - 1;
  }

  /// How many words two keys have in common, from the highest bits on.
  template <class Key>
  int common(Key a, Key b) const {
    const Key difference = a ^ b;
    if (difference == 0) return count;
    int zeros;
    if constexpr (sizeof(Key) == 8) {
      zeros = std::countl_zero(difference);
    } else {
      const auto high = static_cast<uint64_t>(difference >> 64);
      zeros = high ? std::countl_zero(high) : 64 + std::countl_zero(static_cast<uint64_t>(difference));
    }
    return (zeros - (static_cast<int>(sizeof(Key)) * 8 - width * count)) / width;
  }

  /// How many words a key has; <s> at least.
  template <class Key>
  int words(Key key) const {
    if (count == 0) return 0;
    const auto low = static_cast<uint64_t>(key);
    int zeros;
    if constexpr (sizeof(Key) == 8)
      zeros = std::countr_zero(low);
    else
      zeros = low ? std::countr_zero(low) : 64 + std::countr_zero(static_cast<uint64_t>(key >> 64));
    return count - zeros / width;
  }
};

/// The occurrences of some words: those of word `first + i` are keys[begin[i] .. begin[i + 1]), sorted.
template <class Key>
struct Occurrences {
  uint32_t first = 0;
  std::vector<uint32_t> begin;
  std::shared_ptr<Key[]> keys;
  std::vector<uint32_t> counts;  // of each key; empty: 1

  size_t words() const { return begin.size() - 1; }
};

/// All words of a text; not sorted yet.
template <class Key>
Occurrences<Key> occurrences(std::span<const uint32_t> words, const NgramSpec& spec) {
  const Packing packing(spec);
  Occurrences<Key> occurrences;
  auto& begin = occurrences.begin;
  begin.resize(spec.vocab + 2);
  for (uint32_t word : words)
    if (word != kBos) ++begin[word + 2];
  for (size_t w = 2; w < begin.size(); ++w) begin[w] += begin[w - 1];
  occurrences.keys = kept_array<Key>(begin.back());
  Key context = 0;
  for (uint32_t word : words) {
    if (word == kBos)
      context = 0;
    else
      occurrences.keys[begin[word + 1]++] = context;
    context = packing.push(context, word);
  }
  begin.pop_back();
  return occurrences;
}

/// Makes lists of n-grams from occurrences, in independent segments of whole words.
template <class Key>
class Lister {
 public:
  Lister(Occurrences<Key>&& seen, const NgramSpec& spec, int jobs)
      : seen_(std::move(seen)), spec_(spec), packing_(spec), jobs_(jobs) {}

  CountedOrders run(bool sorted) {
    cut_segments();
    parallel_for(segment_.size() - 1, jobs_, [&](size_t s, int) {
      if (!sorted) sort(s);
      count(s);
    });
    make_room();
    parallel_for(segment_.size() - 1, jobs_, [&](size_t s, int) { write(s); });
    return std::move(lists_);
  }

 private:
  void cut_segments() {
    const size_t share = seen_.begin.back() / 256 + 1;
    for (size_t w = 0; w < seen_.words(); ++w)
      if (seen_.begin[w + 1] - seen_.begin[segment_.back()] >= share || w + 1 == seen_.words()) segment_.push_back(w + 1);
    offset_.resize(segment_.size());
  }

  void sort(size_t s) {
    for (size_t w = segment_[s]; spec_.order > 1 && w < segment_[s + 1]; ++w)
      std::sort(seen_.keys.get() + seen_.begin[w], seen_.keys.get() + seen_.begin[w + 1]);
  }

  /// each(w, key, count, common, length): `common` words with the one before, of `length` words that the sentence has, at most N.
  template <class Each>
  void scan(size_t s, Each&& each) const {
    for (size_t w = segment_[s]; w < segment_[s + 1]; ++w) {
      Key before = 0;
      for (uint32_t i = seen_.begin[w]; i < seen_.begin[w + 1]; ++i) {
        const Key key = seen_.keys[i];
        const int common = i == seen_.begin[w] ? 0 : 1 + packing_.common(key, before);
        each(w, key, seen_.counts.empty() ? 1 : seen_.counts[i], common, 1 + packing_.words(key));
        before = key;
      }
    }
  }

  void count(size_t s) {
    std::array<size_t, kMaxLmOrder> count{};
    scan(s, [&](size_t, Key, uint32_t, int common, int length) {
      for (int n = common + 1; n <= length; ++n) ++count[n - 1];
    });
    offset_[s + 1] = count;
  }

  void make_room() {
    for (size_t s = 1; s < offset_.size(); ++s)
      for (int n = 0; n < spec_.order; ++n) offset_[s][n] += offset_[s - 1][n];
    lists_.resize(spec_.order);
    for (int n = 1; n <= spec_.order; ++n) {
      Counted& list = lists_[n - 1];
      const size_t size = n == 1 ? seen_.words() : offset_.back()[n - 1];
      if (size >= 0xffffffff) throw InputError(kTooMany);
      list.word.resize(size);
      list.suffix.resize(size);
      list.adjusted.resize(size);
      if (spec_.needs_raw(n)) list.raw.resize(size);
    }
    for (size_t w = 0; w < seen_.words(); ++w) lists_[0].word[w] = static_cast<uint32_t>(seen_.first + w);
  }

  void write(size_t s) {
    std::array<uint32_t, kMaxLmOrder> now{}, next{};
    for (int n = 0; n < spec_.order; ++n) next[n] = static_cast<uint32_t>(offset_[s][n]);
    scan(s, [&](size_t w, Key key, uint32_t count, int common, int length) {
      now[0] = static_cast<uint32_t>(w);
      for (int n = std::max(2, common + 1); n <= length; ++n) {
        const uint32_t index = now[n - 1] = next[n - 1]++;
        lists_[n - 1].word[index] = packing_.word(key, n - 1);
        lists_[n - 1].suffix[index] = now[n - 2];
        ++lists_[n - 2].adjusted[now[n - 2]];  // one more v before w_2..w_n
      }
      lists_[length - 1].adjusted[now[length - 1]] += count;  // n = N or w_1 = <s>: occurrences
      for (int n = 1; n <= length; ++n)
        if (spec_.needs_raw(n)) lists_[n - 1].raw[now[n - 1]] += count;
    });
  }

  Occurrences<Key> seen_;
  const NgramSpec& spec_;
  const Packing packing_;
  const int jobs_;
  std::vector<size_t> segment_{0};                       // the first word of each
  std::vector<std::array<size_t, kMaxLmOrder>> offset_;  // of the lists of each segment
  CountedOrders lists_;
};

/// work.operator()<Key>() with keys that are wide enough.
template <class Work>
auto with_keys(const NgramSpec& spec, Work&& work) {
  const Packing packing(spec);
  const int bits = packing.width * packing.count;
  if (bits > 128) throw InputError("too many distinct words for this order. Lower the order or replace rare words by <unk>");
  return bits <= 64 ? work.template operator()<uint64_t>() : work.template operator()<unsigned __int128>();
}

class ByteWriter {
 public:
  template <class T>
  void put(const T* values, size_t count) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(values);
    written.insert(written.end(), bytes, bytes + count * sizeof(T));
  }
  std::vector<uint8_t> written;
};

class ByteReader {
 public:
  explicit ByteReader(std::span<const uint8_t> bytes) : left_(bytes) {}
  template <class T>
  void take(T* values, size_t count) {
    if (count == 0) return;
    if (left_.size() / sizeof(T) < count) throw InputError("counts of n-grams are cut short");
    std::memcpy(values, left_.data(), count * sizeof(T));
    left_ = left_.subspan(count * sizeof(T));
  }
  template <class T>
  std::vector<T> take(size_t count) {
    std::vector<T> values(count);
    take(values.data(), count);
    return values;
  }

 private:
  std::span<const uint8_t> left_;
};

/// Merges equal neighbours, with their number or the sum of their counts.
template <class Key, class Each>
void runs(size_t size, Each&& each, std::vector<Key>& keys, std::vector<uint32_t>& counts) {
  const size_t first = keys.size();
  for (size_t i = 0; i < size; ++i) {
    const auto [key, count] = each(i);
    if (keys.size() > first && keys.back() == key) {
      counts.back() += count;
    } else {
      keys.push_back(key);
      counts.push_back(count);
    }
  }
}

template <class Key>
std::vector<std::vector<uint8_t>> slice_of(std::span<const uint32_t> words, const NgramSpec& spec,
                                           const std::vector<uint32_t>& cuts) {
  const Occurrences<Key> seen = occurrences<Key>(words, spec);
  std::vector<std::vector<uint8_t>> parts;
  for (size_t r = 0; r + 1 < cuts.size(); ++r) {
    std::vector<uint32_t> sizes, counts;
    std::vector<Key> keys;
    for (uint32_t w = cuts[r]; w < cuts[r + 1]; ++w) {
      const size_t before = keys.size();
      Key* const begin = seen.keys.get() + seen.begin[w];
      std::sort(begin, seen.keys.get() + seen.begin[w + 1]);
      runs(seen.begin[w + 1] - seen.begin[w], [&](size_t i) { return std::pair(begin[i], uint32_t{1}); }, keys, counts);
      sizes.push_back(static_cast<uint32_t>(keys.size() - before));
    }
    ByteWriter out;
    out.put(sizes.data(), sizes.size());
    out.put(counts.data(), counts.size());
    out.put(keys.data(), keys.size());
    parts.push_back(std::move(out.written));
  }
  return parts;
}

/// A slice's counts of a range.
template <class Key>
struct Slice {
  std::vector<uint32_t> sizes, counts;
  std::vector<Key> keys;
  size_t at = 0;

  Slice(std::span<const uint8_t> bytes, size_t words) {
    ByteReader in(bytes);
    sizes = in.take<uint32_t>(words);
    size_t total = 0;
    for (uint32_t size : sizes) total += size;
    counts = in.take<uint32_t>(total);
    keys = in.take<Key>(total);
  }
};

template <class Key>
Occurrences<Key> merged(const std::vector<std::span<const uint8_t>>& slices, uint32_t first, uint32_t last) {
  std::vector<Slice<Key>> parts;
  for (const auto& bytes : slices) parts.emplace_back(bytes, last - first);
  Occurrences<Key> occurrences;
  occurrences.first = first;
  occurrences.begin.push_back(0);
  std::vector<Key> keys;
  std::vector<std::pair<Key, uint32_t>> all;
  for (uint32_t w = 0; w < last - first; ++w) {
    all.clear();
    for (auto& part : parts)
      for (const size_t end = part.at + part.sizes[w]; part.at < end; ++part.at)
        all.emplace_back(part.keys[part.at], part.counts[part.at]);
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    runs(all.size(), [&](size_t i) { return all[i]; }, keys, occurrences.counts);
    occurrences.begin.push_back(static_cast<uint32_t>(keys.size()));
  }
  occurrences.keys = std::shared_ptr<Key[]>(new Key[keys.size()]);
  std::copy(keys.begin(), keys.end(), occurrences.keys.get());
  return occurrences;
}

}  // namespace

CountedOrders count_ngrams(std::span<const uint32_t> words, const NgramSpec& spec, int jobs) {
  return with_keys(spec, [&]<class Key>() { return Lister<Key>(occurrences<Key>(words, spec), spec, jobs).run(false); });
}

std::vector<uint32_t> ngram_ranges(std::span<const uint32_t> words, uint32_t vocab, size_t count) {
  std::vector<uint64_t> occurs(vocab);
  for (uint32_t word : words) ++occurs[word];
  const uint64_t share = words.size() / count + 1;
  std::vector<uint32_t> cuts{0};
  uint64_t sum = 0;
  for (uint32_t w = 0; w < vocab; ++w) {
    sum += occurs[w];
    if (sum >= share || w + 1 == vocab) {
      cuts.push_back(w + 1);
      sum = 0;
    }
  }
  return cuts;
}

std::vector<std::vector<uint8_t>> count_slice(std::span<const uint32_t> words, const NgramSpec& spec,
                                              const std::vector<uint32_t>& cuts) {
  return with_keys(spec, [&]<class Key>() { return slice_of<Key>(words, spec, cuts); });
}

std::vector<uint8_t> merge_slices(const std::vector<std::span<const uint8_t>>& slices, const NgramSpec& spec, uint32_t first,
                                  uint32_t last) {
  const CountedOrders lists =
      with_keys(spec, [&]<class Key>() { return Lister<Key>(merged<Key>(slices, first, last), spec, 1).run(true); });
  ByteWriter out;
  for (const Counted& list : lists) {
    const uint64_t size = list.word.size();
    out.put(&size, 1);
  }
  for (const Counted& list : lists)
    for (const auto* each : {&list.word, &list.suffix, &list.adjusted, &list.raw}) out.put(each->data(), each->size());
  return std::move(out.written);
}

CountedOrders join_ranges(const std::vector<std::span<const uint8_t>>& ranges, const NgramSpec& spec) {
  CountedOrders lists(spec.order);
  std::vector<uint64_t> total(spec.order), done(spec.order);
  for (const auto& bytes : ranges) {
    const auto sizes = ByteReader(bytes).take<uint64_t>(spec.order);
    for (int n = 0; n < spec.order; ++n) total[n] += sizes[n];
  }
  for (int n = 0; n < spec.order; ++n) {
    if (total[n] >= 0xffffffff) throw InputError(kTooMany);
    lists[n].word.resize(total[n]);
    lists[n].suffix.resize(total[n]);
    lists[n].adjusted.resize(total[n]);
    if (spec.needs_raw(n + 1)) lists[n].raw.resize(total[n]);
  }
  for (const auto& bytes : ranges) {
    ByteReader in(bytes);
    const auto sizes = in.take<uint64_t>(spec.order);
    uint64_t below = 0;  // where the suffixes of this range begin
    for (int n = 0; n < spec.order; ++n) {
      const uint64_t begin = std::exchange(done[n], done[n] + sizes[n]);
      for (auto* each : {&lists[n].word, &lists[n].suffix, &lists[n].adjusted, &lists[n].raw})
        if (!each->empty()) in.take(each->data() + begin, sizes[n]);
      for (uint64_t i = begin; n > 0 && i < done[n]; ++i) lists[n].suffix[i] += static_cast<uint32_t>(below);
      below = begin;
    }
  }
  return lists;
}

std::vector<KeptVector<uint32_t>> find_contexts(const CountedOrders& counted, int jobs) {
  constexpr size_t kShare = 1 << 14;
  std::vector<KeptVector<uint32_t>> contexts(counted.size());
  for (size_t k = 0; k < counted.size(); ++k) {  // order k + 1
    const Counted& list = counted[k];
    contexts[k].resize(list.word.size());
    if (k == 1) std::copy(list.word.begin(), list.word.end(), contexts[1].begin());
    if (k < 2) continue;
    // The context of w_1..w_n is the one of w_2..w_n with w_1 before it: extensions stand together, sorted by their first word.
    const Counted& below = counted[k - 1];
    KeptVector<uint32_t> begin(counted[k - 2].word.size() + 1);
    for (uint32_t suffix : below.suffix) ++begin[suffix + 1];
    for (size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
    parallel_for((list.word.size() + kShare - 1) / kShare, jobs, [&](size_t block, int) {
      uint32_t at = 0;
      for (size_t i = block * kShare; i < std::min(list.word.size(), (block + 1) * kShare); ++i) {
        const uint32_t context = contexts[k - 1][list.suffix[i]];
        if (i == block * kShare || list.suffix[i] != list.suffix[i - 1])
          at = begin[context];  // otherwise it is after the last one
        const auto found = std::lower_bound(below.word.begin() + at, below.word.begin() + begin[context + 1], list.word[i]);
        contexts[k][i] = at = static_cast<uint32_t>(found - below.word.begin());
      }
    });
  }
  return contexts;
}

}  // namespace hopefear
