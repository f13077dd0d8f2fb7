#include "hiero/hiero_source.h"

#include "util/text.h"

namespace hopefear {

void add_word(HieroModel& model, HieroSource& source, std::string_view word, char kind) {
  const Grammar& g = *model.grammar;
  const int32_t known = g.source_vocab()->find(word);
  const auto alone = [&] {  // some rule translates the word alone
    const uint32_t node = g.child(Grammar::kRoot, known);
    return node != Grammar::kNone && g.rules_of(node).first != g.rules_of(node).second;
  };
  const bool may_copy = kind != 'w' || known < 0 || !alone();
  source.words.push_back(known);
  source.kinds.push_back(word_kind(kind));
  source.copies.push_back(may_copy ? model.vocab->add(word) : -1);
  auto& ids = source.lm.emplace_back();
  for (size_t l = 0; l < model.lms.size(); ++l) ids[l] = may_copy ? model.lms[l]->find_in_text(word) : kUnk;
  if (!model.joint) return;
  source.joint.push_back(model.joint->source_word(word));
  source.joint_copies.push_back(model.joint->target_word(word));
}

HieroSource text_source(HieroModel& model, std::string id, std::string_view text, std::string_view kinds) {
  HieroSource source;
  source.id = std::move(id);
  source.text = text;
  for_each_word(text, [&](std::string_view word) {
    const size_t place = source.words.size();
    add_word(model, source, word, place < kinds.size() ? kinds[place] : 'w');
    source.from.push_back(static_cast<int32_t>(place));
  });
  source.into.assign(1, 0);
  for (size_t j = 0; j <= source.words.size(); ++j) source.into.push_back(static_cast<int32_t>(j));
  return source;
}

}  // namespace hopefear
