"""BLEU by its formulas, over lists of words."""

import math
from collections import Counter
from typing import Any


def ngrams(words: Any, k: Any) -> Any:
    return Counter(tuple(words[i : i + k]) for i in range(len(words) - k + 1))


def bleu_stats(candidate: Any, references: Any, K: Any = 4, length: str = "closest") -> Any:
    references = [r for r in references if r] or [[]]
    m, n = [], []
    for k in range(1, K + 1):
        union: Any = Counter()
        for reference in references:
            union |= ngrams(reference, k)
        m.append((ngrams(candidate, k) & union).total())  # eq. (1)
        n.append(ngrams(candidate, k).total())
    lengths = [len(r) for r in references]
    rho = {
        "closest": min(lengths, key=lambda r: (abs(r - len(candidate)), r)),  # eq. (2)
        "shortest": min(lengths),
        "average": sum(lengths) / len(lengths),
    }[length]
    return [*m, *n, rho]


def bleu(stats: Any) -> Any:
    """The BLEU of section 2.3, not smoothed: 0 to 1."""
    K = len(stats) // 2
    m, n, rho = stats[:K], stats[K : 2 * K], stats[2 * K]
    if min(m) == 0:
        return 0.0
    return math.exp(sum(math.log(m[k] / n[k]) for k in range(K)) / K + min(0, 1 - rho / n[0]))


def bleu_plus_one(stats: Any) -> Any:
    K = len(stats) // 2
    m, n, rho = stats[:K], stats[K : 2 * K], stats[2 * K]
    if n[0] == 0:
        return 0.0
    return bleu([m[0], *(x + 1 for x in m[1:]), n[0], *(x + 1 for x in n[1:]), rho])
