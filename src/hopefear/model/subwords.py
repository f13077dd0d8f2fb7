"""Sub-words: rare words in parts that are frequent, learnt by byte-pair encoding (Sennrich et al. 2016, algorithm 1).

Words begin as letters. The most frequent pair of neighbours becomes one part, again and again; new words are put
together by the same merges in the same order. All parts of a word but its last end with ``@@``.
"""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import heapify, heappop, heappush
from itertools import pairwise

JOIN = "@@"
MERGES = 8000  # docs/prepare-data.md
LEAST = 2  # occurrences of a pair that becomes one part

Two = tuple[str, str]


@dataclass(frozen=True)
class Merges:
    """Pairs of parts that become one, in this order."""

    pairs: tuple[Two, ...]

    @cached_property
    def _ranks(self) -> dict[Two, int]:
        return {pair: rank for rank, pair in enumerate(self.pairs)}

    def split(self, word: str) -> list[str]:
        """The parts of a word, with its capitals. A word that has anything but letters stays whole."""
        lower = word.lower()
        if len(lower) != len(word) or not is_split(word):
            return [word]
        parts, ranks = _letters(lower), self._ranks
        while len(parts) > 1:
            best = min(pairwise(parts), key=lambda pair: ranks.get(pair, len(ranks)))
            if best not in ranks:
                break
            parts = _merged(parts, best)
        begin, result = 0, []
        for part in parts:
            result.append(word[begin : begin + len(part)] + JOIN)
            begin += len(part)
        result[-1] = result[-1].removesuffix(JOIN)
        return result

    def as_list(self) -> list[str]:
        """As ``model.json`` has them."""
        return [" ".join(pair) for pair in self.pairs]

    @classmethod
    def from_list(cls, merges: Iterable[str]) -> Merges:
        """The inverse of :meth:`as_list`."""
        return cls(tuple((first, second) for first, _, second in (str(pair).partition(" ") for pair in merges)))


def learn_merges(words: Counter[str], most: int = MERGES) -> Merges:
    """The merges for a text with these words. Of equal pairs, the first in the alphabet is taken."""
    texts = [(_letters(word), count) for word, count in sorted(words.items()) if is_split(word)]
    counts: Counter[Two] = Counter()
    places: defaultdict[Two, set[int]] = defaultdict(set)  # words that have, or had, a pair
    for number, (parts, count) in enumerate(texts):
        for pair in pairwise(parts):
            counts[pair] += count
            places[pair].add(number)
    queue = [(-count, pair) for pair, count in counts.items()]
    heapify(queue)
    chosen: list[Two] = []
    while queue and len(chosen) < most:
        negative, best = heappop(queue)
        if counts[best] != -negative:  # it has changed since; its new count is in the queue too
            continue
        if counts[best] < LEAST:
            break
        chosen.append(best)
        changed: set[Two] = set()
        for number in places.pop(best):
            parts, count = texts[number]
            for pair in pairwise(parts):
                counts[pair] -= count
                changed.add(pair)
            parts[:] = _merged(parts, best)
            for pair in pairwise(parts):
                counts[pair] += count
                changed.add(pair)
                places[pair].add(number)
        for pair in changed - {best}:
            heappush(queue, (-counts[pair], pair))
    return Merges(tuple(chosen))


def is_split(word: str) -> bool:
    """Whether a word has parts: it is made of letters and their marks."""
    return all(c.isalpha() or _is_mark(c) for c in word)


def _is_mark(character: str) -> bool:
    return unicodedata.category(character)[0] == "M"


def _letters(word: str) -> list[str]:
    """Letters with their marks."""
    letters: list[str] = []
    for c in word:
        if letters and not c.isascii() and _is_mark(c):
            letters[-1] += c
        else:
            letters.append(c)
    return letters


def _merged(parts: Sequence[str], pair: Two) -> list[str]:
    """The parts with each occurrence of a pair as one."""
    result: list[str] = []
    place = 0
    while place < len(parts):
        if tuple(parts[place : place + 2]) == pair:
            result.append(pair[0] + pair[1])
            place += 2
        else:
            result.append(parts[place])
            place += 1
    return result
