#include "metrics/chrf.h"

#include "metrics/ngram_automaton.h"
#include "util/error.h"
#include "util/unicode.h"

namespace hopefear {

Chrf::Chrf(int char_order, int word_order, double beta) : char_order_(char_order), word_order_(word_order), beta_(beta) {
  if (char_order < 0 || char_order > 32 || word_order < 0 || word_order > 32 || char_order + word_order == 0)
    throw InputError("char_order and word_order of chrF must be 0 to 32, and not both 0");
  if (!(beta > 0 && beta < 1e6)) throw InputError("beta of chrF must be above 0");
}

double Chrf::score(const double* stats) const {
  const double factor = beta_ * beta_;
  double precision = 0, recall = 0;
  int orders = 0;
  for (const double* s = stats; s < stats + size(); s += 3) {
    if (s[0] <= 0 || s[1] <= 0) continue;
    precision += s[2] / s[0];
    recall += s[2] / s[1];
    ++orders;
  }
  if (orders == 0) return 0;
  precision /= orders;
  recall /= orders;
  return precision + recall > 0 ? 100 * ((1 + factor) * precision * recall / (factor * precision + recall)) : 0;
}

namespace {

bool is_punctuation(unsigned char c) {
  return (c > 32 && c < 48) || (c > 57 && c < 65) || (c > 90 && c < 97) || (c > 122 && c < 127);
}

void append_characters(std::string_view word, std::vector<uint32_t>& symbols) {
  for (size_t i = 0; i < word.size();) symbols.push_back(next_character(word, i));
}

/// One punctuation mark is cut off a word: the last one, else the first one.
template <class Each>
void separate_punctuation(std::string_view word, Each&& each) {
  size_t first = 0;
  next_character(word, first);
  if (first == word.size()) {
    each(word);
  } else if (is_punctuation(static_cast<unsigned char>(word.back()))) {
    each(word.substr(0, word.size() - 1));
    each(word.substr(word.size() - 1));
  } else if (is_punctuation(static_cast<unsigned char>(word[0]))) {
    each(word.substr(0, 1));
    each(word.substr(1));
  } else {
    each(word);
  }
}

class ChrfScorer final : public Scorer {
 public:
  ChrfScorer(const Chrf& metric, int char_order, int word_order, const Vocab& vocab, const References& references)
      : metric_(metric),
        char_order_(char_order),
        word_order_(word_order),
        vocab_(vocab),
        references_(at_least_one(references)),
        characters_(read(char_order, references_, false), char_order),
        words_(read(word_order, references_, true), word_order),
        best_(metric.size()) {
    for (auto& reference : references_) {
      symbols_.clear();
      for (int32_t word : reference) append_characters(vocab_[word], symbols_);
      lengths_.push_back(static_cast<int64_t>(symbols_.size()));
      int64_t pieces = 0;
      for (int32_t word : reference) separate_punctuation(vocab_[word], [&](std::string_view) { ++pieces; });
      lengths_.push_back(pieces);
    }
  }

  void stats(std::span<const int32_t> words, double* stats) override {
    symbols_.clear();
    if (char_order_ > 0)
      for (int32_t word : words) append_characters(vocab_[word], symbols_);
    const auto characters = static_cast<int64_t>(symbols_.size());
    characters_.matches(symbols_, character_matches_);
    symbols_.clear();
    if (word_order_ > 0)
      for (int32_t word : words)
        separate_punctuation(vocab_[word],
                             [&](std::string_view piece) { symbols_.push_back(static_cast<uint32_t>(pieces_.find(piece))); });
    const auto pieces = static_cast<int64_t>(symbols_.size());
    words_.matches(symbols_, word_matches_);

    double best = -1;
    for (size_t r = 0; r < references_.size(); ++r) {
      double* s = best_.data();
      const auto put = [&](int orders, int64_t candidate, int64_t reference, const std::vector<int64_t>& matches) {
        for (int k = 0; k < orders; ++k, s += 3) {
          s[1] = static_cast<double>(std::max<int64_t>(0, reference - k));
          s[0] = s[1] > 0 ? static_cast<double>(std::max<int64_t>(0, candidate - k)) : 0;
          s[2] = static_cast<double>(matches[k * references_.size() + r]);
        }
      };
      put(char_order_, characters, lengths_[2 * r], character_matches_);
      put(word_order_, pieces, lengths_[2 * r + 1], word_matches_);
      const double score = metric_.score(best_.data());
      if (score <= best) continue;
      best = score;
      std::copy(best_.begin(), best_.end(), stats);
    }
  }

 private:
  std::vector<std::vector<uint32_t>> read(int order, const References& references, bool words) {
    std::vector<std::vector<uint32_t>> texts(references.size());
    if (order > 0)
      for (size_t r = 0; r < references.size(); ++r)
        for (int32_t word : references[r]) {
          if (words)
            separate_punctuation(vocab_[word],
                                 [&](std::string_view piece) { texts[r].push_back(static_cast<uint32_t>(pieces_.add(piece))); });
          else
            append_characters(vocab_[word], texts[r]);
        }
    return texts;
  }

  const Chrf& metric_;
  int char_order_, word_order_;
  const Vocab& vocab_;
  Vocab pieces_;  // of the references; -1: other pieces
  References references_;
  NgramAutomaton characters_, words_;
  std::vector<int64_t> lengths_;  // of each reference: characters, pieces
  std::vector<uint32_t> symbols_;
  std::vector<int64_t> character_matches_, word_matches_;
  std::vector<double> best_;
};

}  // namespace

std::unique_ptr<Scorer> Chrf::scorer(const Vocab& vocab, const References& references) const {
  return std::make_unique<ChrfScorer>(*this, char_order_, word_order_, vocab, references);
}

}  // namespace hopefear
