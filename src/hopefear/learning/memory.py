"""What corrections said: pairs of sentences with their links, found by what a new sentence has in common with them.

A memory only grows, so that many threads may read one: a :class:`View` is what it was at some moment, less what was
undone. Phrase pairs are extracted when a sentence asks for them (Lopez 2007), under the limits of ``hopefear build``:
some link inside, none that leaves, both edges aligned. Of several corrections of one sentence the last counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from hopefear.learning.alignment import Links

Words = tuple[str, ...]
_INDEXED = 3  # words of the longest n-grams in the index
_LOOKED_AT = 25  # occurrences of an n-gram that are looked at, the latest
_BITS = 10  # of a place in a sentence
LONGEST = 1 << _BITS  #: words of a sentence in the memory
_WIDEST = 50  # sentences compared with one, at most


@dataclass(frozen=True, slots=True)
class Pair:
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
    ) -> Pair:
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


@dataclass(slots=True)
class Evidence:
    """A translation of a span of a sentence, and what speaks for it."""

    target: Words
    links: Links
    weight: float = 0.0  #: occurrences, of which old ones count less
    latest: int = -1  #: number of the last pair that has it


class Memory:
    """All pairs, and where each of their n-grams stands."""

    def __init__(self) -> None:
        self.pairs: list[Pair] = []
        self.places: dict[Words, list[int]] = {}
        self.exact: dict[str, list[int]] = {}
        self.top = 0  # the highest layer

    def add(self, pair: Pair) -> None:
        """Adds a pair. Views that exist already do not see it."""
        number = len(self.pairs)
        self.pairs.append(pair)
        self.top = max(self.top, pair.owner[0])
        for size in range(1, _INDEXED + 1):
            for begin in range(len(pair.source) - size + 1):
                gram = pair.source[begin : begin + size]
                self.places.setdefault(gram, []).append(number << _BITS | begin)
        self.exact.setdefault(key_of(pair.text), []).append(number)


def key_of(text: str) -> str:
    """What two texts have in common that are the same sentence."""
    return " ".join(text.split())


@dataclass(frozen=True)
class View:
    """A memory at some moment. It does not change."""

    memory: Memory
    count: int = 0  #: pairs it has
    undone: frozenset[tuple[int, int]] = frozenset()  #: owners whose pairs do not count
    decay: float = 0.9995  #: what an occurrence is worth, for each pair that came after it
    longest: int = 7  #: words of a phrase
    _live: dict[int, bool] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __bool__(self) -> bool:
        return self.count > len(self.undone)

    def exact(self, text: str) -> Pair | None:
        """The last correction of this sentence."""
        number = self._last(key_of(text))
        return self.memory.pairs[number] if number >= 0 else None

    def _last(self, key: str) -> int:
        """Of the pairs with this source the one that counts: the last of the highest layer."""
        pairs, best = self.memory.pairs, -1
        for number in reversed(self.memory.exact.get(key, ())):
            if number >= self.count or pairs[number].owner in self.undone:
                continue
            if best < 0 or pairs[number].owner[0] > pairs[best].owner[0]:
                best = number
            if pairs[best].owner[0] == self.memory.top:
                break
        return best

    def is_live(self, number: int) -> bool:
        """Whether a pair counts: it is seen from here, was not undone, and no later one takes its place."""
        known = self._live.get(number)
        if known is None:
            known = number < self.count and self._last(key_of(self.memory.pairs[number].text)) == number
            self._live[number] = known
        return known

    def knows(self, word: str) -> bool:
        """Whether a correction has translated a word into something else than itself."""
        for number, begin in self._occurrences((word,)):
            pair = self.memory.pairs[number]
            target = pair.phrase(begin, begin + 1, self.longest)
            if target is not None and pair.target[target[0] : target[1]] != (word,):
                return True
        return False

    def _occurrences(self, gram: Words) -> list[tuple[int, int]]:
        places = self.memory.places.get(gram, ())[-_LOOKED_AT:]
        mask = LONGEST - 1
        return [(at >> _BITS, at & mask) for at in places if self.is_live(at >> _BITS)]

    def evidence(self, words: Sequence[str]) -> Iterator[tuple[int, int, list[Evidence]]]:
        """What corrections say about spans of a sentence: begin, end, and translations, those that weigh most first."""
        for begin in range(len(words)):
            occurrences: list[tuple[int, int]] = []
            for end in range(begin + 1, min(len(words), begin + self.longest) + 1):
                size = end - begin
                if size <= _INDEXED:
                    occurrences = self._occurrences(tuple(words[begin:end]))
                else:
                    occurrences = [each for each in occurrences if self._goes_on(each, size, words[end - 1])]
                if not occurrences:
                    break
                if ways := self._ways(occurrences, size):
                    yield begin, end, ways

    def _goes_on(self, occurrence: tuple[int, int], size: int, word: str) -> bool:
        source = self.memory.pairs[occurrence[0]].source
        place = occurrence[1] + size - 1
        return place < len(source) and source[place] == word

    def _ways(self, occurrences: Sequence[tuple[int, int]], size: int) -> list[Evidence]:
        ways: dict[Words, Evidence] = {}
        for number, begin in occurrences:
            pair = self.memory.pairs[number]
            span = pair.phrase(begin, begin + size, self.longest)
            if span is None:
                continue
            start, stop = span
            target = pair.target[start:stop]
            way = ways.get(target)
            if way is None:
                links = [(s - begin, t - start) for s, t in pair.links if begin <= s < begin + size]
                way = ways[target] = Evidence(target, links)
            way.weight += self.decay ** (self.count - 1 - number)
            way.latest = max(way.latest, number)
        return sorted(ways.values(), key=lambda way: (-way.weight, -way.latest))

    def near(self, words: Sequence[str], least: float, n: int) -> list[tuple[float, Pair]]:
        """Pairs whose source is like a sentence: the share of words that need not be changed, and the pair."""
        shared: dict[int, int] = {}
        for word in set(words):
            for number, _ in self._occurrences((word,)):
                shared[number] = shared.get(number, 0) + 1
        candidates = sorted(shared, key=lambda number: (-shared[number], -number))[:_WIDEST]
        wanted = _classes(words)
        matches = []
        for number in candidates:
            source = self.memory.pairs[number].source
            match = 1 - distance(wanted, _classes(source)) / max(len(words), len(source), 1)
            if match >= least:
                matches.append((match, number))
        matches.sort(key=lambda each: (-each[0], -each[1]))
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


def with_numbers(pair: Pair, words: Sequence[str]) -> str | None:
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
