"""Whether the two sides of a parallel text belong together: the same file twice, a side that is a line off, no order.

A small translation model (IBM model 1, Brown et al. 1993) is learnt from every second pair of a sample, and asked how
likely the other pairs are, for each word of the target: as they are given, with the target a line off, and at random.
In a parallel text the pairs given are far likelier than those at random, and no other order comes near.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

PARTS = 3  # of a long file
LONG = 1000  # pairs that a part has at least
SAMPLE = 2000  # pairs that are looked at, in a row
LEAST = 200  # pairs; fewer tell nothing
WORDS = 40  # of a longer line, those that are looked at
ROUNDS = 5  # of expectation maximisation
SHIFTS = (1, -1, 2, -2)
SAME = 0.5  # share of pairs with two equal sides from which they are one text
ERRORS = 4.0  # standard errors by which another order must be better
CHANCE = 2.5  # standard errors below which the order given is no better than a random one

Numbers = NDArray[np.float64]
Sides = tuple[list[NDArray[np.int64]], list[NDArray[np.int64]]]


@dataclass(frozen=True)
class Pairing:
    """What was measured: equal pairs, and by how much pairs are likelier than at random (nats per target word)."""

    pairs: int
    same: float  # share of pairs whose sides are equal
    gain: float  # as they are given
    error: float  # standard error of the gain
    shifted: float  # with the target a line or two off, the best way
    shift: int  # that way

    def warning(self) -> str | None:
        """A line for the user, if the sides do not seem to belong together."""
        if self.pairs < LEAST:
            return None
        if self.same >= SAME:
            return f"source and target are equal in {100 * self.same:.0f} % of the pairs. Is one file given for both?"
        figures = f"{self.gain:+.2f} nats per word over pairs at random"
        if self.shifted > self.gain + ERRORS * self.error and self.shifted > 1.3 * max(self.gain, 0.0):
            finding = f"the target seems to be {abs(self.shift)} line{'s' * (abs(self.shift) > 1)}"
            finding += (
                f" {'behind' if self.shift > 0 else 'ahead of'} the source ({self.shifted:+.2f} nats per word so,"
            )
            return f"{finding} {self.gain:+.2f} as given). Are lines missing in one file?"
        if self.gain < CHANCE * self.error or self.gain <= 0:
            cure = "Are these the right files?"
            return f"source and target do not seem to be translations of each other ({figures}). {cure}"
        return None


def findings(
    source: Sequence[str], target: Sequence[str], files: Sequence[tuple[str, int]], seed: int = 1
) -> list[str]:
    """What speaks against parallel files joined into one text: the first finding of each file, or nothing.

    ``files``: the name of each, and the number of pairs up to its end. A line that is missing in the middle misplaces
    those that follow, so the beginning, the middle and the end of a long file are measured.
    """
    warnings, begin = [], 0
    for name, end in files:
        parts = min(PARTS, max(1, (end - begin) // LONG))
        edges = [begin + (end - begin) * part // parts for part in range(parts + 1)]
        for first, last in itertools.pairwise(edges):
            if warning := pairing(source[first:last], target[first:last], seed).warning():
                place = f"pairs {first - begin + 1:,} to {last - begin:,}" if parts > 1 else ""
                where = ", ".join(each for each in (name if len(files) > 1 else "", place) if each)
                warnings.append(f"{where}: {warning}" if where else warning)
                break
        begin = end
    return warnings


def pairing(source: Sequence[str], target: Sequence[str], seed: int = 1) -> Pairing:
    """Measure a parallel text of tokens by a sample of it."""
    count = min(len(source), len(target))
    begin = (count - min(count, SAMPLE)) // 2
    part = slice(begin, begin + min(count, SAMPLE))
    same = float(np.mean([a == b for a, b in zip(source[part], target[part], strict=True)])) if count else 0.0
    if count < LEAST:
        return Pairing(count, same, 0.0, 0.0, 0.0, 0)
    sides = _numbers(source[part]), _numbers(target[part])
    gain, error = _gain(sides, 0, seed)
    shifted, shift = max((_gain(sides, shift, seed)[0], shift) for shift in SHIFTS)
    return Pairing(count, same, gain, error, shifted, shift)


def _numbers(lines: Sequence[str]) -> list[NDArray[np.int64]]:
    """Words as numbers from 1, those that occur once as 1; 0 is the empty word."""
    counts: dict[str, int] = {}
    for line in lines:
        for word in line.split()[:WORDS]:
            counts[word] = counts.get(word, 0) + 1
    number = {word: k for k, word in enumerate((word for word, times in counts.items() if times > 1), 2)}
    return [np.array([number.get(word, 1) for word in line.split()[:WORDS]], np.int64) for line in lines]


def _gain(sides: Sides, shift: int, seed: int) -> tuple[float, float]:
    """How much likelier held-out pairs are than at random, when target line i + shift goes with source line i."""
    source, target = sides
    size = max(int(words.max(initial=0)) for words in target) + 1
    rows = np.arange(max(0, -shift), len(source) - max(0, shift))
    learnt, held = rows[::2], rows[1::2]
    codes, chances = _model([source[i] for i in learnt], [target[i + shift] for i in learnt], size)
    given = _likelihood([source[i] for i in held], [target[i + shift] for i in held], size, codes, chances)
    other = np.roll(np.random.default_rng(seed).permutation(held), 1)
    at_random = _likelihood([source[i] for i in other], [target[i + shift] for i in held], size, codes, chances)
    gains = given - at_random
    return float(gains.mean()), float(gains.std(ddof=1)) / float(np.sqrt(len(gains)))


def _links(
    source: Sequence[NDArray[np.int64]], target: Sequence[NDArray[np.int64]], size: int
) -> tuple[NDArray[np.int64], ...]:
    """All pairs of words of each pair of lines: their code, and the number of the target word among all."""
    codes, owners, first = [], [], 0
    for f, e in zip(source, target, strict=True):
        own = np.concatenate([[0], f])
        codes.append((own[:, None] * size + e[None, :]).ravel())
        owners.append(np.tile(np.arange(first, first + len(e)), len(own)))
        first += len(e)
    return np.concatenate(codes), np.concatenate(owners)


def _model(
    source: Sequence[NDArray[np.int64]], target: Sequence[NDArray[np.int64]], size: int
) -> tuple[NDArray[np.int64], Numbers]:
    """The probabilities of target words given source words, by the codes of the pairs that were seen."""
    links, owner = _links(source, target, size)
    codes, link = np.unique(links, return_inverse=True)
    heads, head = np.unique(codes // size, return_inverse=True)
    chances = np.full(len(codes), 1.0 / size)
    for _ in range(ROUNDS):
        weight = chances[link]
        weight /= np.bincount(owner, weight)[owner]
        counts = np.bincount(link, weight, len(codes))
        chances = counts / np.bincount(head, counts, len(heads))[head]
    return codes, chances


def _likelihood(
    source: Sequence[NDArray[np.int64]],
    target: Sequence[NDArray[np.int64]],
    size: int,
    codes: NDArray[np.int64],
    chances: Numbers,
) -> Numbers:
    """The log likelihood of each target line given its source line, by the word."""
    links, owner = _links(source, target, size)
    index = np.minimum(np.searchsorted(codes, links), len(codes) - 1)
    chance = np.where(codes[index] == links, chances[index], 0.0) + 1e-3 / size
    lengths = np.array([len(e) for e in target])
    sums = np.bincount(owner, chance, int(lengths.sum()))
    words = np.log(sums / np.repeat([len(f) + 1 for f in source], lengths))
    lines = np.repeat(np.arange(len(target)), lengths)
    means: Numbers = np.bincount(lines, words, len(target)) / np.maximum(lengths, 1)
    return means
