"""The difference of two systems on held-out sentences, with its 95 % interval and the number of sentences.

Fewer than 300 sentences are too few to tell two systems apart, unless the interval of the difference leaves 0 out. The
interval is that of the bootstrap over sentences, and over the runs of a system that has several (``significance.py``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hopefear.evaluation import SAMPLES
from hopefear.evaluation.significance import paired_bootstrap
from hopefear.metrics.base import Metric
from hopefear.util.messages import digits_for, plural

#: So many sentences can tell an improvement of the usual size from chance.
ENOUGH = 300


@dataclass(frozen=True)
class Difference:
    """Two systems on the same held-out sentences."""

    before: float
    after: float
    low: float  # of the 95 % interval of after - before
    high: float
    p: float  # two-sided
    sentences: int
    higher_is_better: bool = True

    @property
    def delta(self) -> float:
        return self.after - self.before

    @property
    def better(self) -> bool | None:
        """Whether the second is better; None where these sentences cannot tell."""
        if self.low <= 0 <= self.high:
            return None
        return (self.low > 0) == self.higher_is_better

    @property
    def verdict(self) -> str:
        """In words."""
        if self.better is not None:
            return "better" if self.better else "worse"
        return "too few to tell" if self.sentences < ENOUGH else "no difference shown"

    @property
    def text(self) -> str:
        """``43.76 -> 46.89 (+3.13, 95 % interval -0.52 to +6.40, 60 sentences: too few to tell)``"""
        d = digits_for((self.before, self.after))
        interval = f"95 % interval {self.low:+.{d}f} to {self.high:+.{d}f}"
        change = f"{self.delta:+.{d}f}, {interval}, {plural(self.sentences, 'sentence')}: {self.verdict}"
        return f"{self.before:.{d}f} -> {self.after:.{d}f} ({change})"

    def record(self) -> dict[str, Any]:
        """For ``run.json``."""
        numbers = {"before": self.before, "after": self.after, "delta": self.delta, "low": self.low, "high": self.high}
        return {**numbers, "p": self.p, "sentences": self.sentences, "better": self.better, "verdict": self.verdict}

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Difference:
        """From ``run.json``."""
        names = ("before", "after", "low", "high", "p", "sentences")
        higher = record["better"] is None or record["better"] == (record["low"] > 0)
        return cls(**{name: record[name] for name in names}, higher_is_better=higher)


def difference(
    before: ArrayLike, after: ArrayLike, metric: Metric, *, samples: int = SAMPLES, seed: int = 1, jobs: int = 0
) -> Difference:
    """The difference of two systems on the same sentences, by the paired bootstrap."""
    test = paired_bootstrap(after, before, metric, samples, seed, jobs)
    return Difference(
        before=test.score_b,
        after=test.score_a,
        low=test.ci[0],
        high=test.ci[1],
        p=test.p,
        sentences=_sentences(after),
        higher_is_better=metric.higher_is_better,
    )


def _sentences(stats: ArrayLike) -> int:
    return int(np.asarray(stats).shape[-2])
