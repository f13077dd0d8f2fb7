"""Back-off language models as dictionaries: modified Kneser-Ney straight from its formulas, and the back-off rule."""

import math
from collections import Counter, defaultdict
from typing import Any

BOS, EOS, UNK = "<s>", "</s>", "<unk>"


def kneser_ney(sentences: Any, N: Any, prune: Any = (), fallback: Any = (0.5, 1.0, 1.5)) -> Any:
    """Chen and Goodman 1998, in the form of Heafield et al. 2013, section 3.

    Returns p and b, {n-gram: value}, and the discounts of each order."""
    thresholds = [*prune, *[prune[-1] if prune else 0] * N][:N]
    c: Any = Counter()
    for sentence in sentences:
        words = [BOS, *sentence, EOS]
        c.update(tuple(words[i : i + n]) for n in range(1, N + 1) for i in range(len(words) - n + 1))
    before = defaultdict(set)
    for gram in c:
        if len(gram) > 1:
            before[gram[1:]].add(gram[0])
    a: Any = [{} for _ in range(N + 1)]
    for gram in c:
        a[len(gram)][gram] = c[gram] if len(gram) == N or gram[0] == BOS else len(before[gram])
    a[1][(BOS,)] = 0  # never predicted
    a[1].setdefault((UNK,), 0)
    a[1].setdefault((EOS,), 0)

    p, b, discounts = {}, {}, []
    for n in range(1, N + 1):
        t = Counter(a[n].values())
        D, good = [0.0], bool(t[1] and t[2] and t[3])
        if good:
            D += [k - (k + 1) * t[1] * t[k + 1] / ((t[1] + 2 * t[2]) * t[k]) for k in (1, 2, 3)]
            good = all(0 < D[k] <= k for k in (1, 2, 3))
        if not good:
            D = [0.0, *fallback]
        discounts.append((tuple(D[1:]), not good))
        total, left_over = Counter(), Counter()
        for gram, count in a[n].items():
            kept = n == 1 or c[gram] > thresholds[n - 1]
            total[gram[:-1]] += count
            left_over[gram[:-1]] += D[min(count, 3)] if kept else count
        for gram, count in a[n].items():
            if n > 1 and c[gram] <= thresholds[n - 1]:
                continue
            context = gram[:-1]
            b[context] = left_over[context] / total[context]
            u = (count - D[min(count, 3)]) / total[context]
            p[gram] = u + b[context] * (p[gram[1:]] if n > 1 else 1 / (len(a[1]) - 1))
    return p, b, discounts


class BackoffTwin:
    """The back-off rule over {n-gram: log10 p} and {n-gram: log10 b}."""

    def __init__(self, p: Any, b: Any, N: Any) -> None:
        self.p, self.b, self.N = p, b, N

    @classmethod
    def from_probabilities(cls, p: Any, b: Any, N: Any) -> Any:
        return cls({g: math.log10(v) for g, v in p.items()}, {g: math.log10(v) for g, v in b.items() if g}, N)

    def prob(self, context: Any, word: Any) -> Any:
        """log10 p(word | context) and the length of the n-gram that it came from."""
        known = (word,) in self.p
        word = word if known else UNK
        context = tuple(w if (w,) in self.p else UNK for w in context)[-(self.N - 1) :] if self.N > 1 else ()
        if (*context, word) in self.p:
            return self.p[(*context, word)], len(context) + 1
        shorter, length = self.prob(context[1:], word)
        return self.b.get(context, 0.0) + shorter, length

    def score(self, words: Any, bos: bool = True, eos: bool = True) -> Any:
        words = [*([BOS] if bos else []), *words, *([EOS] if eos else [])]
        return sum(self.prob(words[max(0, i - self.N + 1) : i], words[i])[0] for i in range(bos, len(words)))
