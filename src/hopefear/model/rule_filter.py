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


def least_logs(min_probability: float, min_symmetric: float) -> tuple[float, float]:
    """The limits as logarithms; what has no limit has minus infinity."""
    ef, symmetric = (
        float(np.log(least)) - _ROUNDING if least else -np.inf for least in (min_probability, min_symmetric)
    )
    return ef, symmetric


def filter_rules(table: RuleTable, min_probability: float, min_symmetric: float) -> RuleTable:
    """The rules of a table that are probable enough; 0 for both keeps them all."""
    if not min_probability and not min_symmetric:
        return table
    ef, fe = (table.columns[:, table.names.index(name)].astype(float) for name in ("phrase_ef", "phrase_fe"))
    least_ef, least_symmetric = least_logs(min_probability, min_symmetric)
    keep = (ef >= least_ef) & ((ef + fe) / 2 >= least_symmetric)
    single = np.diff(table.source_begin) == 1
    keep[table.rule_begin[:-1][single]] = True  # the rules of a source side stand by falling p(e|f)
    return table.selected(keep.astype(np.uint8))
