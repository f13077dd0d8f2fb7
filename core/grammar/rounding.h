// Rules with values that compress well.
#pragma once
#include "grammar/rule_table.h"

namespace hopefear {

/// The same rules with values that are multiples of a step.
RuleTable rounded(const RuleTable& rules, float step);

}  // namespace hopefear
