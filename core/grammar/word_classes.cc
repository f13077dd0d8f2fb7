#include "grammar/word_classes.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace hopefear {
namespace {

/// f(n) = n log n in units of 2^-20.
class EntropyTerm {
 public:
  EntropyTerm() : small_(kSmall) {
    for (size_t n = 0; n < kSmall; ++n) small_[n] = compute(static_cast<int64_t>(n));
  }
  int64_t operator()(int64_t n) const { return n < static_cast<int64_t>(kSmall) ? small_[n] : compute(n); }

 private:
  static constexpr size_t kSmall = size_t{1} << 16;
  static int64_t compute(int64_t n) {
    if (n == 0) return 0;
    const auto x = static_cast<double>(n);
    return static_cast<int64_t>(std::floor(x * std::log(x) * 1048576.0 + 0.5));
  }
  std::vector<int64_t> small_;
};

/// The words next to each word, with the number of times.
struct Neighbours {
  struct One {
    int32_t word, count;
  };
  std::vector<int64_t> begin;
  std::vector<One> all;

  std::span<const One> of(int32_t word) const {
    return {all.data() + begin[word], static_cast<size_t>(begin[word + 1] - begin[word])};
  }
};

/// Out of sorted keys: a word, and in the lower half one of its neighbours.
Neighbours neighbours(std::vector<uint64_t>& keys, int32_t words) {
  std::sort(keys.begin(), keys.end());
  Neighbours made;
  made.begin.assign(static_cast<size_t>(words) + 1, 0);
  for (size_t i = 0, j; i < keys.size(); i = j) {
    for (j = i; j < keys.size() && keys[j] == keys[i];) ++j;
    made.all.push_back({static_cast<int32_t>(keys[i] & 0xffffffffU), static_cast<int32_t>(j - i)});
    ++made.begin[(keys[i] >> 32) + 1];
  }
  std::partial_sum(made.begin.begin(), made.begin.end(), made.begin.begin());
  return made;
}

class Exchange {
 public:
  Exchange(std::span<const int32_t> words, std::span<const int64_t> begin, int32_t types, int32_t classes)
      : classes_(classes), width_(classes + 1), count_(static_cast<size_t>(types) + 1, 0) {
    std::vector<uint64_t> keys, reversed;
    keys.reserve(words.size() + begin.size());
    const auto add = [&](int32_t v, int32_t w) {
      keys.push_back(static_cast<uint64_t>(v) << 32 | static_cast<uint32_t>(w));
      ++count_[w];
    };
    for (size_t i = 0; i + 1 < begin.size(); ++i) {
      int32_t last = types;  // the boundary
      for (int64_t k = begin[i]; k < begin[i + 1]; ++k) add(last, words[k]), last = words[k];
      add(last, types);
    }
    for (const uint64_t key : keys) reversed.push_back(key << 32 | key >> 32);
    after_ = neighbours(keys, types + 1);
    before_ = neighbours(reversed, types + 1);
    for (int32_t w = 0; w < types; ++w)
      if (count_[w]) order_.push_back(w);
    std::stable_sort(order_.begin(), order_.end(), [&](int32_t a, int32_t b) { return count_[a] > count_[b]; });
    class_.assign(static_cast<size_t>(types) + 1, -1);
    for (size_t n = 0; n < order_.size(); ++n) class_[order_[n]] = static_cast<int32_t>(n % classes_);
    class_[types] = classes_;
    bigrams_.assign(static_cast<size_t>(width_) * width_, 0);
    reversed_ = bigrams_;
    total_.assign(width_, 0);
    for (int32_t v = 0; v <= types; ++v) {
      if (class_[v] >= 0) total_[class_[v]] += count_[v];
      for (const auto& [w, n] : after_.of(v)) change(class_[v], class_[w], n);
    }
    left_.counts.assign(width_, 0);
    right_.counts.assign(width_, 0);
    gain_.resize(classes_);
  }

  std::vector<int32_t> run(int rounds) {
    for (bool moved = true; moved && rounds > 0; --rounds) {
      moved = false;
      for (const int32_t w : order_) moved |= exchange(w);
    }
    class_.pop_back();
    return std::move(class_);
  }

 private:
  /// Neighbours on one side of a word by their classes, the word itself aside.
  struct Side {
    std::vector<int64_t> counts;
    std::vector<int32_t> classes;
  };

  void change(int32_t c, int32_t d, int64_t n) {
    bigrams_[static_cast<size_t>(c) * width_ + d] += n;
    reversed_[static_cast<size_t>(d) * width_ + c] += n;
  }

  int64_t gather(int32_t word, const Neighbours& neighbours, Side& side) const {
    for (const int32_t c : side.classes) side.counts[c] = 0;
    side.classes.clear();
    int64_t self = 0;
    for (const auto& [v, n] : neighbours.of(word)) {
      if (v == word) {
        self = n;
        continue;
      }
      if (side.counts[class_[v]] == 0) side.classes.push_back(class_[v]);
      side.counts[class_[v]] += n;
    }
    return self;
  }

  /// Adds (or with sign -1 takes) the word at hand to the counts of a class.
  void place(int32_t c, int64_t count, int64_t self, int64_t sign) {
    for (const int32_t g : left_.classes) change(g, c, sign * left_.counts[g]);
    for (const int32_t g : right_.classes) change(c, g, sign * right_.counts[g]);
    change(c, c, sign * self);
    total_[c] += sign * count;
  }

  /// What f of the bigrams of classes gains, for every class that the word may go to, but for bigrams of a class with itself.
  void add_gains(const Side& side, const std::vector<int64_t>& bigrams) {
    for (const int32_t g : side.classes) {
      const int64_t* row = bigrams.data() + static_cast<size_t>(g) * width_;
      const int64_t n = side.counts[g];
      const int64_t diagonal = g < classes_ ? gain_[g] : 0;
      for (int32_t c = 0; c < classes_; ++c) gain_[c] += f_(row[c] + n) - f_(row[c]);
      if (g < classes_) gain_[g] = diagonal;
    }
  }

  bool exchange(int32_t word) {
    const int32_t old = class_[word];
    const int64_t count = count_[word], self = gather(word, before_, left_);
    gather(word, after_, right_);
    place(old, count, self, -1);
    for (int32_t c = 0; c < classes_; ++c) {
      const int64_t same = bigrams_[static_cast<size_t>(c) * width_ + c];
      gain_[c] = f_(same + left_.counts[c] + right_.counts[c] + self) - f_(same) - 2 * (f_(total_[c] + count) - f_(total_[c]));
    }
    add_gains(left_, bigrams_);
    add_gains(right_, reversed_);
    const auto best = static_cast<int32_t>(std::max_element(gain_.begin(), gain_.end()) - gain_.begin());
    class_[word] = gain_[best] > gain_[old] ? best : old;
    place(class_[word], count, self, 1);
    return class_[word] != old;
  }

  const EntropyTerm f_;
  int32_t classes_, width_;
  std::vector<int64_t> count_;  // by word; the last is the boundary
  Neighbours after_, before_;
  std::vector<int32_t> order_, class_;
  std::vector<int64_t> bigrams_, reversed_, total_;  // by classes (c, d), by (d, c), by class
  Side left_, right_;
  std::vector<int64_t> gain_;
};

}  // namespace

std::vector<int32_t> word_classes(std::span<const int32_t> words, std::span<const int64_t> begin, int32_t types, int32_t classes,
                                  int rounds) {
  return Exchange(words, begin, types, classes).run(rounds);
}

}  // namespace hopefear
