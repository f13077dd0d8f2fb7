"""The neural joint model by its definition, and all derivations with what their words are affiliated with."""

import functools
import itertools
import math
from collections import Counter
from typing import Any

import numpy as np

from tests.reference.hiero import matches


def score(model: Any, source: Any, at: Any, history: Any, word: Any) -> Any:
    """log p of a word of the model; ``history`` has the word just before first; ``at`` may be the end of the source."""
    arrays = {name: np.asarray(array, np.float64) for name, array in model.arrays.items()}
    f = [model.source_words.index(w) if w in model.source_words[4:] else 0 for w in source]
    window = [1 if k < 0 else 2 if k >= len(f) else f[k] for k in range(at - 5, at + 6)]
    x = np.concatenate([arrays["target"][e] for e in history] + [arrays["source"][k] for k in window])
    h = np.maximum(x @ arrays["hidden"] + arrays["hidden_bias"], 0)
    return float(arrays["output"][word] @ h + arrays["output_bias"][word])


def text_score(model: Any, source: Any, words: Any) -> Any:
    """The sum over (word, affiliated source word) pairs and the end of the sentence."""
    numbers = [model.target_words.index(w) if w in model.target_words[4:] else 0 for w, _ in words] + [2]
    places = [at for _, at in words] + [len(source)]
    before = [1, 1, 1, *numbers]
    return sum(
        score(model, source, at, before[k : k + 3][::-1], e)
        for k, (e, at) in enumerate(zip(numbers, places, strict=True))
    )


def affiliated(source: Any, target: Any, links: Any, i: Any, spans: Any) -> Any:
    """The source word of each word of a target side where the rule applies at i, with nonterminals over ``spans``."""
    covers, holes, at = [], iter(spans), i
    for symbol in source:
        covers.append(next(holes) if symbol == "[X]" else (at, at + 1))
        at = covers[-1][1]
    linked = {t: sorted(s for s, u in links if u == t) for t in range(len(target))}

    def distance(t: Any, u: Any) -> Any:
        return abs(t - u), u < t

    words_of = []
    for t, symbol in enumerate(target):
        if isinstance(symbol, int):
            continue
        known = [u for u, other in enumerate(target) if isinstance(other, int) or linked[u]]
        if not known:
            words_of.append(i)
            continue
        u = min(known, key=lambda u: distance(t, u))
        if isinstance(target[u], int):
            begin, end = spans[target[u] - 1]
            words_of.append(begin if u > t else end - 1)
        else:
            words_of.append(covers[linked[u][(len(linked[u]) - 1) // 2]][0])
    return words_of


def derivations(words: Any, rules: Any, max_span: Any) -> Any:
    """((target word, source word) pairs, features) of every derivation; rules are (source, target, values, links)."""
    known = {word for source, *_ in rules for word in source}
    alone = {source[0] for source, *_ in rules if len(source) == 1}

    @functools.cache
    def x(i: Any, j: Any) -> Any:
        complete = []
        for source, target, values, links in rules:
            if j - i > max_span and "[X]" in source:
                continue
            for spans in matches(source, words, i, j):
                places = affiliated(source, target, links, i, spans)
                for parts in itertools.product(*[x(*span) for span in spans]):
                    own = iter(places)
                    text: list[Any] = []
                    for symbol in target:
                        text += parts[symbol - 1][0] if isinstance(symbol, int) else [(symbol, next(own))]
                    h = Counter({**values, "rule": 1, "word": len(places)})
                    for _, below in parts:
                        h.update(below)
                    complete.append((tuple(text), h))
        if j == i + 1 and words[i] not in alone:
            name = "identity" if words[i] in known else "unknown"
            complete.append((((words[i], i),), Counter({name: 1, "word": 1})))
        return complete

    @functools.cache
    def s(j: Any) -> Any:
        complete = list(x(0, j))
        for k in range(1, j):
            for (left, h), (right, g) in itertools.product(s(k), x(k, j)):
                both = Counter(h)
                both.update(g)
                both.update({"glue": 1})
                complete.append((left + right, both))
        return complete

    return s(len(words))


def noise_contrastive(params: Any, contexts: Any, words: Any, noise: Any, log_kq: Any) -> Any:
    """J, example by example."""
    total = 0.0
    for context, word in zip(contexts, words, strict=True):
        x = np.concatenate([params["target"][e] for e in context[:3]] + [params["source"][f] for f in context[3:]])
        h = np.maximum(x @ params["hidden"] + params["hidden_bias"], 0)
        for sign, e in [(1, word)] + [(-1, k) for k in noise]:
            s = params["output"][e] @ h + params["output_bias"][e] - log_kq[e]
            total -= math.log1p(math.exp(-sign * s))
    return total


def expected_bleu(params: Any, each: Any, weight: Any, scale: Any) -> Any:
    """The expected gain of the candidates of a list, word by word."""
    ends = [*each.begin[1:], len(each.uses)]
    totals = []
    for rest, begin, end in zip(each.rest, each.begin, ends, strict=True):
        total = rest
        for use in each.uses[begin:end]:
            context, word = each.contexts[use], each.words[use]
            x = np.concatenate([params["target"][e] for e in context[:3]] + [params["source"][f] for f in context[3:]])
            h = np.maximum(x @ params["hidden"] + params["hidden_bias"], 0)
            total += weight * (params["output"][word] @ h + params["output_bias"][word])
        totals.append(scale * total)
    z = sum(math.exp(total) for total in totals)
    return sum(math.exp(total) / z * gain for total, gain in zip(totals, each.gains, strict=True))
