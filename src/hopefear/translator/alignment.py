"""Which words of a translation come from which of the source: the rules of a derivation know it.

A rule of the grammar brings the word alignment it was extracted with; where it has none, as rules of a sentence and
rules from elsewhere, its words are spread over those of its source side.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from hopefear._core import Derivation, Grammar

Links = Callable[[Sequence[str], Sequence[str | int]], list[tuple[int, int]]]
_REMEMBERED = 200_000  # rules


@dataclass(frozen=True, slots=True)
class Phrase:
    """What one rule without nonterminals said: source words [begin, end) are target words [start, stop)."""

    begin: int
    end: int
    start: int
    stop: int
    features: dict[int, float] = field(default_factory=dict)

    def moved(self, source: int, target: int) -> Phrase:
        """The same further right."""
        return Phrase(self.begin + source, self.end + source, self.start + target, self.stop + target, self.features)


@dataclass(slots=True)
class DerivationAlignment:
    """The words of a derivation, their links (source, target), and its rules without nonterminals."""

    words: list[str]
    links: list[tuple[int, int]]
    phrases: list[Phrase]


class Aligner:
    """Alignments of the derivations of one model."""

    def __init__(self, grammar: Grammar) -> None:
        self._grammar = grammar
        self._links: dict[tuple[str, str], list[tuple[int, int]]] = {}

    def align(self, derivation: Derivation, source: Sequence[str]) -> DerivationAlignment:
        """``source``: the words that were decoded."""
        return _Walk(derivation, source, self.links).run() if source else DerivationAlignment([], [], [])

    def links(self, source: Sequence[str], target: Sequence[str | int]) -> list[tuple[int, int]]:
        """The links of a rule, in symbols of both sides; nonterminals of the source side are ``[X,1]``, ``[X,2]``."""
        left = " ".join(source)
        right = " ".join(word if isinstance(word, str) else f"[X,{word}]" for word in target)
        known = self._links.get((left, right))
        if known is None:
            known = self._looked_up(left, right) or _spread(source, target)
            if len(self._links) > _REMEMBERED:
                self._links.clear()
            self._links[left, right] = known
        return known

    def _looked_up(self, source: str, target: str) -> list[tuple[int, int]]:
        begin, end = self._grammar.find(source)
        for rule in range(begin, end):
            if self._grammar.target(rule) == target:
                return self._grammar.links(rule)
        return []


def _spread(source: Sequence[str], target: Sequence[str | int]) -> list[tuple[int, int]]:
    """Each word of the target side linked to the one at its share of the source side."""
    left = [place for place, word in enumerate(source) if not word.startswith("[X,")]
    right = [place for place, word in enumerate(target) if isinstance(word, str)]
    return [(left[k * len(left) // len(right)], place) for k, place in enumerate(right)] if left else []


class _Walk:
    """From the goal of a derivation down, putting together what stands where."""

    def __init__(self, derivation: Derivation, source: Sequence[str], links: Links) -> None:
        self._forest, self._source = derivation.forest, source
        self._links_of = links
        self._edges, self._nodes = derivation.edges.tolist(), derivation.nodes.tolist()
        self._children: list[list[int]] = [[] for _ in self._edges]
        for place, parent in enumerate(derivation.parents.tolist()):
            if parent >= 0:
                self._children[parent].append(place)
        self._spans = self._forest.spans
        self._word_begin = self._forest.word_begin

    def run(self) -> DerivationAlignment:
        """Bottom up: pre-order from behind, so that no depth of a sentence is too much for Python."""
        done: list[DerivationAlignment | None] = [None] * len(self._edges)
        for place in range(len(self._edges) - 1, -1, -1):
            done[place] = self._edge(place, [done[child] for child in self._children[place]])
            for child in self._children[place]:
                done[child] = None
        whole = done[0]
        assert whole is not None
        return DerivationAlignment(whole.words, sorted(whole.links), sorted(whole.phrases, key=lambda p: p.start))

    def _span(self, place: int) -> tuple[int, int]:
        node = self._nodes[place]
        return int(self._spans[2 * node]), int(self._spans[2 * node + 1])

    def _edge(self, place: int, below: Sequence[DerivationAlignment | None]) -> DerivationAlignment:
        forest, edge = self._forest, self._edges[place]
        numbers = forest.words[self._word_begin[edge] : self._word_begin[edge + 1]].tolist()
        target = [forest.vocab[number] if number >= 0 else -number for number in numbers]
        source, places = self._source_side(place)
        starts: list[int] = []  # of each target symbol
        whole = DerivationAlignment([], [], [])
        for symbol in target:
            starts.append(len(whole.words))
            if isinstance(symbol, str):
                whole.words.append(symbol)
                continue
            child = below[symbol - 1]
            assert child is not None
            shift = starts[-1]
            whole.words += child.words
            whole.links += [(s, t + shift) for s, t in child.links]
            whole.phrases += [phrase.moved(0, shift) for phrase in child.phrases]
        if any(not word.startswith("[X,") for word in source) and any(isinstance(word, str) for word in target):
            links = self._links_of(source, target)
            whole.links += [(places[s], starts[t]) for s, t in links]
        if not below:
            begin, end = self._span(place)
            values = forest.dense[edge]
            features = {int(i): float(values[i]) for i in values.nonzero()[0]}
            whole.phrases.append(Phrase(begin, end, 0, len(whole.words), features))
        return whole

    def _source_side(self, place: int) -> tuple[list[str], list[int]]:
        """The symbols of a rule's source side, and where each begins."""
        at, end = self._span(place)
        symbols: list[str] = []
        places: list[int] = []
        for number, child in enumerate(self._children[place], 1):
            child_begin, child_end = self._span(child)
            symbols += self._source[at:child_begin]
            places += range(at, child_begin)
            symbols.append(f"[X,{number}]")
            places.append(child_begin)
            at = child_end
        symbols += self._source[at:end]
        places += range(at, end)
        return symbols, places
