"""Verdicts on claims: significance, equivalence, and the false discovery rate of many tests.

- "Better" needs p < 0.05; so does "worse".
- "Level" is an equivalence test: the 90 % interval of the difference lies within half a point on either side, which is
  two one-sided tests at 0.05 (Schuirmann 1987). It is denied where the difference is significant and half a point or
  more. Anything else is undecided: the absence of a significant difference is no evidence of equality.
- A paper has dozens of claims, and at 0.05 one true null hypothesis in twenty is rejected. ``rejected`` controls the
  false discovery rate per paper (Benjamini and Hochberg 1995): ``PAPER-claims.md`` lists the verdicts of all
  experiments of a paper in ``--out``, and those that do not survive are undecided there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist, mean, variance
from typing import Any, Protocol

MARGIN = 0.5  # of "level", in points
RATE = 0.05  # of errors, and of false discoveries


class Difference(Protocol):
    """The difference of two recipes: its size, its p, and its 90 % interval."""

    @property
    def delta(self) -> float: ...
    @property
    def p(self) -> float: ...
    @property
    def ci90(self) -> tuple[float, float]: ...


@dataclass(frozen=True)
class Pooled:
    """The mean of several differences on unrelated data, with the normal distribution of their errors."""

    delta: float
    p: float
    ci90: tuple[float, float]

    @classmethod
    def of(cls, parts: Sequence[Difference]) -> Pooled:
        delta = sum(part.delta for part in parts) / len(parts)
        error = math.sqrt(sum(_error(part) ** 2 for part in parts)) / len(parts)
        if not error > 0:
            return cls(delta, float(delta == 0), (delta, delta))
        wide = NormalDist().inv_cdf(0.95) * error
        p = 2 * (1 - NormalDist().cdf(abs(delta) / error)) if math.isfinite(error) else 1.0
        return cls(delta, p, (delta - wide, delta + wide))


def _error(difference: Difference) -> float:
    """The standard error behind the interval."""
    return (difference.ci90[1] - difference.ci90[0]) / (2 * NormalDist().inv_cdf(0.95))


@dataclass(frozen=True)
class Gap:
    """The difference of two groups of replicates, with Welch's t-test."""

    delta: float
    p: float
    ci90: tuple[float, float] = (-math.inf, math.inf)

    @classmethod
    def between(cls, ours: Sequence[float], theirs: Sequence[float]) -> Gap:
        from scipy.stats import t  # takes a while to import

        delta = mean(ours) - mean(theirs)
        parts = [(variance(one) / len(one), len(one)) for one in (ours, theirs) if len(one) > 1]
        total = sum(part for part, _ in parts)
        if total < 1e-18:  # one replicate, or deterministic methods
            return cls(delta, float(abs(delta) < 1e-9), (delta, delta)) if len(parts) == 2 else cls(delta, 1.0)
        freedom = total**2 / sum(part**2 / (count - 1) for part, count in parts)
        error = math.sqrt(total)
        wide = float(t.ppf(0.95, freedom)) * error
        return cls(delta, float(2 * t.sf(abs(delta) / error, freedom)), (delta - wide, delta + wide))

    def __str__(self) -> str:
        return in_bleu(self)


def in_bleu(difference: Difference) -> str:
    """A difference and its p, for the evidence of a claim."""
    return f"{difference.delta:+.2f} BLEU, p = {difference.p:.2g}"


def in_interval(difference: Difference) -> str:
    """A difference and its interval, for the evidence of a claim of equality."""
    return f"{difference.delta:+.2f} BLEU, 90 % interval {difference.ci90[0]:+.2f} to {difference.ci90[1]:+.2f}"


def beats(delta: float, p: float) -> bool | None:
    """The verdict on "this is better than that": yes or no only where the difference is significant."""
    return delta > 0 if p < RATE else None


def level(difference: Difference) -> bool | None:
    """The verdict on "these are level": yes where the 90 % interval lies within half a point."""
    if difference.ci90[0] > -MARGIN and difference.ci90[1] < MARGIN:
        return True
    return False if difference.p < RATE and abs(difference.delta) >= MARGIN else None


def level_p(difference: Difference) -> float:
    """The larger p of the two one-sided tests of equivalence."""
    error = _error(difference)
    away = MARGIN - abs(difference.delta)
    if not error > 0:
        return float(away <= 0)
    return 1 - NormalDist().cdf(away / error) if math.isfinite(error) else 1.0


def no_better(difference: Difference) -> bool | None:
    """The verdict on "this gains nothing": yes where the 90 % interval ends below half a point."""
    if difference.ci90[1] < MARGIN:
        return True
    return False if difference.p < RATE and difference.delta > 0 else None


def no_better_p(difference: Difference) -> float:
    """The p of the one-sided test that this gains half a point or more."""
    error = _error(difference)
    away = MARGIN - difference.delta
    if not error > 0:
        return float(away <= 0)
    return 1 - NormalDist().cdf(away / error) if math.isfinite(error) else 1.0


def opposite(difference: Difference) -> Gap:
    """The same difference with the other sign."""
    low, high = difference.ci90
    return Gap(-difference.delta, difference.p, (-high, -low))


def all_beat(differences: Sequence[Difference]) -> tuple[bool | None, float]:
    """The verdict on "all of these are above 0", and its p.

    It holds if each is significant (the p is the largest), and falls if one is significantly below 0 (the p is the
    smallest of those below, times the number of differences).
    """
    largest = max(difference.p for difference in differences)
    if all(beats(difference.delta, difference.p) for difference in differences):
        return True, largest
    below = min((difference.p for difference in differences if difference.delta < 0), default=1.0)
    below = min(1.0, below * len(differences))
    return (False, below) if below < RATE else (None, largest)


def all_of(verdicts: Sequence[bool | None]) -> bool | None:
    """The verdict on a claim with several parts."""
    return False if False in verdicts else None if None in verdicts else True


def rejected(values: Sequence[float], rate: float = RATE) -> list[bool]:
    """Which null hypotheses are rejected at this false discovery rate (Benjamini and Hochberg)."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    last = max((k for k, i in enumerate(order, 1) if values[i] <= rate * k / len(values)), default=0)
    below = set(order[:last])
    return [i in below for i in range(len(values))]


def controlled(claims: Sequence[Mapping[str, Any]]) -> list[str]:
    """The verdicts of all claims of a paper; those that do not survive the false discovery rate become undecided.

    A claim is a mapping with ``verdict`` and ``p``; claims without a test keep their verdict.
    """
    tested = [i for i, claim in enumerate(claims) if claim["p"] is not None and math.isfinite(claim["p"])]
    verdicts = [str(claim["verdict"]) for claim in claims]
    for i, falls in zip(tested, rejected([float(claims[i]["p"]) for i in tested]), strict=True):
        if not falls:
            verdicts[i] = "undecided"
    return verdicts
