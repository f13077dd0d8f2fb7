"""Cross-validation: the score of each trainer on sentences that it did not learn from.

Sentences are drawn into folds by the seed and never split; neither are the groups of a table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from hopefear._core import Pool
from hopefear.evaluation.scores import chosen_stats
from hopefear.metrics import Metric
from hopefear.util.cluster import Each

Indices = NDArray[np.int64]
Fit = Callable[[Pool], Mapping[str, float]]
Say = Callable[[int], object]
ENOUGH = 20_000  # groups that are enough to fit a few weights


def silent(number: int) -> None:
    """Reports no progress."""


def folds_of(groups: int, count: int, seed: int) -> list[Indices]:
    """The groups of each fold, drawn by the seed."""
    order = np.random.default_rng([seed, 17]).permutation(groups)
    return [np.sort(order[k::count]) for k in range(min(count, groups))]


def sample_of(pool: Pool, count: int, seed: int) -> Pool:
    """A random sample of ``count`` groups, by the seed."""
    return pool.subset(np.sort(np.random.default_rng([seed, 23]).permutation(len(pool))[:count]))


def out_of_fold(
    pool: Pool,
    folds: Sequence[Indices],
    fit: Fit,
    metric: Metric,
    jobs: int = 0,
    most: int | None = None,
    seed: int = 1,
) -> NDArray[np.float64]:
    """Statistics of every group under weights learnt from the other folds; of at most so many groups of these.

    Never more than an estimator would take: what is passed to it is a copy.
    """
    return out_of_folds(pool, folds, [fit], metric, jobs, most, seed)[0]


def out_of_folds(
    pool: Pool,
    folds: Sequence[Indices],
    fits: Sequence[Fit],
    metric: Metric,
    jobs: int = 0,
    most: int | None = None,
    seed: int = 1,
    each: Each = map,
    say: Say = silent,
) -> list[NDArray[np.float64]]:
    """``out_of_fold`` for several ways to fit.

    ``each``: where fits are made. ``say`` is called with the next way to fit, before it is waited for.
    """
    most = min(most or ENOUGH, ENOUGH)

    def scored(item: tuple[int, int]) -> NDArray[np.float64]:
        which, number = item
        rest = np.setdiff1d(np.arange(len(pool)), folds[number])
        if most < len(rest):
            rest = np.sort(np.random.default_rng([seed, 19, number]).permutation(rest)[:most])
        return chosen_stats(pool.subset(folds[number]), fits[which](pool.subset(rest)), metric, jobs)

    results = each(scored, list(product(range(len(fits)), range(len(folds)))))
    chosen = []
    for which in range(len(fits)):
        parts = []
        for _ in folds:
            say(which)
            parts.append(next(results))
        stats = np.zeros((len(pool), parts[0].shape[1]))
        for fold, part in zip(folds, parts, strict=True):
            stats[fold] = part
        chosen.append(stats)
    return chosen
