"""Corrections in memory: pairs of sentences with their links, and what a new sentence has in common with them.

A memory only grows, so that many threads may read one: a :class:`View` is what it was at some moment, less what was
undone. Of several corrections of one sentence the last counts. The rules that follow from pairs are in
:class:`~hopefear._core.LearntRules`, which has the same pairs by the same numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hopefear.learning.alignment import Links
from hopefear.model.language_model import LanguageModel

Words = tuple[str, ...]
LONGEST = 1 << 10  #: words of a sentence in the memory
PHRASE = 7  #: words of a phrase
_LOOKED_AT = 25  # pairs with a word that are looked at, the latest
_WIDEST = 50  # sentences compared with one, at most


@dataclass(frozen=True, slots=True)
class CorrectedPair:
    """A sentence and its correction."""

    owner: tuple[int, int]  #: the layer, and the number of the correction in it
    part: int  #: which sentence of the correction
    text: str  #: the source as it was written
    correction: str
    source: Words
    target: Words
    links: Links
    reach: tuple[
        tuple[int, int], ...
    ]  #: of each source word: the first and the last target word linked to it; or (1, 0)
    back: tuple[tuple[int, int], ...]  #: the same of each target word

    @classmethod
    def of(
        cls, owner: tuple[int, int], part: int, texts: tuple[str, str], source: Words, target: Words, links: Links
    ) -> CorrectedPair:
        """A pair of texts with their tokens."""
        back = _reach([(t, s) for s, t in links], len(target))
        return cls(owner, part, *texts, source, target, links, _reach(links, len(source)), back)

    def phrase(self, begin: int, end: int, longest: int) -> tuple[int, int] | None:
        """The target words that are the translation of the source words ``[begin, end)``; None if there are none."""
        reach = self.reach
        if reach[begin][1] < reach[begin][0] or reach[end - 1][1] < reach[end - 1][0]:
            return None
        first, last = reach[begin]
        for low, high in reach[begin + 1 : end]:
            if low <= high:
                first, last = min(first, low), max(last, high)
        if last - first >= longest:
            return None
        if any(low <= high and (low < begin or high >= end) for low, high in self.back[first : last + 1]):
            return None
        return first, last + 1

    def phrases(self, longest: int) -> Iterator[tuple[int, int, int, int]]:
        """All phrase pairs: source words [begin, end), target words [start, stop)."""
        for begin in range(len(self.source)):
            for end in range(begin + 1, min(len(self.source), begin + longest) + 1):
                if (target := self.phrase(begin, end, longest)) is not None:
                    yield begin, end, *target


def _reach(links: Links, length: int) -> tuple[tuple[int, int], ...]:
    reach = [(1, 0)] * length
    for s, t in links:
        low, high = reach[s]
        reach[s] = (min(low, t), max(high, t)) if low <= high else (t, t)
    return tuple(reach)


class Memory:
    """All pairs, with an index of their words."""

    def __init__(self) -> None:
        self.pairs: list[CorrectedPair] = []
        self.places: dict[str, list[tuple[int, int]]] = {}  # of each word: pairs, and its place in them
        self.exact: dict[str, list[int]] = {}
        self.top = 0  # the highest layer
        self._repeated: set[str] = set()  # keys of several pairs
        self._owned: dict[tuple[int, int], list[int]] = {}  # the pairs of a correction

    def add(self, pair: CorrectedPair) -> None:
        """Adds a pair. Views that exist already do not see it."""
        number = len(self.pairs)
        self.pairs.append(pair)
        self.top = max(self.top, pair.owner[0])
        for place, word in enumerate(pair.source):
            self.places.setdefault(word, []).append((number, place))
        key = key_of(pair.text)
        same = self.exact.setdefault(key, [])
        same.append(number)
        if len(same) > 1:
            self._repeated.add(key)
        self._owned.setdefault(pair.owner, []).append(number)

    def last(self, key: str, count: int, undone: frozenset[tuple[int, int]]) -> int:
        """The pair that counts among the first ``count`` with this source: the last of the highest layer; or -1."""
        seen = [n for n in self.exact.get(key, ()) if n < count and self.pairs[n].owner not in undone]
        return max(seen, key=lambda number: (self.pairs[number].owner[0], number), default=-1)

    def live(self, count: int, undone: frozenset[tuple[int, int]]) -> NDArray[np.uint8]:
        """Whether each of the first pairs counts: it was not undone, and no other takes its place."""
        live = np.ones(count, np.uint8)
        for owner in undone:
            live[[number for number in self._owned.get(owner, ()) if number < count]] = 0
        for key in self._repeated:
            live[[number for number in self.exact[key] if number < count]] = 0
            if (last := self.last(key, count, undone)) >= 0:
                live[last] = 1
        return live


def key_of(text: str) -> str:
    """The key of a sentence: its text with single blanks."""
    return " ".join(text.split())


@dataclass(frozen=True)
class View:
    """A memory at some moment. It does not change."""

    memory: Memory
    count: int = 0  #: pairs it has
    undone: frozenset[tuple[int, int]] = frozenset()  #: owners whose pairs do not count
    tuned: Mapping[str, float] = field(default_factory=dict)  #: what is added to the weights of the model
    ngrams: LanguageModel | None = None  #: of the target side
    live: NDArray[np.uint8] = field(init=False, repr=False, compare=False)  #: whether each pair counts

    def __post_init__(self) -> None:
        object.__setattr__(self, "live", self.memory.live(self.count, self.undone))

    def __bool__(self) -> bool:
        return bool(self.live.any())

    def exact(self, text: str) -> CorrectedPair | None:
        """The last correction of this sentence."""
        number = self.memory.last(key_of(text), self.count, self.undone)
        return self.memory.pairs[number] if number >= 0 else None

    def knows(self, word: str) -> bool:
        """Whether a correction has translated a word into something else than itself."""
        for number, begin in self._occurrences(word):
            pair = self.memory.pairs[number]
            target = pair.phrase(begin, begin + 1, PHRASE)
            if target is not None and pair.target[target[0] : target[1]] != (word,):
                return True
        return False

    def _occurrences(self, word: str) -> list[tuple[int, int]]:
        places = self.memory.places.get(word, ())[-_LOOKED_AT:]
        return [(number, begin) for number, begin in places if number < self.count and self.live[number]]

    def near(self, words: Sequence[str], least: float, n: int) -> list[tuple[float, CorrectedPair]]:
        """Pairs whose source is like a sentence: the share of words that need not be changed, and the pair."""
        shared: dict[int, int] = {}
        for word in set(words):
            for number, _ in self._occurrences(word):
                shared[number] = shared.get(number, 0) + 1
        candidates = sorted(shared, key=lambda number: (-shared[number], -number))[:_WIDEST]
        wanted = _classes(words)
        matches = []
        for number in candidates:
            source = self.memory.pairs[number].source
            match = 1 - distance(wanted, _classes(source)) / max(len(words), len(source), 1)
            if match >= least:
                matches.append((match, number))
        matches.sort(key=lambda pair: (-pair[0], -pair[1]))
        return [(match, self.memory.pairs[number]) for match, number in matches[:n]]


def _classes(words: Sequence[str]) -> list[str]:
    """Words, numbers of which are all the same."""
    return ["0" if any(c.isdigit() for c in word) else word for word in words]


def distance(left: Sequence[str], right: Sequence[str]) -> int:
    """Words to insert, to delete or to change (Levenshtein)."""
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        before, row[0] = row[0], i
        for j, b in enumerate(right, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (a != b))
    return row[-1]


def with_numbers(pair: CorrectedPair, words: Sequence[str]) -> str | None:
    """The correction of a sentence that differs in numbers only, with the numbers of this one; None if it differs more.

    ``words``: of the new sentence. A number that the correction does not have once cannot be replaced.
    """
    if len(words) != len(pair.source) or _classes(words) != _classes(pair.source):
        return None
    text = f" {pair.correction} "
    changes: Mapping[str, str] = {a: b for a, b in zip(pair.source, words, strict=True) if a != b}
    pieces: list[tuple[int, str, str]] = []
    for old, new in changes.items():
        if text.count(old) != 1 or sum(a == old for a in pair.source) != 1:
            return None
        at = text.index(old)
        if text[at - 1].isalnum() or text[at + len(old)].isalnum():
            return None
        pieces.append((at, old, new))
    for at, old, new in sorted(pieces, reverse=True):
        text = text[:at] + new + text[at + len(old) :]
    return text[1:-1]
