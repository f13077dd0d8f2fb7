"""Ways to get weights from labelled groups, and cross-validation to choose among them.

With little data the exact optimum of the metric is a poor estimate: it fits the noise. So the candidates range from no
learning at all to the exact line search:

``equal``      one weight for each feature in units of its standard deviation within groups
``single``     the best feature alone
``minrisk``    the expected metric, with an l2 term towards 0 of three strengths
``kbmira``     batch MIRA
``mert``       the metric itself, by exact line search from equal weights
``bagged``     the mean of ``bag`` fits of ``mert``, each on groups drawn with replacement (Breiman 1996)

All learn in units of standard deviations. Groups are never split between what is learnt from and what is scored.

``choose`` takes the best in cross-validation, but leaves equal weights only for what beats them by more than one
standard error of the difference (the rule of Breiman et al. 1984, section 3.4.3, towards the simplest): the best of
several noisy scores is too good by chance, and equal weights are seldom bad (Dawes 1979).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hopefear import _core
from hopefear._core import Pool
from hopefear.errors import InputError
from hopefear.evaluation.scores import chosen_stats, score_of
from hopefear.formats.weights import weight_vector
from hopefear.metrics import Metric
from hopefear.runs.session import SILENT, Session
from hopefear.trainers.base import Result, Vector
from hopefear.trainers.batch.base import BatchTrainer, Problem
from hopefear.trainers.batch.kbmira import Kbmira
from hopefear.trainers.batch.mert import Mert
from hopefear.trainers.batch.minrisk import Minrisk
from hopefear.util.cluster import Each

Weights = dict[str, float]
Indices = NDArray[np.int64]
Fit = Callable[[Pool], Mapping[str, float]]
Say = Callable[[int], object]
BAG = 10
INNER = 3  # folds in which the ways to learn are compared
SAMPLE = 1500  # groups that are enough to compare them
ORDERS = {"restarts": 0, "kicks": 0, "passes": 3}  # of mert on whole orders: a line takes long, local optima are few
ENOUGH = 20_000  # groups that are enough to fit a few weights


def _nobody(number: int) -> None:
    """For who wants to hear nothing."""


@dataclass(frozen=True)
class Fitting:
    """What a fit needs besides the groups."""

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
        """Weights over the features of the pool. Equal weights stand in where nothing tells the candidates apart."""
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


def sample_of(pool: Pool, count: int, seed: int) -> Pool:
    """So many groups, drawn by the seed."""
    return pool.subset(np.sort(np.random.default_rng([seed, 23]).permutation(len(pool))[:count]))


def tells_apart(pool: Pool, metric: Metric, jobs: int) -> bool:
    """Whether some group has candidates of different outcome."""
    if not pool.is_lists:
        return True
    stats, begin = metric.stats(pool, jobs), pool.row_begin()
    return not bool((stats == stats[np.repeat(begin[:-1], np.diff(begin))]).all())


def deviations(pool: Pool) -> NDArray[np.float64]:
    """The standard deviation of each feature within groups; of forests, within the lists of 100 of each."""
    lists = pool if pool.is_lists else pool.kbest(np.ones(len(pool.features)), 100, distinct=True)
    return np.sqrt(_core.within_variance(lists))


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
    learner = how.trainer(Mert, **(ORDERS if how.metric.whole_order else {"restarts": 6, "kicks": 0}))
    return dict(learner.fit(pool, equal(pool, how)).weights)


def bagged(pool: Pool, how: Fitting) -> Weights:
    begin = equal(pool, how)
    learner = how.trainer(Mert, **(ORDERS if how.metric.whole_order else {"restarts": 1, "kicks": 0}))
    return mean_of_fits(pool, lambda drawn: learner.fit(drawn, begin).weights, how.metric, how.bag, how.seed, how.jobs)


def mean_of_fits(
    pool: Pool, fit: Fit, metric: Metric, bag: int, seed: int, jobs: int = 0, each: Each = map, say: Say = _nobody
) -> Weights:
    """The mean of fits on bootstrap samples of the groups, each of length 1 in units of standard deviations.

    ``each``: where fits are made. ``say`` hears the number of each before it is waited for.
    """
    spread = deviations(pool)
    total = np.zeros(len(pool.features))
    random = np.random.default_rng([seed, 31])

    def fitted(indices: Indices) -> Vector | None:
        drawn = resampled(pool, indices)
        return weight_vector(fit(drawn), pool.feature_names) if tells_apart(drawn, metric, jobs) else None

    results = each(fitted, [random.integers(0, len(pool), len(pool)) for _ in range(bag)])
    for number in range(bag):
        say(number)
        if (w := next(results)) is None:
            continue
        size = float(np.abs(w * spread).sum())
        total += w / size if size > 0 else 0.0
    size = float(np.abs(total).sum())
    return dict(zip(pool.feature_names, (total / (size or 1.0)).tolist(), strict=True))


def resampled(pool: Pool, indices: Indices) -> Pool:
    """These groups, some of them several times, under names of their own."""
    drawn = pool.subset(np.zeros(0, dtype=np.int64))
    for number, i in enumerate(indices.tolist()):
        drawn.append(str(number), pool[i], pool.source(i), pool.references(i))
    return drawn


def minrisk(l2: float) -> Callable[[Pool, Fitting], Weights]:
    def fit(pool: Pool, how: Fitting) -> Weights:
        return dict(how.trainer(Minrisk, scaling="std", l2=l2, iterations=40).fit(pool).weights)

    return fit


def kbmira(pool: Pool, how: Fitting) -> Weights:
    return dict(how.trainer(Kbmira, scaling="std", passes=20).fit(pool).weights)


#: From the least to the most that is learnt: of equal scores the first wins.
ESTIMATORS = {
    one.name: one
    for one in (
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


def folds_of(groups: int, count: int, seed: int) -> list[Indices]:
    """The groups of each fold, drawn by the seed."""
    order = np.random.default_rng([seed, 17]).permutation(groups)
    return [np.sort(order[k::count]) for k in range(min(count, groups))]


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
    say: Say = _nobody,
) -> list[NDArray[np.float64]]:
    """The same for several ways to fit.

    ``each``: where fits are made. ``say`` hears which of the ways comes next, before a fit is waited for.
    """
    most = min(most or ENOUGH, ENOUGH)

    def scored(item: tuple[int, int]) -> NDArray[np.float64]:
        which, number = item
        rest = np.setdiff1d(np.arange(len(pool)), folds[number])
        if most < len(rest):
            rest = np.sort(np.random.default_rng([seed, 19, number]).permutation(rest)[:most])
        return chosen_stats(pool.subset(folds[number]), fits[which](pool.subset(rest)), metric, jobs)

    results = each(scored, list(product(range(len(fits)), range(len(folds)))))
    found = []
    for which in range(len(fits)):
        parts = []
        for _ in folds:
            say(which)
            parts.append(next(results))
        stats = np.zeros((len(pool), parts[0].shape[1]))
        for fold, part in zip(folds, parts, strict=True):
            stats[fold] = part
        found.append(stats)
    return found


@dataclass(frozen=True)
class Choice:
    """Among ways to learn, by cross-validation."""

    name: str
    scores: dict[str, float]  # of each, on groups that it did not learn from
    why: str


def choose(
    pool: Pool, how: Fitting, names: Sequence[str] = tuple(ESTIMATORS), say: Callable[[str], object] = lambda text: None
) -> Choice:
    """The way to learn that does best in cross-validation inside these groups."""
    if len(pool) <= INNER:
        raise InputError(f"{len(pool)} sentences or groups are too few to choose a way to learn. Name a trainer")
    if len(pool) > SAMPLE:
        pool = sample_of(pool, SAMPLE, how.seed)
    folds = folds_of(len(pool), INNER, how.seed + 1)
    stats = {}
    cannot = ""
    for name in names:
        say(f"{name} on {len(pool)} groups")
        estimator = ESTIMATORS[name]
        try:
            stats[name] = out_of_fold(pool, folds, lambda part, one=estimator: one.fit(part, how), how.metric, how.jobs)  # type: ignore[misc]
        except InputError as refused:  # it cannot optimise this metric, or not on forests
            cannot = str(refused)
    if not stats:
        raise InputError(cannot)
    scores = {name: how.metric.score(one.sum(axis=0)) for name, one in stats.items()}
    gains = {name: how.metric.gain(one.sum(axis=0)) for name, one in stats.items()}
    best = max(gains, key=gains.__getitem__)
    if best == "equal" or "equal" not in stats:
        return Choice(best, scores, f"best in cross-validation: {scores[best]:.4g}")
    drawn = _core.bootstrap(how.metric.core, [stats[best][None], stats["equal"][None]], 200, how.seed % 2**64, how.jobs)
    error = float(np.std(drawn[:, 0] - drawn[:, 1]))
    told = f"{scores[best]:.4g} in cross-validation, equal weights {scores['equal']:.4g}, standard error {error:.2g}"
    if abs(scores[best] - scores["equal"]) <= error:
        return Choice("equal", scores, f"{best} has {told}: not enough to leave equal weights")
    return Choice(best, scores, f"{best} has {told}")


@dataclass(frozen=True, kw_only=True)
class Auto(BatchTrainer):
    """``--trainer auto``: the estimator that does best in cross-validation."""

    name: ClassVar[str] = "auto"
    paper: ClassVar[str] = ""
    what: ClassVar[str] = "by cross-validation one of: " + ", ".join(ESTIMATORS)

    bag: int = BAG

    def learn(self, problem: Problem) -> tuple[Vector, dict[str, Any]]:
        raise AssertionError("others learn")

    def fit(self, data: Pool, initial: Mapping[str, float] | None = None, *, run: Session | None = None) -> Result:
        begun, session = time.perf_counter(), run or SILENT
        update = session.progress("tune auto")
        how = Fitting(self.metric, self.seed, self.jobs, bag=self.bag)
        choice = choose(data, how, say=lambda text: update(text=text))
        session.note(f"auto: {choice.name}. {choice.why}")
        weights = ESTIMATORS[choice.name].fit(data, how)
        return _result(self, data, weights, initial, begun, {"chosen": choice.name, "why": choice.why, **choice.scores})


@dataclass(frozen=True, kw_only=True)
class Bagged(BatchTrainer):
    """``--bag N``: the mean of fits of a trainer on groups drawn with replacement (Breiman 1996)."""

    name: ClassVar[str] = "bagged"
    paper: ClassVar[str] = "Breiman 1996"
    what: ClassVar[str] = "the mean of bootstrapped fits"

    of: BatchTrainer
    bag: int = BAG
    each: Each = map  # where the fits are made

    def learn(self, problem: Problem) -> tuple[Vector, dict[str, Any]]:
        raise AssertionError("others learn")

    def fit(self, data: Pool, initial: Mapping[str, float] | None = None, *, run: Session | None = None) -> Result:
        begun = time.perf_counter()
        update = (run or SILENT).progress(f"tune {self.of.name}", self.bag)
        learner = replace(self.of, seed=self.seed, jobs=self.jobs)
        weights = mean_of_fits(
            data,
            lambda drawn: learner.fit(drawn, initial).weights,
            self.metric,
            self.bag,
            self.seed,
            self.jobs,
            self.each,
            lambda number: update(number + 1, text="fits"),
        )
        return _result(self, data, weights, initial, begun, {})

    def options(self) -> dict[str, Any]:
        return self.of.options() | {"bag": self.bag}


def bagged_trainer(trainer: BatchTrainer, bag: int) -> BatchTrainer:
    """The trainer as the mean of so many fits; of ``auto``, its own bagging has so many."""
    if isinstance(trainer, Auto):
        return replace(trainer, bag=bag)
    return Bagged(of=trainer, bag=bag, metric=trainer.metric, seed=trainer.seed, jobs=trainer.jobs)


def _result(
    trainer: BatchTrainer,
    pool: Pool,
    weights: Weights,
    initial: Mapping[str, float] | None,
    begun: float,
    details: dict[str, Any],
) -> Result:
    start = dict.fromkeys(pool.feature_names, 0.0) | dict(initial or {})
    score, before = (score_of(pool, trainer.metric, w, trainer.jobs) for w in (weights, start))
    history = [{"epoch": 1, "score": score}]
    return Result(weights, score, before, history, time.perf_counter() - begun, initial=start, details=details)
