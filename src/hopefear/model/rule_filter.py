"""Which rules a model keeps: those that translate their source side often enough.

Tillmann and Zhang (2006, section 4) take a block set that "includes some heuristic filtering to increase phrase
translation accuracy", with blocks seen once; how it is filtered they do not say. Here a rule (f, e) stays if

    p(e|f) >= min_probability   and   sqrt(p(e|f) p(f|e)) >= min_symmetric,

relative frequencies among all that was extracted. The most probable translation of a single word stays in any case: no
word of the training text becomes unknown.
"""

from __future__ import annotations

import numpy as np

from hopefear._core import RuleTable

_ROUNDING = 1e-6  # probabilities are stored as 32-bit logarithms


def filter_rules(table: RuleTable, min_probability: float, min_symmetric: float) -> RuleTable:
    """The rules of a table that are probable enough; 0 for both keeps them all."""
    limits = {"phrase_ef": min_probability, "symmetric": min_symmetric}
    if not any(limits.values()):
        return table
    logs = {name: table.columns[:, table.names.index(name)].astype(float) for name in ("phrase_ef", "phrase_fe")}
    logs["symmetric"] = (logs["phrase_ef"] + logs["phrase_fe"]) / 2
    keep = np.ones(len(table), bool)
    for name, least in limits.items():
        if least:
            keep &= logs[name] >= np.log(least) - _ROUNDING
    single = np.diff(table.source_begin) == 1
    keep[table.rule_begin[:-1][single]] = True  # the rules of a source side stand by falling p(e|f)
    return table.selected(keep.astype(np.uint8))
