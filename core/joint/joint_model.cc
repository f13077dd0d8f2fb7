#include "joint/joint_model.h"

#include <algorithm>
#include <cmath>

#include "util/error.h"

namespace hopefear {
namespace {

/// `rows` rows of `width` numbers, each lengthened with zeros.
std::vector<float> lengthened(std::span<const float> values, size_t rows, size_t width, size_t stride) {
  std::vector<float> out(rows * stride, 0.0f);
  for (size_t r = 0; r < rows; ++r)
    std::copy_n(values.begin() + static_cast<ptrdiff_t>(r * width), width, out.begin() + static_cast<ptrdiff_t>(r * stride));
  return out;
}

/// row += x times a matrix with rows of `stride` numbers.
void add_product(std::span<const float> x, const float* matrix, size_t stride, float* row) {
  for (size_t d = 0; d < x.size(); ++d)
    for (size_t i = 0; i < stride; ++i) row[i] += x[d] * matrix[d * stride + i];
}

}  // namespace

JointModel::JointModel(const std::vector<std::string>& source_words, const std::vector<std::string>& target_words,
                       const Arrays& arrays, const std::string& name) {
  const auto damaged = [&](const char* what) {
    return input_error(name, 0, std::string(what) + ", so the joint model is damaged. Copy the model again, or build it again");
  };
  for (const auto& word : source_words) source_vocab_.add(word);
  for (const auto& word : target_words) target_vocab_.add(word);
  const size_t sources = source_words.size(), targets = target_words.size();
  if (static_cast<size_t>(source_vocab_.size()) != sources || static_cast<size_t>(target_vocab_.size()) != targets)
    throw damaged("a word stands there twice");
  if (sources < kMarks || targets < kMarks) throw damaged("words are missing");
  hidden_ = arrays.hidden_bias.size();
  embedding_ = arrays.source.size() / sources;
  if (hidden_ == 0 || embedding_ == 0 || arrays.source.size() != sources * embedding_ ||
      arrays.target.size() != targets * embedding_ || arrays.hidden.size() != (kHistory + kWindow) * embedding_ * hidden_ ||
      arrays.output.size() != targets * hidden_ || arrays.output_bias.size() != targets)
    throw damaged("the sizes of its arrays do not fit");
  for (const auto& values : {arrays.source, arrays.target, arrays.hidden, arrays.hidden_bias, arrays.output, arrays.output_bias})
    for (const float value : values)
      if (!std::isfinite(value)) throw damaged("some of its numbers are none");
  stride_ = (hidden_ + kLanes - 1) / kLanes * kLanes;
  source_.assign(arrays.source.begin(), arrays.source.end());
  bias_ = lengthened(arrays.hidden_bias, 1, hidden_, stride_);
  const std::vector<float> hidden = lengthened(arrays.hidden, (kHistory + kWindow) * embedding_, hidden_, stride_);
  window_.assign(hidden.begin() + static_cast<ptrdiff_t>(kHistory * embedding_ * stride_), hidden.end());
  for (size_t k = 0; k < kHistory; ++k) {
    history_[k].assign(targets * stride_, 0.0f);
    for (size_t e = 0; e < targets; ++e)
      add_product(arrays.target.subspan(e * embedding_, embedding_), hidden.data() + k * embedding_ * stride_, stride_,
                  history_[k].data() + e * stride_);
  }
  output_ = lengthened(arrays.output, targets, hidden_, stride_);
  output_bias_.assign(arrays.output_bias.begin(), arrays.output_bias.end());
}

void JointModel::windows(std::span<const uint32_t> source, std::vector<float>& rows) const {
  const auto length = static_cast<ptrdiff_t>(source.size());
  rows.clear();
  for (ptrdiff_t at = 0; at <= length; ++at) {
    rows.insert(rows.end(), bias_.begin(), bias_.end());
    for (size_t j = 0; j < kWindow; ++j) {
      const ptrdiff_t place = at + static_cast<ptrdiff_t>(j) - static_cast<ptrdiff_t>(kReach);
      const uint32_t word = place < 0 ? kBos : place >= length ? kEos : source[place];
      add_product({source_.data() + word * embedding_, embedding_}, window_.data() + j * embedding_ * stride_, stride_,
                  rows.data() + static_cast<size_t>(at) * stride_);
    }
  }
}

}  // namespace hopefear
