"""The candidates of a sentence as a joint model sees them: each a bag of words in their contexts.

A candidate comes from a derivation, whose rules say which source word each target word is affiliated with, as in the
decoder (docs/joint-model.md). Candidates of a sentence share most of their contexts, so each context is kept once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hopefear._core import Derivation, Forest, Grammar, Pool
from hopefear.model.joint import BOS, EOS, HISTORY, MARKS, REACH, UNK, WINDOW, Ints, JointModel

#: A target word, and the place of the source word that it is affiliated with.
Placed = tuple[str, int]


@dataclass(frozen=True)
class CandidateList:
    """The best translations of a sentence."""

    contexts: Ints  #: histories and windows, each once
    words: Ints  #: the word in each of these contexts
    uses: Ints  #: the contexts of all candidates in a row
    begin: Ints  #: of each candidate among the uses
    rest: NDArray[np.float64]  #: the score of each candidate without the joint model's part
    gains: NDArray[np.float64]  #: how good each candidate is, as sentence BLEU

    def scores(self, each: NDArray[np.floating], weight: float) -> NDArray[np.float64]:
        """The score of each candidate, given the joint model's score of each word in its context."""
        return self.rest + weight * np.add.reduceat(each.astype(np.float64)[self.uses], self.begin)


def candidate_lists(
    pool: Pool, grammar: Grammar, joint: JointModel, weights: Mapping[str, float], k: int
) -> Iterator[tuple[list[list[str]], CandidateList]]:
    """The words of the k best candidates of each forest, and their list, whose gains are still 0."""
    numbers = [
        {word: number for number, word in enumerate(words) if number >= len(MARKS)}
        for words in (joint.source_words, joint.target_words)
    ]
    rules = _Rules(grammar)
    for i in range(len(pool)):
        source = pool.source(i).split()
        best = pool[i].kbest(weights, k, distinct=True)
        placed = _Placing(pool[i], source, rules)
        texts = [placed.words(derivation) for derivation in best] if source else [[]]
        window = [BOS] * REACH + [numbers[0].get(word, UNK) for word in source] + [EOS] * (REACH + 1)
        rest = [d.score - weights["njm"] * d.features.get("njm", 0.0) for d in best]
        yield [[word for word, _ in text] for text in texts], _list_of(texts, window, numbers[1], rest)


def _list_of(
    texts: Sequence[Sequence[Placed]], window: Sequence[int], numbers: Mapping[str, int], rest: Sequence[float]
) -> CandidateList:
    places: dict[tuple[int, ...], int] = {}
    uses: list[int] = []
    begin: list[int] = []
    end = len(window) - WINDOW  # the place of the end of the source
    for text in texts:
        begin.append(len(uses))
        words = [numbers.get(word, UNK) for word, _ in text] + [EOS]
        before = [BOS] * HISTORY + words
        for k, (word, at) in enumerate(zip(words, [*(at for _, at in text), end], strict=True)):
            context = (word, *before[k : k + HISTORY][::-1], *window[at : at + WINDOW])
            uses.append(places.setdefault(context, len(places)))
    rows = np.array(list(places), np.int32)
    of_uses, of_begin = np.array(uses, np.int32), np.array(begin, np.int32)
    return CandidateList(rows[:, 1:], rows[:, 0], of_uses, of_begin, np.array(rest), np.zeros(len(rest)))


@dataclass
class _Rules:
    """The word alignment of each rule that was looked up."""

    grammar: Grammar
    known: dict[tuple[str, str], list[tuple[int, int]]] = field(default_factory=dict)

    def links(self, source: Sequence[str], target: Sequence[str | int]) -> list[tuple[int, int]]:
        left = " ".join(source)
        right = " ".join(word if isinstance(word, str) else f"[X,{word}]" for word in target)
        if (left, right) not in self.known:
            begin, end = self.grammar.find(left)
            same = (rule for rule in range(begin, end) if self.grammar.target(rule) == right)
            found = next(same, None)
            self.known[left, right] = [] if found is None else self.grammar.links(found)
        return self.known[left, right]


class _Placing:
    """The placed words of the derivations of one forest; what an edge adds is found once."""

    def __init__(self, forest: Forest, source: Sequence[str], rules: _Rules) -> None:
        self.forest, self.source, self.rules = forest, source, rules
        self.edges: dict[int, list[Placed | int]] = {}

    def words(self, derivation: Derivation) -> list[Placed]:
        """From the last entry of the pre-order to the first, so that what is below an edge is done before it."""
        edges, nodes = derivation.edges.tolist(), derivation.nodes.tolist()
        children: list[list[int]] = [[] for _ in edges]
        for place, parent in enumerate(derivation.parents.tolist()):
            if parent >= 0:
                children[parent].append(place)
        done: list[list[Placed]] = [[] for _ in edges]
        for place in range(len(edges) - 1, -1, -1):
            below = children[place]
            if edges[place] not in self.edges:
                self.edges[edges[place]] = self._edge(edges[place], nodes[place], [nodes[child] for child in below])
            for item in self.edges[edges[place]]:
                done[place] += done[below[item - 1]] if isinstance(item, int) else [item]
        return done[0]

    def _edge(self, edge: int, head: int, tails: Sequence[int]) -> list[Placed | int]:
        """The target side of an edge: words with their places, and numbers of nonterminals."""
        forest = self.forest
        numbers = forest.words[forest.word_begin[edge] : forest.word_begin[edge + 1]].tolist()
        target = [forest.vocab[number] if number >= 0 else -number for number in numbers]
        begin, end = self._span(head)
        spans = [self._span(tail) for tail in tails]
        symbols: list[str] = []
        places: list[int] = []
        at = begin
        for number, (hole, behind) in enumerate([*spans, (end, end)], 1):
            symbols += self.source[at:hole]
            places += range(at, hole)
            if number <= len(spans):
                symbols.append(f"[X,{number}]")
                places.append(hole)
            at = behind
        linked: dict[int, list[int]] = {}
        for s, t in self.rules.links(symbols, target) if any(isinstance(word, str) for word in target) else ():
            linked.setdefault(t, []).append(places[s])
        return [
            symbol if isinstance(symbol, int) else (symbol, _place(t, target, linked, spans, begin))
            for t, symbol in enumerate(target)
        ]

    def _span(self, node: int) -> tuple[int, int]:
        return int(self.forest.spans[2 * node]), int(self.forest.spans[2 * node + 1])


def _place(
    t: int, target: Sequence[str | int], linked: Mapping[int, list[int]], spans: Sequence[tuple[int, int]], begin: int
) -> int:
    """The source word of the t-th symbol: its own link, or that of the nearest symbol, of two the right one."""
    known = [u for u, symbol in enumerate(target) if isinstance(symbol, int) or u in linked]
    if not known:
        return begin
    u = min(known, key=lambda other: (abs(t - other), other < t))
    symbol = target[u]
    if isinstance(symbol, int):
        first, behind = spans[symbol - 1]
        return first if u > t else behind - 1
    return sorted(linked[u])[(len(linked[u]) - 1) // 2]
