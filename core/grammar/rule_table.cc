#include "grammar/rule_table.h"

#include "util/error.h"

namespace hopefear {

RuleTable RuleTable::selected(std::span<const uint8_t> keep) const {
  if (keep.size() != rules()) throw InputError("as many marks as rules are needed");
  RuleTable kept;
  kept.names = names;
  kept.source_vocab = source_vocab, kept.target_vocab = target_vocab;
  const auto append = [](auto& to, const auto& part) { to.insert(to.end(), part.begin(), part.end()); };
  for (size_t side = 0; side < sides(); ++side) {
    for (size_t r = rule_begin[side]; r < rule_begin[side + 1]; ++r) {
      if (!keep[r]) continue;
      append(kept.target, target_of(r));
      append(kept.links, links_of(r));
      append(kept.columns, row(r));
      kept.target_begin.push_back(static_cast<uint32_t>(kept.target.size()));
      kept.link_begin.push_back(static_cast<uint32_t>(kept.links.size()));
    }
    if (kept.rules() == kept.rule_begin.back()) continue;
    append(kept.source, source_of(side));
    kept.source_begin.push_back(static_cast<uint32_t>(kept.source.size()));
    kept.rule_begin.push_back(static_cast<uint32_t>(kept.rules()));
  }
  return kept;
}

}  // namespace hopefear
