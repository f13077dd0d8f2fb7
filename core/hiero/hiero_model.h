// The parts of the hierarchical decoder that do not depend on sentence or weights: grammar, language models, features.
#pragma once
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "grammar/grammar.h"
#include "grammar/templates.h"
#include "joint/joint_model.h"
#include "lm/language_model.h"
#include "search/source.h"
#include "util/vocab.h"

namespace hopefear {

struct HieroModel {
  /// `names` are the dense features: any of lm, lm2, lm3, njm (if there is a `joint` model), rule, word, glue, identity, unknown,
  /// number, name, sentence (1 for each), and columns of the grammar. Names of sparse features follow, with the ids that `templates`
  /// (or null) has for them. `arcs` are those of `names` that are scores of the arcs of lattices.
  HieroModel(std::shared_ptr<const Grammar> grammar, std::vector<std::shared_ptr<const LanguageModel>> lms,
             const std::vector<std::string>& names, const std::vector<std::string>& sparse,
             std::shared_ptr<const FeatureTemplates> templates, const std::vector<std::string>& arcs,
             std::shared_ptr<const JointModel> joint = nullptr);

  std::shared_ptr<const Grammar> grammar;
  std::vector<std::shared_ptr<const LanguageModel>> lms;
  std::shared_ptr<const FeatureTemplates> templates;
  std::shared_ptr<const JointModel> joint;                   // null without the feature njm
  std::shared_ptr<Vocab> vocab = std::make_shared<Vocab>();  // target words: those of the grammar, then others
  std::shared_ptr<Vocab> features = std::make_shared<Vocab>();
  int32_t dense_width = 0;

  // ids of features; -1: no such feature
  std::array<int32_t, kMaxLms> lm_id;
  int32_t joint_id, rule_id, word_id, glue_id, identity_id, unknown_id, number_id, name_id, sentence_id;
  std::vector<int32_t> arc_ids;
  std::vector<std::pair<int32_t, int32_t>> columns;  // of the grammar, and their ids

  std::vector<std::vector<uint32_t>> lm_words;  // [model][word of the grammar]
  std::vector<uint32_t> joint_words;            // [word of the grammar]
};

}  // namespace hopefear
