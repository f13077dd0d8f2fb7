"""Word classes by exchange: for every place that a word may have, the objective is computed from the text."""

import math
from collections import Counter
from itertools import pairwise


def f(n):
    return math.floor(n * math.log(n) * 2**20 + 0.5) if n else 0


def objective(sentences, classes):
    """The log likelihood of the class bigrams, without what the classes do not change."""
    bigrams, single = Counter(), Counter()
    for words in sentences:
        row = ["boundary", *(classes[w] for w in words), "boundary"]
        bigrams.update(pairwise(row))
        single.update(row[1:])
    return sum(map(f, bigrams.values())) - 2 * sum(map(f, single.values()))


def exchange(sentences, number, rounds):
    counts = Counter(w for words in sentences for w in words)  # in the order of first occurrence
    order = sorted(counts, key=lambda w: -counts[w])
    classes = {w: n % number for n, w in enumerate(order)}
    for _ in range(rounds):
        before = dict(classes)
        for word in order:
            scores = [objective(sentences, {**classes, word: c}) for c in range(number)]
            if max(scores) > scores[classes[word]]:
                classes[word] = scores.index(max(scores))
        if classes == before:
            break
    return classes
