// Word-aligned parallel text as flat arrays, and the symmetrisation of two directed alignments.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "util/error.h"
#include "util/vocab.h"

namespace hopefear {

/// A word alignment point: source word s and target word t (both counted from 0).
struct Link {
  uint16_t s, t;
  friend auto operator<=>(const Link&, const Link&) = default;
};

class ParallelText {
 public:
  static constexpr size_t kMaxWords = 4000;  // bounds the matrix of symmetrisation

  ParallelText() : source_vocab(std::make_shared<Vocab>()), target_vocab(std::make_shared<Vocab>()) { look(); }

  std::shared_ptr<Vocab> source_vocab, target_vocab;

  /// The arrays of a text. Pair n has the source words source[source_begin[n] .. source_begin[n + 1]), and so on.
  struct View {
    std::span<const int32_t> source, target;
    std::span<const Link> links;
    std::span<const int64_t> source_begin, target_begin, link_begin;
  };
  /// A text over arrays that outlive it, with the numbers of distinct words; its vocabularies are empty.
  ParallelText(const View& view, int32_t source_types, int32_t target_types);
  ParallelText(const ParallelText&) = delete;
  ParallelText& operator=(const ParallelText&) = delete;

  /// The words' ids are below these.
  int32_t source_types() const { return std::max(types_[0], source_vocab->size()); }
  int32_t target_types() const { return std::max(types_[1], target_vocab->size()); }

  size_t size() const { return view_.source_begin.size() - 1; }
  /// Words are separated by blanks. The caller ensures that no side has more than kMaxWords words.
  void add(std::string_view source, std::string_view target);

  std::span<const int32_t> source(size_t n) const { return slice(view_.source, view_.source_begin, n); }
  std::span<const int32_t> target(size_t n) const { return slice(view_.target, view_.target_begin, n); }
  /// The links of a pair, sorted by (s, t), each once. None before links are set.
  std::span<const Link> links(size_t n) const {
    return view_.link_begin.size() <= n + 1 ? std::span<const Link>{} : slice(view_.links, view_.link_begin, n);
  }
  /// Prefetches for random access to pair n: first its offsets, a little later its words and links.
  void prefetch_place(size_t n) const {
    __builtin_prefetch(&view_.source_begin[n]), __builtin_prefetch(&view_.target_begin[n]);
    __builtin_prefetch(&view_.link_begin[n]);
  }
  void prefetch_words(size_t n, size_t s, size_t t) const {
    __builtin_prefetch(view_.source.data() + view_.source_begin[n] + static_cast<int64_t>(s));
    __builtin_prefetch(view_.target.data() + view_.target_begin[n] + static_cast<int64_t>(t));
    __builtin_prefetch(view_.links.data() + view_.link_begin[n]);
  }
  size_t source_words() const { return view_.source.size(); }
  size_t target_words() const { return view_.target.size(); }
  size_t link_count() const { return view_.links.size(); }
  const View& view() const { return view_; }

  /// grow-diag-final-and of two directed alignments. `forward` gives each target word (all pairs concatenated) its source
  /// word, `backward` each source word its target word; -1 is no word.
  void symmetrize(std::span<const int32_t> forward, std::span<const int32_t> backward, int jobs);

  /// The links of a pair as "0-0 1-2".
  std::string pharaoh(size_t n) const;

  /// The links of the next pair: call once per pair, in order. "0-0 1-2"; error messages start with `where` and `line`.
  void add_pharaoh(std::string_view text, const std::string& where, long line);
  /// The same from numbers, s0 t0 s1 t1 ...
  void add_links(std::span<const int32_t> flat);
  void clear_links();
  bool aligned() const { return view_.link_begin.size() == view_.source_begin.size(); }

 private:
  template <class T>
  static std::span<const T> slice(std::span<const T> values, std::span<const int64_t> begin, size_t n) {
    return {values.data() + begin[n], static_cast<size_t>(begin[n + 1] - begin[n])};
  }
  void finish_pair(std::vector<Link>& links);
  void look() { view_ = {source_, target_, links_, source_begin_, target_begin_, link_begin_}; }

  std::vector<int32_t> source_, target_;
  std::vector<Link> links_;
  std::vector<int64_t> source_begin_{0}, target_begin_{0}, link_begin_{0};
  View view_;  // of these, or of arrays elsewhere
  int32_t types_[2] = {0, 0};
};

/// grow-diag-final-and (Koehn, Och and Marcu 2003; the "and" of Koehn et al. 2005) for one pair of n and m words, in the
/// order of the published pseudo-code, on which the result depends. forward has m entries, backward n; -1 is no word.
std::vector<Link> grow_diag_final_and(int n, int m, std::span<const int32_t> forward, std::span<const int32_t> backward);

}  // namespace hopefear
