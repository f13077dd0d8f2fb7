// A neural joint model (Devlin et al. 2014, "Fast and robust neural network joint models for statistical machine translation"):
// the score of a target word given the words before it and a window of the source around the word that it is affiliated with.
//
//   s(e | e_1 e_2 e_3, f_-5 .. f_5)  =  u_e . max(0, z) + b_e      z = c + sum_k A_k E(e_k) + sum_j B_j F(f_j)
//
// e_1 is the word just before e. Training made exp(s) sum to about 1, so s is a log probability as it stands. Everything linear is
// computed ahead: A_k E(e) for all words when the model is opened, and c + sum_j B_j F(f_j) once per source word of a sentence. Then a
// score is three additions of rows, and one dot product. Sums are in a fixed order: the same bits on every machine.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "util/vocab.h"

namespace hopefear {

class JointModel {
 public:
  static constexpr size_t kHistory = 3, kReach = 5, kWindow = 2 * kReach + 1;
  /// Words that stand for what is no word. kNull is a word of the history that is not known yet.
  static constexpr uint32_t kUnk = 0, kBos = 1, kEos = 2, kNull = 3, kMarks = 4;

  /// Row by row: the embeddings of the words; the matrices A_1 A_2 A_3 B_-5 .. B_5, as many rows each as an embedding has numbers, and c;
  /// u and b of each target word.
  struct Arrays {
    std::span<const float> source, target, hidden, hidden_bias, output, output_bias;
  };
  /// Throws InputError, with `name` in it, if the sizes do not fit.
  JointModel(const std::vector<std::string>& source_words, const std::vector<std::string>& target_words, const Arrays& arrays,
             const std::string& name);

  /// The number of a word of running text, kUnk if the model does not know it.
  uint32_t source_word(std::string_view word) const { return number(source_vocab_, word); }
  uint32_t target_word(std::string_view word) const { return number(target_vocab_, word); }
  uint32_t target_words() const { return static_cast<uint32_t>(target_vocab_.size()); }
  /// Numbers per row of windows().
  size_t stride() const { return stride_; }

  /// c + sum_j B_j F(f_j) around each source word, and around the end of the sentence.
  void windows(std::span<const uint32_t> source, std::vector<float>& rows) const;

  /// s, with a row of windows(); `history` has the word just before first.
  float score(const float* window, const std::array<uint32_t, kHistory>& history, uint32_t word) const {
    const float* a = history_[0].data() + history[0] * stride_;
    const float* b = history_[1].data() + history[1] * stride_;
    const float* c = history_[2].data() + history[2] * stride_;
    const float* u = output_.data() + word * stride_;
    float sum[kLanes] = {};
    for (size_t i = 0; i < stride_; i += kLanes)
      for (size_t k = 0; k < kLanes; ++k) {
        const float z = window[i + k] + a[i + k] + b[i + k] + c[i + k];
        sum[k] += (z > 0 ? z : 0) * u[i + k];
      }
    for (size_t half = kLanes / 2; half > 0; half /= 2)
      for (size_t k = 0; k < half; ++k) sum[k] += sum[k + half];
    return sum[0] + output_bias_[word];
  }

 private:
  static constexpr size_t kLanes = 16;
  static uint32_t number(const Vocab& vocab, std::string_view word) {
    const int32_t found = vocab.find(word);
    return found < static_cast<int32_t>(kMarks) ? kUnk : static_cast<uint32_t>(found);
  }

  Vocab source_vocab_, target_vocab_;
  size_t embedding_ = 0, hidden_ = 0, stride_ = 0;  // stride: numbers of the hidden layer, with zeros up to a multiple of kLanes
  std::vector<float> source_, window_, bias_;       // F, B_-5 .. B_5, c
  std::array<std::vector<float>, kHistory> history_;
  std::vector<float> output_, output_bias_;
};

}  // namespace hopefear
