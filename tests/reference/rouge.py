"""ROUGE-S by its definition."""

from collections import Counter
from itertools import combinations
from typing import Any


def pairs(words: Any, skip: Any) -> Any:
    return Counter((words[i], words[j]) for i, j in combinations(range(len(words)), 2) if j - i - 1 <= skip)


def rouge_s(candidate: Any, references: Any, skip: Any, beta: Any) -> Any:
    """F, eq. (9) of Brown 2011; the best over the references."""
    best = 0.0
    for reference in references:
        c, r = pairs(candidate, skip), pairs(reference, skip)
        matches = (c & r).total()
        if not c and not r:
            f = float(candidate == reference)
        elif matches == 0:
            f = 0.0
        else:
            precision, recall = matches / c.total(), matches / r.total()
            f = (1 + beta**2) * precision * recall / (beta**2 * precision + recall)
        best = max(best, f)
    return best
