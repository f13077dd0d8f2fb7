#include "common.h"
#include "joint/joint_scores.h"
#include "util/error.h"

namespace hopefear {

void init_joint(nb::module_& m) {
  nb::class_<JointModel>(m, "JointModel", "A neural joint model: words, and arrays that are copied.")
      .def(
          "__init__",
          [](JointModel* self, const std::vector<std::string>& source_words, const std::vector<std::string>& target_words,
             In2<float> source, In2<float> target, In2<float> hidden, In<float> hidden_bias, In2<float> output,
             In<float> output_bias, const std::string& name) {
            const auto flat = [](const In2<float>& a) { return std::span<const float>(a.data(), a.size()); };
            new (self)
                JointModel(source_words, target_words,
                           {flat(source), flat(target), flat(hidden), view(hidden_bias), flat(output), view(output_bias)}, name);
          },
          "source_words"_a, "target_words"_a, "source"_a, "target"_a, "hidden"_a, "hidden_bias"_a, "output"_a, "output_bias"_a,
          "name"_a)
      .def(
          "scores",
          [](const JointModel& model, const std::vector<std::string>& source, const std::vector<std::string>& words,
             const std::vector<uint32_t>& affiliated) {
            if (words.size() != affiliated.size()) throw InputError("one source word per target word");
            std::vector<uint32_t> numbers;
            for (const auto& word : source) numbers.push_back(model.source_word(word));
            JointScores scores(&model);
            scores.start(numbers);
            JointState state;
            JointRule rule(scores, state);
            rule.begin_sentence();
            std::vector<double> sums{0.0};
            for (size_t k = 0; k < words.size(); ++k) {
              if (affiliated[k] >= source.size()) throw InputError("there is no such source word");
              rule.terminal(model.target_word(words[k]), affiliated[k]);
              sums.push_back(rule.finish());
            }
            rule.terminal(JointModel::kEos, static_cast<uint32_t>(source.size()));
            sums.push_back(rule.finish());
            std::vector<double> each;
            for (size_t k = 1; k < sums.size(); ++k) each.push_back(sums[k] - sums[k - 1]);
            return give(std::move(each));
          },
          "source"_a, "words"_a, "affiliated"_a, "The log probability of each word, and of the end of the sentence.");
}

}  // namespace hopefear
