#include "hiero/hiero_model.h"

#include <algorithm>

#include "util/error.h"

namespace hopefear {

HieroModel::HieroModel(std::shared_ptr<const Grammar> grammar_, std::vector<std::shared_ptr<const LanguageModel>> lms_,
                       const std::vector<std::string>& names, const std::vector<std::string>& sparse,
                       std::shared_ptr<const FeatureTemplates> templates_, const std::vector<std::string>& arcs,
                       std::shared_ptr<const JointModel> joint_)
    : grammar(std::move(grammar_)), lms(std::move(lms_)), templates(std::move(templates_)), joint(std::move(joint_)) {
  if (lms.size() > kMaxLms) throw InputError("a decoder has at most " + std::to_string(kMaxLms) + " language models");
  for (int32_t word = 0; word < grammar->target_vocab()->size(); ++word) vocab->add((*grammar->target_vocab())[word]);
  for (const auto& name : names) features->add(name);
  dense_width = features->size();
  for (const auto& name : sparse) features->add(name);
  if (static_cast<size_t>(features->size()) != names.size() + sparse.size()) throw InputError("a feature is named twice");
  const auto id = [&](const char* name) {
    const int32_t found = features->find(name);
    return found < dense_width ? found : -1;
  };
  lm_id = {id("lm"), id("lm2"), id("lm3")};
  joint_id = joint ? id("njm") : -1;
  if (joint_id < 0) joint = nullptr;
  rule_id = id("rule");
  word_id = id("word");
  glue_id = id("glue");
  identity_id = id("identity");
  unknown_id = id("unknown");
  number_id = id("number");
  name_id = id("name");
  sentence_id = id("sentence");
  for (const auto& name : arcs) arc_ids.push_back(id(name.c_str()));
  const std::array own{joint_id, lm_id[0],    lm_id[1],   lm_id[2],  rule_id, word_id,
                       glue_id,  identity_id, unknown_id, number_id, name_id, sentence_id};
  for (size_t c = 0; c < grammar->width(); ++c)
    if (const int32_t feature = id(grammar->names()[c].c_str());
        feature >= 0 && std::find(own.begin(), own.end(), feature) == own.end())
      columns.push_back({static_cast<int32_t>(c), feature});
  for (const auto& lm : lms) lm->map_words(*vocab, lm_words.emplace_back());
  if (joint)
    for (int32_t word = 0; word < vocab->size(); ++word) joint_words.push_back(joint->target_word((*vocab)[word]));
}

}  // namespace hopefear
