"""Detects references of other sentences: shifted by a line, shuffled, or of another text. They cause no other error.

    for finding in references_fit(outputs, references, ["ref.0", "ref.1"]):
        warn(finding)

The words that a line shares with its reference, weighed by how rare they are, are compared with those that it shares
with the lines after and before, with the lines in reverse order, and with lines at random. A finding needs two things:
enough lines, and a difference that chance hardly makes. Bad outputs tell little: then there is no warning.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from hopefear._core import Pool
from hopefear.evaluation.spelling import ONE_WORD, plain, texts_of

LEAST = 20  # lines; fewer are not tested
SAMPLE = 1000  # lines that are looked at
FEW, ENOUGH = 50, 100  # lines from which references in no order at all are noticed, mostly and nearly always
SHIFTS = (1, -1, 2, -2)
CERTAIN = 5.0  # standard errors by which another order must be better
CHANCE = 2.0  # standard errors below which the order given is no better than a random one; half of it for few lines
ORDERS = 8  # at random, whose mean is compared with the order given
TYPES = 50  # distinct words that a text must have for the test
TRANSLATED = 120  # lines at least that are translated to be compared, of a longer text
LEAKED = 0.5  # share of sentences to be scored that were learnt from, for a warning; "yes" may occur often
SAME = 0.95  # share of lines that are equal from which a reference is the output itself


def references_fit(
    outputs: Sequence[str],
    references: Sequence[Sequence[str]],
    names: Sequence[str],
    seed: int = 1,
    what: str = "references",
) -> list[str]:
    """Findings about these references, which have a line for each output: at most one finding per file.

    ``names`` are those of the files. Several references are also compared with each other. ``what`` they are called.
    """
    if any(len(lines) != len(outputs) for lines in references):
        return []
    get = [lines.__getitem__ for lines in references]
    return _findings(outputs.__getitem__, get, len(outputs), names, seed, what)


def translated_fit(
    translate: Callable[[list[int]], Sequence[str]],
    references: Sequence[Sequence[str]],
    names: Sequence[str],
    seed: int = 1,
    what: str = "references",
) -> list[str]:
    """``references_fit`` for sentences without an output: ``translate`` gets the numbers of some lines."""
    count = len(references[0]) if references else 0
    if count < LEAST:
        return []
    step = _spaced(count).step
    rows = list(range(0, count, step * max(1, count // step // TRANSLATED)))
    outputs = [""] * count
    for row, text in zip(rows, translate(rows), strict=True):
        outputs[row] = text
    return references_fit(outputs, references, names, seed, what)


def pool_fit(pool: Pool, names: Sequence[str] = (), seed: int = 1) -> list[str]:
    """``references_fit`` for lists or forests with references."""
    count = min((len(pool.references(i)) for i in _spaced(len(pool))), default=0)
    references = cache(pool.references)
    columns = [partial(_reference, references, k) for k in range(count)]
    known = [*names, *(f"reference {k + 1}" for k in range(len(names), count))]
    if same := same_text(partial(_first, pool), columns, len(pool), known):
        return same
    return _findings(partial(texts_of, pool), columns, len(pool), known, seed)


Get = Callable[[int], str]
Places = NDArray[np.int64]


def _findings(
    outputs: Get, references: Sequence[Get], count: int, names: Sequence[str], seed: int, what: str = "references"
) -> list[str]:
    if count < LEAST or not references:
        return []
    for name, own in zip(names[1:], references[1:], strict=False):
        rows = [i for i in _spaced(count) if own(i).strip()]
        if rows and sum(own(i) == references[0](i) for i in rows) >= SAME * len(rows):
            return [f"{name} has the same lines as {names[0]}: another reference was meant, or it is there twice"]
    start = range(min(count, LEAST))
    split = _splitter([[get(i) for i in start] for get in (outputs, references[0])])
    numbers: dict[str, int] = defaultdict(itertools.count().__next__)
    spaced = np.array(_spaced(count), np.int64)
    near = sorted({*spaced.tolist(), *(i for places in _orders(spaced, count).values() for i in places.tolist())})
    near = [i for i in near if 0 <= i < count]
    output = _Lines(outputs, spaced.tolist(), count, split, numbers)
    given = [_Lines(get, near, count, split, numbers) for get in references]
    findings = [(name, _Fit(output, own, seed).finding()) for name, own in zip(names, given, strict=False)]
    if not any(finding for _, finding in findings):  # a poor output tells little: compare the references instead
        others = zip(names[1:], given[1:], strict=False)
        findings = [(f"{name}, compared with {names[0]},", _Fit(given[0], own, seed).finding()) for name, own in others]
    opening = f"{what} do not seem to belong to these sentences"
    return [f"{opening}: {name} {finding}" for name, finding in findings if finding]


def same_text(
    text: Get, references: Sequence[Get], count: int, names: Sequence[str], what: str = "output"
) -> list[str]:
    """Findings about references that are copies of the output or the source (``what``): scores are meaningless then."""
    if count < LEAST:
        return []
    rows = [i for i in _spaced(count) if text(i).strip()]
    own = [text(i).split() for i in rows]
    equal = [sum(words == get(i).split() for i, words in zip(rows, own, strict=True)) for get in references]
    return [
        f"{name} is the {what} itself in {100 * same / len(rows):.0f} % of the lines. "
        "Give human translations as references"
        for name, same in zip(names, equal, strict=False)
        if rows and same >= SAME * len(rows)
    ]


def leak(learnt_from: Sequence[str], others: Sequence[str], what: str) -> str | None:
    """A warning about sentences to be scored, called ``what``, most of which are among those learnt from."""
    known = set(learnt_from)
    count = sum(text in known for text in others)
    if len(others) < LEAST or count < LEAKED * len(others):
        return None
    return f"{count} of {len(others)} {what} are among those learnt from: their score says nothing about new ones"


def texts_for_leak(pool: Pool) -> list[str]:
    """By what the sentences of a pool are known again."""
    return ["\n".join([_first(pool, i), *pool.references(i)]) for i in range(len(pool))]


def _spaced(count: int) -> range:
    """The lines that are looked at."""
    return range(0, count, max(1, math.ceil(count / SAMPLE)))


def _first(pool: Pool, i: int) -> str:
    forest = pool[i]
    return pool.text(i, 0) if forest.edge_count and forest.is_list else ""


def _reference(references: Callable[[int], Sequence[str]], k: int, i: int) -> str:
    texts = references(i)
    return texts[k] if k < len(texts) else ""


def _splitter(sides: Sequence[Sequence[str]]) -> Callable[[str], Iterable[str]]:
    """Words, or pairs of characters where one side has no blanks between words."""
    full = [[line for line in side if line.strip()] for side in sides]
    lengths = [sum(map(len, side)) / max(1, sum(len(line.split()) for line in side)) for side in full]
    if max(lengths) < ONE_WORD:
        words = re.compile(r"\w+").findall
        return lambda line: words(plain(line))
    return lambda line: [a + b for a, b in itertools.pairwise("".join(plain(line).split()))]


class _Lines:
    """The distinct words of some lines of a text, as ascending numbers."""

    def __init__(
        self,
        get: Get,
        chosen: Sequence[int],
        count: int,
        split: Callable[[str], Iterable[str]],
        numbers: Mapping[str, int],
    ) -> None:
        each = [sorted([numbers[word] for word in set(split(get(i)))]) for i in chosen]
        self._words = np.fromiter(itertools.chain.from_iterable(each), np.int64)
        self.numbers = numbers
        self.sizes, self._begin = np.zeros(count, np.int64), np.zeros(count, np.int64)
        self.sizes[chosen] = [len(words) for words in each]
        self._begin[chosen] = np.cumsum(self.sizes[chosen]) - self.sizes[chosen]

    def __len__(self) -> int:
        return len(self.sizes)

    def joined(self, places: Places) -> tuple[Places, Places]:
        """The words of these lines one after the other, and which of them each is in; none beyond the text."""
        known = np.clip(places, 0, len(self) - 1)
        sizes = np.where(known == places, self.sizes[known], 0)
        at = np.repeat(np.arange(len(places)), sizes)
        shifts = self._begin[known] - (np.cumsum(sizes) - sizes)
        return self._words[np.arange(len(at)) + shifts[at]], at

    def distinct(self, rows: Places) -> int:
        """How many of these lines differ."""
        ends = self._begin[rows] + self.sizes[rows]
        return len({self._words[a:b].tobytes() for a, b in zip(self._begin[rows], ends, strict=True)})


def _orders(rows: Places, count: int) -> dict[str, Places]:
    """Other orders in which a text may have its lines: where the line that belongs to each row is then."""
    shifted = {f"line i{shift:+d}": rows - shift for shift in SHIFTS}
    return {**shifted, "the lines in reverse order": count - 1 - rows}


class _Fit:
    """How much lines share with lines of another text, in the order given and in others."""

    def __init__(self, lines: _Lines, others: _Lines, seed: int) -> None:
        self.lines, self.others = lines, others
        self.rows = np.array(_spaced(len(lines)), np.int64)
        self.rows = self.rows[(lines.sizes[self.rows] > 0) & (others.sizes[self.rows] > 0)]
        self.random = np.random.default_rng(seed)
        self.times = np.bincount(others.joined(self.rows)[0], minlength=len(others.numbers))
        count = len(self.rows)
        self.weight = np.where(self.times > 0, np.log((count + 1) / (self.times + 0.5)), math.log(2 * (count + 1)))
        words, at = lines.joined(self.rows)
        self.pairs = at * len(self.weight) + words  # of a place and a word there, ascending
        self.sizes = np.bincount(at, self.weight[words], count)

    def various(self) -> bool:
        """Whether the lines differ enough to tell an order at random."""
        count = len(self.rows)
        if count < FEW or np.count_nonzero(self.times) < TYPES:
            return False
        return all(own.distinct(self.rows) > count / 2 for own in (self.lines, self.others))

    def _with(self, places: Places) -> NDArray[np.float64]:
        """The weight of the words that each line shares with the one at its place among the others, from 0 to 1."""
        words, at = self.others.joined(places)
        pairs, weight, count = at * len(self.weight) + words, self.weight[words], len(self.rows)
        found = self.pairs[np.minimum(np.searchsorted(self.pairs, pairs), len(self.pairs) - 1)] == pairs
        both, sizes = np.bincount(at, weight * found, count), np.bincount(at, weight, count)
        return both / np.sqrt(self.sizes * np.maximum(sizes, 1e-9))

    def better_than_chance(self) -> float:
        """By how many standard errors the order given is better than orders at random."""
        orders = [np.roll(self.random.permutation(self.rows), 1) for _ in range(ORDERS)]
        return _errors(self._with(self.rows) - np.mean([self._with(order) for order in orders], axis=0))

    def finding(self) -> str:
        """The finding about this order, or an empty string."""
        if len(self.rows) < LEAST:
            return ""
        if finding := self.misplaced():
            return finding
        least = CHANCE if len(self.rows) >= ENOUGH else CHANCE / 2
        hopeless = self.better_than_chance() < least and self.various()
        return "matches its lines no better than random lines" if hopeless else ""

    def misplaced(self) -> str:
        """Which other order is better, of all lines or from some line on."""
        own = self._with(self.rows)
        gains = {name: self._with(places) - own for name, places in _orders(self.rows, len(self.others)).items()}
        for part in [slice(None), *self._parts()]:
            if part.stop is not None and part.stop - part.start < LEAST:
                continue
            name, errors = max(((n, _errors(gain[part])) for n, gain in gains.items()), key=lambda pair: pair[1])
            if errors > CERTAIN:
                other = float((own + gains[name])[part].mean())
                where = f", from about line {int(self.rows[part.start]) + 1} on" if part.start else ""
                return f"fits {name} better{where} (likeness {other:.2f} instead of {float(own[part].mean()):.2f})"
        return ""

    def _parts(self) -> list[slice]:
        """Ten stretches: a line that is missing in the middle misplaces all that follow."""
        ends = np.linspace(0, len(self.rows), 11).astype(int)
        return [slice(int(a), int(b)) for a, b in itertools.pairwise(ends)]


def _errors(gain: NDArray[np.float64]) -> float:
    """The mean in standard errors."""
    deviation = float(gain.std(ddof=1))
    return float(gain.mean()) / (deviation / math.sqrt(len(gain))) if deviation > 0 else 0.0
