"""All derivations of a sentence under a synchronous grammar, one by one: what a decoder without limits searches."""

import functools
import itertools
import math
from collections import Counter
from collections.abc import Iterator
from typing import Any


def matches(pattern: Any, words: Any, i: Any, j: Any) -> Any:
    """The spans of the nonterminals for each way in which a source side covers words[i:j]."""
    if not pattern:
        return [()] if i == j else []
    if pattern[0] != "[X]":
        return matches(pattern[1:], words, i + 1, j) if i < j and words[i] == pattern[0] else []
    return [((i, k), *rest) for k in range(i + 1, j + 1) for rest in matches(pattern[1:], words, k, j)]


def own_words(rule: Any) -> Any:
    """The places of the words that a rule of the sentence covers itself."""
    below = {place for begin, end in rule.gaps for place in range(begin, end)}
    return {*range(rule.begin, rule.end)} - below


def parts(words: Any, kinds: Any, rules: Any, max_span: Any, at_place: Any = None, own: Any = ()) -> Any:
    """A function of i and j: (target words, features) of every derivation of X over words[i:j].

    ``at_place(source, target, i, spans)`` has features of the place of a rule, or of a word that is copied. ``own``:
    rules of the sentence; where one is forced, only forced rules cover its words.
    """
    barred = {place for rule in own if rule.forced for place in range(rule.begin, rule.end)}
    known = {word for source, _, _ in rules for word in source}
    alone = {source[0] for source, _, _ in rules if len(source) == 1}

    @functools.cache
    def x(i: Any, j: Any) -> Any:
        pieces = []
        for source, target, values in rules:
            if j - i > max_span and "[X]" in source:
                continue
            for spans in matches(source, words, i, j):
                if barred & ({*range(i, j)} - {place for span in spans for place in range(*span)}):
                    continue
                for parts in itertools.product(*[x(*span) for span in spans]):
                    text, h = [], Counter(values)
                    h["rule"] += 1
                    if at_place is not None:
                        h.update(at_place(source, target, i, spans))
                    for symbol in target:
                        if isinstance(symbol, int):
                            text += parts[symbol - 1][0]
                        else:
                            text.append(symbol)
                            h["word"] += 1
                    for _, below in parts:
                        h.update(below)
                    pieces.append((tuple(text), h))
        for rule in own:
            if (rule.begin, rule.end) != (i, j) or (not rule.forced and barred & own_words(rule)):
                continue
            for below in itertools.product(*[x(*span) for span in rule.gaps]):
                text, h = [], Counter(rule.features)
                for symbol in rule.target:
                    text += below[symbol - 1][0] if isinstance(symbol, int) else [symbol]
                    h["word"] += not isinstance(symbol, int)
                for _, g in below:
                    h.update(g)
                pieces.append((tuple(text), h))
        if j == i + 1 and i not in barred:
            word, kind = words[i], kinds[i]
            name = {"n": "number", "c": "name"}.get(kind)
            if name is None and word not in alone:
                name = "identity" if word in known else "unknown"
            if name is not None:
                here = at_place((word,), (word,), i, ()) if at_place is not None else {}
                pieces.append(((word,), Counter({name: 1, "word": 1}) + Counter(here)))
        return pieces

    return x


def derivations(words: Any, kinds: Any, rules: Any, max_span: Any, at_place: Any = None, own: Any = ()) -> Any:
    """(target words, features) of every derivation; rules are (source, target, values), nonterminals [X] and 1, 2."""
    x = parts(words, kinds, rules, max_span, at_place, own)

    @functools.cache
    def s(j: Any) -> Any:
        complete = list(x(0, j))
        for k in range(1, j):
            for (left, h), (right, g) in itertools.product(s(k), x(k, j)):
                complete.append((left + right, _sum(h, g, {"glue": 1})))
        return complete

    return s(len(words))


def _sum(*parts: Any) -> Any:
    total: Any = Counter()
    for part in parts:
        total.update(part)
    return total


def with_language_models(trees: Any, models: Any) -> Iterator[Any]:
    """The same with the features lm and lm2."""
    for text, h in trees:
        for name, model in zip(("lm", "lm2"), models, strict=False):
            h = _sum(h, {name: math.log(10) * model.score(" ".join(text))})
        yield text, h


def forced(words: Any, kinds: Any, rules: Any, max_span: Any, candidate: Any, weights: Any) -> Any:
    """The best way to make the candidate: words left out of the source, of the candidate (the fewest in all), score."""
    x = parts(words, kinds, rules, max_span)

    def score(h: Any) -> Any:
        return sum(weights.get(name, 0.0) * value for name, value in h.items())

    @functools.cache
    def best(i: Any, k: Any, glued: Any) -> Any:
        if i == len(words) and k == len(candidate):
            return (0, 0.0, 0, 0)  # words left out, -score, of the source, of the candidate
        matching = []
        if i < len(words):
            skipped, minus, source, target = best(i + 1, k, glued)
            matching.append((skipped + 1, minus, source + 1, target))
        if k < len(candidate):
            skipped, minus, source, target = best(i, k + 1, glued)
            matching.append((skipped + 1, minus, source, target + 1))
        for j in range(i + 1, len(words) + 1):
            for text, h in x(i, j):
                if candidate[k : k + len(text)] == text:
                    skipped, minus, source, target = best(j, k + len(text), True)
                    matching.append((skipped, minus - score(h) - glued * weights.get("glue", 0.0), source, target))
        return min(matching)

    _, minus, source, target = best(0, 0, False)
    return source, target, -minus
