// The state that a partial translation needs so that its k-grams can be counted edge by edge (Chiang 2012, section 5.1).
//
// The n-grams of the references are the states of an automaton: after any words, its state is the longest suffix that is an
// n-gram of a reference, and the order of that state says how many of the n-grams that end here match: one of each order up
// to it. So of the K - 1 words at either end of a partial translation it is enough to keep
//   left    the longest prefix that a reference has with a word before it, at most K - 1 words
//   right   the longest suffix that a reference has with a word after it, at most K - 1 words
// and the length. No other words can ever take part in a match. Matches are not clipped, eq. (18).
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "metrics/metric.h"
#include "metrics/ngrams.h"

namespace hopefear {

class BoundaryAutomaton {
 public:
  static constexpr int32_t kRoot = ReferenceNgrams::kRoot;

  /// Of at least one reference.
  BoundaryAutomaton(const References& references, int max_order) : K_(max_order), ngrams_(references, max_order) {
    const size_t states = ngrams_.size();
    suffix_.assign(states, kRoot);
    words_.assign(states * K_, 0);
    std::vector<int32_t> here, after;  // states of the n-grams that start at i and at i + 1, by order
    for (const auto& reference : references) {
      after.assign(1, kRoot);
      for (size_t i = reference.size(); i-- > 0;) {
        here.assign(1, kRoot);
        for (int k = 1; k <= K_ && i + k <= reference.size(); ++k) {
          const int32_t state = ngrams_.child(here[k - 1], reference[i + k - 1]);
          here.push_back(state);
          suffix_[state] = after[k - 1];
          std::copy_n(reference.begin() + static_cast<ptrdiff_t>(i), k, words_.begin() + static_cast<ptrdiff_t>(state) * K_);
        }
        here.swap(after);
      }
    }
    grows_left_.assign(states, 0);
    grows_right_.assign(states, 0);
    for (size_t state = 1; state < states; ++state) {
      grows_left_[suffix_[state]] = 1;
      const auto words = this->words(static_cast<int32_t>(state));
      int32_t prefix = kRoot;
      for (size_t i = 0; i + 1 < words.size(); ++i) prefix = ngrams_.child(prefix, words[i]);
      grows_right_[prefix] = 1;
    }
    double sum = 0.0;
    for (int32_t length : ngrams_.lengths()) sum += length;
    average_length_ = ngrams_.lengths().empty() ? 0.0 : sum / static_cast<double>(ngrams_.lengths().size());
  }

  int max_order() const { return K_; }
  const ReferenceNgrams& ngrams() const { return ngrams_; }
  double average_length() const { return average_length_; }
  int32_t order(int32_t state) const { return ngrams_.order(state); }
  /// The words of the n-gram of a state.
  std::span<const int32_t> words(int32_t state) const {
    return {words_.data() + static_cast<size_t>(state) * size_t(K_), static_cast<size_t>(order(state))};
  }
  int32_t child(int32_t state, int32_t word) const { return ngrams_.child(state, word); }
  int32_t suffix(int32_t state) const { return suffix_[state]; }
  /// Whether an n-gram of a reference, of order K at most, is this one with a word before or after it.
  bool grows_left(int32_t state) const { return grows_left_[state]; }
  bool grows_right(int32_t state) const { return grows_right_[state]; }
  int32_t step(int32_t state, int32_t word) const {
    for (;;) {
      const int32_t next = ngrams_.child(state, word);
      if (next >= 0) return next;
      if (state == kRoot) return kRoot;
      state = suffix(state);
    }
  }

 private:
  int K_;
  ReferenceNgrams ngrams_;
  std::vector<int32_t> suffix_;
  std::vector<int32_t> words_;  // K of each state
  std::vector<uint8_t> grows_left_, grows_right_;
  double average_length_ = 0.0;
};

/// The state of a partial translation.
struct Boundary {
  double length = 0.0;
  int32_t left = BoundaryAutomaton::kRoot, right = BoundaryAutomaton::kRoot;
};

/// Joins words and partial translations from left to right and finds the matches that cross their borders:
/// found(state, first) for the n-grams that end with `state`, those of order `first` and more that are its suffixes.
template <class Found>
class BoundaryJoinTo {
 public:
  BoundaryJoinTo(const BoundaryAutomaton& automaton, Found found) : automaton_(automaton), found_(found) {}

  void add(int32_t word) {
    state_.right = automaton_.step(state_.right, word);
    found_(state_.right, 1);
    shorten();
    if (open_) extend(word);
    state_.length += 1.0;
  }

  void add(const Boundary& part) {
    if (part.length == 0.0) return;
    const auto prefix = automaton_.words(part.left);
    const bool whole = static_cast<double>(prefix.size()) == part.length;  // the prefix is the whole part
    if (state_.length == 0.0) {
      state_ = part;
      open_ = whole;
      return;
    }
    int32_t state = state_.right;
    bool crosses = true;  // some n-gram that began before this part is still growing
    for (size_t i = 0; i < prefix.size(); ++i) {
      state = automaton_.step(state, prefix[i]);
      const int32_t order = automaton_.order(state);
      found_(state, static_cast<int32_t>(i) + 2);
      if (order <= static_cast<int32_t>(i) + 1) {
        crosses = false;
        break;
      }
    }
    state_.right = crosses && whole ? state : part.right;
    shorten();
    if (open_) {
      for (size_t i = 0; i < prefix.size() && open_; ++i) extend(prefix[i]);
      open_ = open_ && whole;
    }
    state_.length += part.length;
  }

  const Boundary& state() const { return state_; }

 private:
  void shorten() {
    while (state_.right != BoundaryAutomaton::kRoot && !automaton_.grows_right(state_.right))
      state_.right = automaton_.suffix(state_.right);
  }
  void extend(int32_t word) {
    const int32_t next = automaton_.child(state_.left, word);
    open_ = next >= 0 && automaton_.grows_left(next);
    if (open_) state_.left = next;
  }

  const BoundaryAutomaton& automaton_;
  Found found_;
  Boundary state_;
  bool open_ = true;  // `left` has all words so far
};

/// Counts matches by order.
struct CountMatches {
  const BoundaryAutomaton& automaton;
  double* matches;
  void operator()(int32_t state, int32_t first) const {
    for (int32_t k = first; k <= automaton.order(state); ++k) matches[k - 1] += 1.0;
  }
};

class BoundaryJoin : public BoundaryJoinTo<CountMatches> {
 public:
  /// `matches` (K of them, order 1 first) is added to.
  BoundaryJoin(const BoundaryAutomaton& automaton, double* matches)
      : BoundaryJoinTo(automaton, CountMatches{automaton, matches}) {}
};

/// n_k of a translation of this length: order 1 first.
inline double ngram_count(double length, int k) { return std::max(0.0, length - k); }

}  // namespace hopefear
