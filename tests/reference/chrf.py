"""chrF by its definition, over strings."""

from collections import Counter
from string import punctuation
from typing import Any


def words_of(text: Any) -> Any:
    words = []
    for w in text.split():
        if len(w) > 1 and w[-1] in punctuation:
            words += [w[:-1], w[-1]]
        elif len(w) > 1 and w[0] in punctuation:
            words += [w[0], w[1:]]
        else:
            words.append(w)
    return words


def grams(symbols: Any, k: Any) -> Any:
    return Counter(tuple(symbols[i : i + k]) for i in range(len(symbols) - k + 1))


def chrf(stats: Any, beta: Any = 2) -> Any:
    pairs = [(match / hyp, match / ref) for hyp, ref, match in zip(*[iter(stats)] * 3, strict=True) if hyp and ref]
    if not pairs:
        return 0.0
    precision, recall = (sum(x) / len(pairs) for x in zip(*pairs, strict=True))
    if precision + recall == 0:
        return 0.0
    return 100 * (1 + beta**2) * precision * recall / (beta**2 * precision + recall)


def chrf_stats(candidate: Any, references: Any, char_order: Any = 6, word_order: Any = 0, beta: Any = 2) -> Any:
    """Those of the reference that scores best."""
    options = []
    for reference in references:
        stats = []
        for take, orders in ((lambda text: "".join(text.split()), char_order), (words_of, word_order)):
            for k in range(1, orders + 1):
                c, r = grams(take(candidate), k), grams(take(reference), k)
                stats += [c.total() if r else 0, r.total(), (c & r).total()]
        options.append(stats)
    return max(options, key=lambda stats: chrf(stats, beta))
