"""All derivations of a sentence under a synchronous grammar, one by one: what a decoder without limits searches."""

import functools
import itertools
import math
from collections import Counter


def matches(pattern, words, i, j):
    """The spans of the nonterminals for each way in which a source side covers words[i:j]."""
    if not pattern:
        return [()] if i == j else []
    if pattern[0] != "[X]":
        return matches(pattern[1:], words, i + 1, j) if i < j and words[i] == pattern[0] else []
    return [((i, k), *rest) for k in range(i + 1, j + 1) for rest in matches(pattern[1:], words, k, j)]


def derivations(words, kinds, rules, max_span):
    """(target words, features) of every derivation; rules are (source, target, values), nonterminals [X] and 1, 2."""
    n = len(words)
    known = {word for source, _, _ in rules for word in source}
    alone = {source[0] for source, _, _ in rules if len(source) == 1}

    @functools.cache
    def x(i, j):
        found = []
        for source, target, values in rules:
            if j - i > max_span and "[X]" in source:
                continue
            for spans in matches(source, words, i, j):
                for parts in itertools.product(*[x(*span) for span in spans]):
                    text, h = [], Counter(values)
                    h["rule"] += 1
                    for symbol in target:
                        if isinstance(symbol, int):
                            text += parts[symbol - 1][0]
                        else:
                            text.append(symbol)
                            h["word"] += 1
                    for _, below in parts:
                        h.update(below)
                    found.append((tuple(text), h))
        if j == i + 1:
            word, kind = words[i], kinds[i]
            name = {"n": "number", "c": "name"}.get(kind)
            if name is None and word not in alone:
                name = "identity" if word in known else "unknown"
            if name is not None:
                found.append(((word,), Counter({name: 1, "word": 1})))
        return found

    @functools.cache
    def s(j):
        found = list(x(0, j))
        for k in range(1, j):
            for (left, h), (right, g) in itertools.product(s(k), x(k, j)):
                found.append((left + right, _sum(h, g, {"glue": 1})))
        return found

    return s(n)


def _sum(*parts):
    total = Counter()
    for part in parts:
        total.update(part)
    return total


def with_language_models(found, models):
    """The same with the features lm and lm2."""
    for text, h in found:
        for name, model in zip(("lm", "lm2"), models, strict=False):
            h = _sum(h, {name: math.log(10) * model.score(" ".join(text))})
        yield text, h
