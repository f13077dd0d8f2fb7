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
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial

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
    columns = [partial(_reference, pool, k) for k in range(count)]
    known = [*names, *(f"reference {k + 1}" for k in range(len(names), count))]
    if same := same_text(partial(_first, pool), columns, len(pool), known):
        return same
    return _findings(partial(texts_of, pool), columns, len(pool), known, seed)


Get = Callable[[int], str]


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
    output, *given = (_Lines(get, count, split) for get in (outputs, *references))
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
    shares = [sum(text(i).split() == get(i).split() for i in rows) / max(1, len(rows)) for get in references]
    return [
        f"{name} is the {what} itself in {100 * share:.0f} % of the lines. Give human translations as references"
        for name, share in zip(names, shares, strict=False)
        if share >= SAME
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


def _reference(pool: Pool, k: int, i: int) -> str:
    texts = pool.references(i)
    return texts[k] if k < len(texts) else ""


def _splitter(sides: Sequence[Sequence[str]]) -> Callable[[str], frozenset[str]]:
    """Words, or pairs of characters where one side has no blanks between words."""
    full = [[line for line in side if line.strip()] for side in sides]
    lengths = [sum(map(len, side)) / max(1, sum(len(line.split()) for line in side)) for side in full]
    if max(lengths) < ONE_WORD:
        return lambda line: frozenset(re.findall(r"\w+", plain(line)))
    return lambda line: frozenset(a + b for a, b in itertools.pairwise("".join(plain(line).split())))


class _Lines:
    """The words of lines, split when they are asked for."""

    def __init__(self, get: Get, count: int, split: Callable[[str], frozenset[str]]) -> None:
        self._get, self._count, self._split = get, count, split
        self._known: dict[int, frozenset[str]] = {}

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, i: int) -> frozenset[str]:
        if i not in self._known:
            self._known[i] = self._split(self._get(i))
        return self._known[i]


class _Fit:
    """How much lines share with lines of another text, in the order given and in others."""

    def __init__(self, lines: _Lines, others: _Lines, seed: int) -> None:
        self.lines, self.others = lines, others
        self.rows = np.array([i for i in _spaced(len(lines)) if lines[i] and others[i]], np.int64)
        own = [others[int(i)] for i in self.rows]
        times = Counter(word for words in own for word in words)
        self.weight = {word: math.log((len(own) + 1) / (count + 0.5)) for word, count in times.items()}
        self.unseen = math.log(2 * (len(own) + 1))
        self.sizes = {int(i): self._size(lines[int(i)]) for i in self.rows}
        self.other_sizes: dict[int, float] = {}
        self.random = np.random.default_rng(seed)
        self.various = len(own) >= FEW and len(times) >= TYPES and len(set(own)) > len(own) / 2
        self.various = self.various and len({lines[int(i)] for i in self.rows}) > len(own) / 2

    def _shared(self, i: int, j: int) -> float:
        """The weight of the words that two lines share, from 0 to 1."""
        if not 0 <= j < len(self.others):
            return 0.0
        other = self.others[j]
        both = self._size(self.lines[i] & other)
        if not both:
            return 0.0
        if j not in self.other_sizes:
            self.other_sizes[j] = self._size(other)
        return both / math.sqrt(self.sizes[i] * self.other_sizes[j])

    def _size(self, words: frozenset[str]) -> float:
        weight, unseen = self.weight.get, self.unseen
        return sum([weight(word, unseen) for word in words])  # a list: generators take twice as long here

    def _with(self, places: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.array([self._shared(int(i), int(j)) for i, j in zip(self.rows, places, strict=True)])

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
        hopeless = self.various and self.better_than_chance() < least
        return "matches its lines no better than random lines" if hopeless else ""

    def misplaced(self) -> str:
        """Which other order is better, of all lines or from some line on."""
        own = self._with(self.rows)
        last = len(self.others) - 1
        orders = {f"line i{shift:+d}": self.rows - shift for shift in SHIFTS}
        orders["the lines in reverse order"] = last - self.rows
        gains = {name: self._with(places) - own for name, places in orders.items()}
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
