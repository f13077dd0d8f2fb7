"""Ways to get weights from labelled groups, from no learning at all to the exact line search.

With little data the exact optimum of the metric is a poor estimate: it fits the noise. So there are:

``equal``      one weight for each feature in units of its standard deviation within groups
``single``     the best feature alone
``minrisk``    the expected metric, with an l2 term towards 0 of three strengths
``kbmira``     batch MIRA
``mert``       the metric itself, by exact line search from equal weights
``bagged``     the mean of ``bag`` fits of ``mert``, each on groups drawn with replacement (Breiman 1996)

All learn in units of standard deviations. Groups are never split between what is learnt from and what is scored.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopefear._core import Pool
from hopefear.errors import InputError
from hopefear.metrics import Metric
from hopefear.trainers.bagged import BAG, deviations, mean_of_fits, tells_apart
from hopefear.trainers.batch.base import BatchTrainer
from hopefear.trainers.batch.kbmira import Kbmira
from hopefear.trainers.batch.mert import Mert
from hopefear.trainers.batch.minrisk import Minrisk
from hopefear.trainers.cross_validation import ENOUGH, sample_of

Weights = dict[str, float]
ORDERS = {"restarts": 0, "kicks": 0, "passes": 3}  # of mert on whole orders: a line takes long, local optima are few


@dataclass(frozen=True)
class Fitting:
    """The options of a fit."""

    metric: Metric
    seed: int = 1
    jobs: int = 0
    without: frozenset[str] = frozenset()  # features whose weight stays 0
    bag: int = BAG

    def trainer(self, kind: type[BatchTrainer], **options: Any) -> BatchTrainer:
        frozen = ",".join(_literally(name) for name in sorted(self.without))
        return kind(metric=self.metric, seed=self.seed, jobs=self.jobs, frozen=frozen, **options)


@dataclass(frozen=True)
class Estimator:
    """A name, what it is in words, and how it makes weights from groups."""

    name: str
    words: str
    learn: Callable[[Pool, Fitting], Weights]

    def fit(self, pool: Pool, how: Fitting) -> Weights:
        """Weights over the features of the pool. Equal weights if all candidates have the same features."""
        if len(pool) > ENOUGH:
            pool = sample_of(pool, ENOUGH, how.seed)
        try:
            return self.learn(pool, how)
        except InputError:
            if tells_apart(pool, how.metric, how.jobs):
                raise
            return equal(pool, how)


def _literally(name: str) -> str:
    """A pattern that matches this name only."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)


def equal(pool: Pool, how: Fitting) -> Weights:
    """One in units of the standard deviation; 0 for features that do not vary within groups, and for sparse ones."""
    spread = deviations(pool)
    values = np.where(spread > 0, 1 / np.where(spread > 0, spread, 1.0), 0.0)
    values[pool.dense_width :] = 0.0
    return {
        name: 0.0 if name in how.without else float(value)
        for name, value in zip(pool.feature_names, values, strict=True)
    }


def single(pool: Pool, how: Fitting) -> Weights:
    """The feature, upwards or downwards, whose best candidates score best."""
    names = pool.feature_names
    best: tuple[float, Weights] | None = None
    documents = _documents(pool, how)
    for j, name in enumerate(names[: pool.dense_width]):
        if name in how.without:
            continue
        for sign in (1.0, -1.0):
            gain = how.metric.gain(documents(j, sign))
            if best is None or gain > best[0]:
                best = gain, {**dict.fromkeys(names, 0.0), name: sign}
    return best[1] if best else dict.fromkeys(names, 0.0)


def _documents(pool: Pool, how: Fitting) -> Callable[[int, float], NDArray[np.float64]]:
    """Statistics of the document that a dense feature alone, up- or downwards, chooses: of lists, all in one pass."""
    if not pool.is_lists or how.metric.whole_order:

        def document(j: int, sign: float) -> NDArray[np.float64]:
            w = np.zeros(len(pool.features))
            w[j] = sign
            return np.asarray(how.metric.chosen_stats(pool, w, how.jobs).sum(axis=0))

        return document
    stats, begin = how.metric.stats(pool, how.jobs), pool.row_begin()
    sums = {sign: np.zeros((pool.dense_width, stats.shape[1])) for sign in (1.0, -1.0)}
    for i in np.flatnonzero(np.diff(begin)).tolist():
        dense = pool[i].dense
        sums[1.0] += stats[begin[i] + dense.argmax(axis=0)]
        sums[-1.0] += stats[begin[i] + dense.argmin(axis=0)]
    return lambda j, sign: sums[sign][j]


def mert(pool: Pool, how: Fitting) -> Weights:
    """MERT with restarts that suit small data."""
    learner = how.trainer(Mert, **(ORDERS if how.metric.whole_order else {"restarts": 6, "kicks": 0}))
    return dict(learner.fit(pool, equal(pool, how)).weights)


def bagged(pool: Pool, how: Fitting) -> Weights:
    """MERT, averaged over samples of the groups."""
    begin = equal(pool, how)
    learner = how.trainer(Mert, **(ORDERS if how.metric.whole_order else {"restarts": 1, "kicks": 0}))
    return mean_of_fits(pool, lambda drawn: learner.fit(drawn, begin).weights, how.metric, how.bag, how.seed, how.jobs)


def minrisk(l2: float) -> Callable[[Pool, Fitting], Weights]:
    """Minimum risk with this much regularisation."""

    def fit(pool: Pool, how: Fitting) -> Weights:
        return dict(how.trainer(Minrisk, scaling="std", l2=l2, iterations=40).fit(pool).weights)

    return fit


def kbmira(pool: Pool, how: Fitting) -> Weights:
    """Batch MIRA on standardised features."""
    return dict(how.trainer(Kbmira, scaling="std", passes=20).fit(pool).weights)


#: From the least to the most that is learnt: of equal scores the first wins.
ESTIMATORS = {
    estimator.name: estimator
    for estimator in (
        Estimator("equal", "equal weights on standardised scores", equal),
        Estimator("minrisk-0.1", "expected metric, strongly regularised", minrisk(0.1)),
        Estimator("minrisk-0.01", "expected metric, regularised", minrisk(0.01)),
        Estimator("minrisk-0.001", "expected metric, lightly regularised", minrisk(0.001)),
        Estimator("kbmira", "batch MIRA", kbmira),
        Estimator("bagged", f"mean of {BAG} bootstrapped fits of the metric itself", bagged),
        Estimator("mert", "the metric itself, by exact line search", mert),
    )
}
SINGLE = Estimator("single", "the best score alone", single)
