#include "metrics/ter.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "metrics/edit_distance.h"
#include "util/id_map.h"

namespace hopefear {
namespace {

constexpr int32_t kLongestShift = 10, kFarthestShift = 50, kBeam = 25, kMostCandidates = 1000;
constexpr int32_t kInfinity = 1 << 28;

/// References in symbols from 1; 0 stands for all other words.
struct Symbols {
  explicit Symbols(const References& references) {
    for (const auto& reference : references) {
      texts.emplace_back();
      for (int32_t word : reference) texts.back().push_back(1 + ids.add(static_cast<uint32_t>(word)));
    }
  }
  void read(std::span<const int32_t> words, std::vector<int32_t>& symbols) const {
    symbols.clear();
    for (int32_t word : words) symbols.push_back(1 + ids.find(static_cast<uint32_t>(word)));
  }
  int32_t size() const { return ids.size() + 1; }

  IdMap ids;
  std::vector<std::vector<int32_t>> texts;
};

/// Edits to one reference.
class TerReference {
 public:
  TerReference(const std::vector<int32_t>& reference, int32_t symbols)
      : reference_(reference), m_(static_cast<int32_t>(reference.size())), distance_(reference, symbols), positions_(symbols) {
    for (int32_t j = 0; j < m_; ++j) positions_[reference[j]].push_back(j);
  }

  int32_t edits(const std::vector<int32_t>& candidate) {
    if (m_ == 0) return static_cast<int32_t>(candidate.size());
    words_ = candidate;
    n_ = static_cast<int32_t>(words_.size());
    set_beam();
    int32_t changed = 0;  // words_ before this are as they were
    for (int32_t shifts = 0, tried = 0;; ++shifts) {
      const int32_t edits = align(changed);
      if (edits == 0 || (changed = best_shift(edits, tried)) < 0) return shifts + edits;
    }
  }

 private:
  /// Where row i of the matrix begins and ends.
  void set_beam() {
    const double ratio = n_ > 0 ? static_cast<double>(m_) / n_ : 1;
    const int32_t width = kBeam < ratio / 2 ? static_cast<int32_t>(std::ceil(ratio / 2 + kBeam)) : kBeam;
    begin_.assign(n_ + 1, 0);
    end_.assign(n_ + 1, m_ + 1);
    beamless_ = true;
    for (int32_t i = 1; i <= n_; ++i) {
      const auto diagonal = static_cast<int32_t>(std::floor(i * ratio));
      begin_[i] = std::max(0, diagonal - width);
      if (i < n_) end_[i] = std::min(m_ + 1, diagonal + width);
      beamless_ = beamless_ && begin_[i] == 0 && end_[i] == m_ + 1;
    }
  }

  void fill_row(const int32_t* above, int32_t word, int32_t i, int32_t* row) const {
    std::fill(row, row + m_ + 1, kInfinity);
    int32_t left = kInfinity;
    for (int32_t j = begin_[i]; j < end_[i]; ++j) {
      int32_t cost = j == 0 ? above[0] + 1 : std::min(above[j - 1] + (word != reference_[j - 1]), std::min(above[j], left) + 1);
      row[j] = left = std::min(cost, kInfinity);
    }
  }

  /// The edit distance inside the beam, with the alignment and errors of the best path.
  int32_t align(int32_t changed) {
    const size_t width = m_ + 1;
    matrix_.resize((n_ + 1) * width);
    for (int32_t j = 0; j <= m_; ++j) matrix_[j] = j;
    for (int32_t i = changed + 1; i <= n_; ++i)
      fill_row(matrix_.data() + (i - 1) * width, words_[i - 1], i, matrix_.data() + i * width);

    // Backwards; of equal paths a (mis)match comes first, then an extra word, then a missing word.
    aligned_.assign(m_, -1);
    candidate_errors_.assign(n_ + 1, 0);
    reference_errors_.assign(m_ + 1, 0);
    for (int32_t i = n_, j = m_; i > 0 || j > 0;) {
      const int32_t* row = matrix_.data() + i * width;
      const int32_t* above = row - width;
      if (i > 0 && j > 0) {
        const int32_t wrong = words_[i - 1] != reference_[j - 1];
        if (row[j] == above[j - 1] + wrong) {
          --i, --j;
          aligned_[j] = i;
          candidate_errors_[i] = reference_errors_[j] = wrong;
          continue;
        }
      }
      if (i > 0 && (j == 0 || row[j] == above[j] + 1)) {
        candidate_errors_[--i] = 1;
      } else {
        reference_errors_[--j] = 1;
        aligned_[j] = i - 1;  // after the last candidate word before it
      }
    }
    sum(candidate_errors_);
    sum(reference_errors_);
    return matrix_.back();
  }

  /// errors[i] becomes the number of errors before i.
  static void sum(std::vector<int32_t>& errors) {
    int32_t before = 0;
    for (int32_t& error : errors) before += std::exchange(error, before);
  }

  /// Applies the best shift to words_: from where they changed; -1 if none lowers the edits or too many have been tried.
  int32_t best_shift(int32_t edits, int32_t& tried) {
    distance_.remember(words_);
    std::tuple<int32_t, int32_t, int32_t, int32_t> best{0, 0, 0, 0};  // edits saved, length, -start, -goal
    for (int32_t h = 0; h < n_; ++h)
      for (int32_t r : positions_[words_[h]]) {
        if (std::abs(r - h) > kFarthestShift) continue;
        const int32_t longest = std::min({kLongestShift, n_ - h, m_ - r});
        for (int32_t length = 1; length <= longest; ++length) {
          if (words_[h + length - 1] != reference_[r + length - 1]) break;
          if (candidate_errors_[h] == candidate_errors_[h + length]) continue;
          if (reference_errors_[r] == reference_errors_[r + length]) continue;
          const int32_t at = aligned_[r];
          if (h <= at && at < h + length) continue;
          int32_t last = -1;
          for (int32_t offset = -1; offset < length; ++offset) {
            const int32_t goal = r + offset < 0 ? 0 : aligned_[r + offset] + 1;
            if (goal == std::exchange(last, goal)) continue;
            ++tried;
            try_shift(h, length, goal, edits, best);
          }
          if (tried >= kMostCandidates) return -1;
        }
      }
    const auto [saved, length, start, goal] = best;
    if (saved <= 0) return -1;
    const auto [from, middle, to] = rotation(-start, length, -goal);
    std::rotate(words_.begin() + from, words_.begin() + middle, words_.begin() + to);
    return from;
  }

  /// Moving words [start, start + length) to `goal` rotates [from, to) so that `middle` comes first.
  std::tuple<int32_t, int32_t, int32_t> rotation(int32_t start, int32_t length, int32_t goal) const {
    if (goal < start) return {goal, start, start + length};
    if (goal > start + length) return {start, start + length, goal};
    return {start, start + length, std::min(n_, goal + length)};
  }

  void try_shift(int32_t start, int32_t length, int32_t goal, int32_t edits,
                 std::tuple<int32_t, int32_t, int32_t, int32_t>& best) {
    const auto [from, middle, to] = rotation(start, length, goal);
    // Two edits per word undo the move of the block, or of the words that it jumped over: the move saves at most that many.
    const int32_t most = std::min(2 * std::min(middle - from, to - middle), edits - std::abs(n_ - m_));
    if (most <= 0 || std::tuple(most, length, -start, -goal) <= best) return;
    moved_ = words_;
    std::rotate(moved_.begin() + from, moved_.begin() + middle, moved_.begin() + to);
    // The distance without a beam is never larger. It is the same when the best path stays inside, which it does when
    // it has less than kBeam errors: it leaves the diagonal by no more than these.
    int32_t distance = distance_.after(moved_, from, to);
    std::tuple<int32_t, int32_t, int32_t, int32_t> shift{edits - distance, length, -start, -goal};
    if (distance >= edits || shift <= best) return;
    if (!beamless_ && distance >= kBeam - 1) {
      distance = beam_distance(from);
      std::get<0>(shift) = edits - distance;
      if (distance >= edits || shift <= best) return;
    }
    best = shift;
  }

  /// The edits of moved_, which begins like words_.
  int32_t beam_distance(int32_t from) {
    const size_t width = m_ + 1;
    const int32_t* start = matrix_.data() + from * width;
    rows_.assign(start, start + width);
    rows_.resize(2 * width);
    int32_t *above = rows_.data(), *row = above + width;
    for (int32_t i = from + 1; i <= n_; ++i, std::swap(above, row)) fill_row(above, moved_[i - 1], i, row);
    return above[m_];
  }

  std::vector<int32_t> reference_;
  int32_t m_, n_ = 0;  // words of the reference, of the candidate
  EditDistance distance_;
  std::vector<std::vector<int32_t>> positions_;  // of each symbol in the reference
  bool beamless_ = true;
  std::vector<int32_t> begin_, end_, words_, moved_, matrix_, rows_;
  std::vector<int32_t> aligned_;  // reference position -> candidate position
  std::vector<int32_t> candidate_errors_, reference_errors_;
};

class TerScorer final : public Scorer {
 public:
  explicit TerScorer(const References& references) : symbols_(at_least_one(references)) {
    for (const auto& text : symbols_.texts) {
      references_.emplace_back(text, symbols_.size());
      mean_length_ += static_cast<double>(text.size());
    }
    mean_length_ /= static_cast<double>(references_.size());
  }
  void stats(std::span<const int32_t> words, double* stats) override {
    symbols_.read(words, candidate_);
    int32_t best = INT32_MAX;
    for (auto& reference : references_) best = std::min(best, reference.edits(candidate_));
    stats[0] = best;
    stats[1] = mean_length_;
  }

 private:
  Symbols symbols_;
  std::vector<TerReference> references_;
  double mean_length_ = 0;
  std::vector<int32_t> candidate_;
};

class WerScorer final : public Scorer {
 public:
  explicit WerScorer(const References& references) : symbols_(at_least_one(references)) {
    for (const auto& text : symbols_.texts) distances_.emplace_back(text, symbols_.size());
  }
  void stats(std::span<const int32_t> words, double* stats) override {
    symbols_.read(words, candidate_);
    for (size_t r = 0; r < distances_.size(); ++r) {
      const double edits = distances_[r](candidate_), length = static_cast<double>(symbols_.texts[r].size());
      if (r > 0 && std::pair(edits * stats[1], edits) >= std::pair(stats[0] * length, stats[0])) continue;
      stats[0] = edits;
      stats[1] = length;
    }
  }

 private:
  Symbols symbols_;
  std::vector<EditDistance> distances_;
  std::vector<int32_t> candidate_;
};

}  // namespace

std::unique_ptr<Scorer> Ter::scorer(const Vocab&, const References& references) const {
  return std::make_unique<TerScorer>(references);
}
std::unique_ptr<Scorer> Wer::scorer(const Vocab&, const References& references) const {
  return std::make_unique<WerScorer>(references);
}

}  // namespace hopefear
