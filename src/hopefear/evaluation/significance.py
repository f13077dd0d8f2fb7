"""Is the difference between two systems more than chance?

Both tests resample statistics matrices (``Metric.stats`` or ``Metric.corpus_stats``: a row per sentence, the same
sentences in the same order for both systems) and give a two-sided p. With delta the difference of the scores and
delta*_b that of sample b of B:

``paired_bootstrap`` (Koehn 2004) draws sentences with replacement. The distances of delta*_b from delta are those that
chance alone would give, so p = (1 + #{b: |delta*_b - delta| >= |delta|}) / (B + 1).

``approximate_randomization`` (Riezler and Maxwell 2005) lets the two outputs of a sentence change sides by the toss of
a coin: p = (1 + #{b: |delta*_b| >= |delta|}) / (B + 1).

A system may have several runs (replicates of its training), as an array of runs x sentences x statistics; its score is
the mean of its runs. The bootstrap then draws runs as well as sentences, so that p and the interval speak of the
training procedure and not of the runs that happened to be made (Clark et al. 2011 show why that matters; their own
test shuffles sentences only). The variance between a few runs is a rough guess: where it is most of the noise, p < .05
comes up by chance in 11 percent of comparisons of 3 runs, in 7 percent with 5, in 6 percent with 10. Randomisation lets
all runs of a sentence change sides together and speaks of these runs only.

The same seed gives the same result, whatever ``jobs`` is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hopefear import _core
from hopefear.errors import InputError
from hopefear.evaluation import SAMPLES
from hopefear.metrics.base import Metric


@dataclass(frozen=True)
class Comparison:
    """Two systems on the same sentences."""

    score_a: float  # the mean over runs
    score_b: float
    delta: float  # score_a - score_b
    p: float  # two-sided
    ci: tuple[float, float]  # of delta, 95 %, by the bootstrap
    ci90: tuple[float, float]  # 90 %: within +-d where two systems are equivalent up to d, at 0.05
    samples: int
    test: str
    runs_a: tuple[float, ...]  # the score of each run
    runs_b: tuple[float, ...]


@dataclass(frozen=True)
class Interval:
    """The score of one system with its confidence interval."""

    score: float
    low: float
    high: float
    runs: tuple[float, ...]


def paired_bootstrap(
    stats_a: ArrayLike, stats_b: ArrayLike, metric: Metric, samples: int = SAMPLES, seed: int = 1, jobs: int = 0
) -> Comparison:
    """Koehn's paired bootstrap, two-sided."""
    a, b = _same_sentences(stats_a, stats_b, samples)
    deltas = _bootstrap_deltas(a, b, metric, samples, seed, jobs)
    delta = _mean(metric, a) - _mean(metric, b)
    return _comparison(a, b, metric, np.abs(deltas - delta), deltas, samples, "paired bootstrap")


def approximate_randomization(
    stats_a: ArrayLike, stats_b: ArrayLike, metric: Metric, samples: int = 10 * SAMPLES, seed: int = 1, jobs: int = 0
) -> Comparison:
    """Approximate randomisation, two-sided; both systems have the same number of runs."""
    a, b = _same_sentences(stats_a, stats_b, samples)
    if len(a) != len(b):
        raise InputError(
            f"randomisation needs the same number of runs of both systems, not {len(a)} and {len(b)}: use the bootstrap"
        )
    by_chance = np.abs(_core.randomization(metric.core, a, b, samples, seed % 2**64, jobs))
    deltas = _bootstrap_deltas(a, b, metric, min(samples, SAMPLES), seed, jobs)
    return _comparison(a, b, metric, by_chance, deltas, samples, "approximate randomization")


def confidence_interval(
    stats: ArrayLike, metric: Metric, samples: int = SAMPLES, seed: int = 1, level: float = 0.95, jobs: int = 0
) -> Interval:
    """The score of one system, and the percentiles of bootstrap resampling that hold ``level`` of the samples."""
    system, _ = _same_sentences(stats, stats, samples)
    if not 0 < level < 1:
        raise InputError("level must be between 0 and 1")
    scores = _core.bootstrap(metric.core, [system], samples, seed % 2**64, jobs)[:, 0]
    low, high = _percentiles(scores, level)
    runs = tuple(_core.run_scores(metric.core, system).tolist())
    return Interval(sum(runs) / len(runs), low, high, runs)


def _same_sentences(
    stats_a: ArrayLike, stats_b: ArrayLike, samples: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Both as runs x sentences x statistics."""
    if samples < 1:
        raise InputError("samples must be at least 1")
    a, b = (np.ascontiguousarray(stats, dtype=np.float64) for stats in (stats_a, stats_b))
    a, b = (stats[None] if stats.ndim == 2 else stats for stats in (a, b))
    if a.ndim != 3 or b.ndim != 3:
        raise InputError("statistics must be a matrix with a row per sentence, or one such matrix per run")
    if a.shape[1] != b.shape[1]:
        raise InputError(f"the systems must have the same sentences, but one has {a.shape[1]} and one {b.shape[1]}")
    return a, b


def _mean(metric: Metric, system: NDArray[np.float64]) -> float:
    return float(_core.run_scores(metric.core, system).mean())


def _bootstrap_deltas(
    a: NDArray[np.float64], b: NDArray[np.float64], metric: Metric, samples: int, seed: int, jobs: int
) -> NDArray[np.float64]:
    scores = _core.bootstrap(metric.core, [a, b], samples, seed % 2**64, jobs)
    return np.asarray(scores[:, 0] - scores[:, 1])


def _percentiles(values: NDArray[np.float64], level: float) -> tuple[float, float]:
    """Bit for bit those of ``np.quantile``, which takes 50 ms to import ``numpy.ma``."""
    ordered = np.sort(values)
    if np.isnan(ordered[-1]):
        return math.nan, math.nan
    return _quantile(ordered, (1 - level) / 2), _quantile(ordered, (1 + level) / 2)


def _quantile(ordered: NDArray[np.float64], share: float) -> float:
    place = share * (len(ordered) - 1)
    below = min(int(place), len(ordered) - 1)
    low, high, part = float(ordered[below]), float(ordered[min(below + 1, len(ordered) - 1)]), place - below
    return high - (high - low) * (1 - part) if part >= 0.5 else low + (high - low) * part


def _comparison(
    a: NDArray[np.float64],
    b: NDArray[np.float64],
    metric: Metric,
    by_chance: NDArray[np.float64],
    deltas: NDArray[np.float64],
    samples: int,
    test: str,
) -> Comparison:
    runs_a, runs_b = (tuple(_core.run_scores(metric.core, runs).tolist()) for runs in (a, b))
    score_a, score_b = sum(runs_a) / len(runs_a), sum(runs_b) / len(runs_b)
    delta = score_a - score_b
    as_large = int((by_chance >= abs(delta) - 1e-9).sum())  # sums of fractions differ in their last digits
    p = (1 + as_large) / (samples + 1)
    intervals = _percentiles(deltas, 0.95), _percentiles(deltas, 0.9)
    return Comparison(score_a, score_b, delta, p, *intervals, samples, test, runs_a, runs_b)
