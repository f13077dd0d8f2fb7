"""Weights for the scores of a table, and the verdict on them: the computation of ``hopefear weigh``.

How well the weights do is measured on groups that nothing was learnt from, neither the weights nor the choice of the
way to learn them: in each of several folds, the ways of ``hopefear.trainers.estimators`` are compared by
cross-validation inside the other folds, the best is fitted there, and chooses for the groups of the fold. Equal weights
and the best single score go through the same folds.

Differences are tested group by group by approximate randomisation, which is exact where chance could as well have
exchanged the two choices of a group: so also for outcomes of 0 and 1 and for few groups, where the bootstrap finds
differences too often. Intervals are those of the bootstrap over groups. Candidates that tie are ordered at random, not
as in the table: many tables have the best candidate first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hopefear._core import Pool
from hopefear.errors import InputError
from hopefear.evaluation.significance import Comparison, approximate_randomization, confidence_interval
from hopefear.evaluation.weigh_result import CERTAIN, FEW, Left, Measured, Point, Weighed, verdict
from hopefear.formats.pool import means_of
from hopefear.formats.table import Table, TableSpec
from hopefear.formats.table_pool import PIECE
from hopefear.metrics import External, Metric
from hopefear.metrics.external import usual_scale
from hopefear.runs.session import Session
from hopefear.trainers.auto import Choice, choose
from hopefear.trainers.cross_validation import folds_of, out_of_fold
from hopefear.trainers.estimators import ESTIMATORS, SINGLE, Estimator, Fitting
from hopefear.util.messages import plural, some
from hopefear.util.processes import give_back_memory

Stats = NDArray[np.float64]
Fit = Callable[[Pool], Mapping[str, float]]
LARGE = 4000  # groups of which a fifth is enough to score
MANY = 40  # scores from which leaving out one after the other takes too long
SAMPLES = 2000  # of the randomisation test


def shuffled_pool(table: Table, spec: TableSpec, seed: int, refuse_constant: bool = True) -> Pool:
    """The candidates of a table, in an order that says nothing about them."""
    table = table.flat(spec).together(spec.group)
    order = _shuffled(table.groups(spec.group)[1], seed)
    pool = table.taken(order).pool(spec)
    if refuse_constant:
        table.refuse_constant(spec)
    del table, order
    give_back_memory()
    return pool


def _shuffled(begin: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    """The rows in an order that is random inside each group; ``begin``: their first rows, the end at last."""
    random = np.random.default_rng([seed, 29])
    order = np.arange(int(begin[-1]))
    for first in range(0, len(begin) - 1, PIECE):
        ends = begin[first : first + PIECE + 1]
        group = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
        order[ends[0] : ends[-1]] = ends[0] + np.lexsort((random.random(len(group)), group))
    return order


def scaled(metric: Metric, pool: Pool) -> Metric:
    """The metric; the gain of a mean is brought to about 0 to 1."""
    return replace(metric, scale=usual_scale(metric.stats(pool)[:, 0])) if isinstance(metric, External) else metric


def check(
    pool: Pool, metric: Metric, table: str, group: str, outcome: str | None = None, *, judged: bool = False
) -> list[str]:
    """Refuse what nothing can be learnt from; what looks wrong is returned as warnings.

    ``table``, ``group`` and ``outcome`` are names for messages; runs that were ``judged`` may have duplicates.
    """
    begin = pool.row_begin()
    sizes = np.diff(begin)
    if int(sizes.max()) < 2:
        cure = f"Is {group!r} the right column?"
        raise InputError(f"{table}: every group has one candidate only: there is nothing to choose from. {cure}")
    if len(pool) < 4:
        raise InputError(f"{table}: {plural(len(pool), 'group')} only. Learning weights takes some dozens")
    gains, name = metric.sentence_gains(metric.stats(pool)), outcome or metric.key
    first = np.repeat(begin[:-1], sizes)
    if (gains == gains[first]).all():
        finding = f"{name} is the same for all candidates of each group: there is nothing to learn"
        raise InputError(f"{table}: {finding}. Is it the right column?")
    constant, leaks, same = _suspicious(pool, gains)
    if len(constant) == len(pool.feature_names):
        finding = f"every score is the same for all candidates of each group ({some(constant)})"
        raise InputError(f"{table}: {finding}: there is nothing to weigh. Choose others: --features")
    warnings = []
    if constant:
        warnings.append(f"constant within each group, so the weight means nothing: {some(constant)}")
    if leaks:
        finding = f"{some(leaks)} {'agrees' if len(leaks) == 1 else 'agree'} completely with the outcome {name!r}"
        warnings.append(f"{finding}: did the outcome leak into the scores? Leave it out: --features")
    if same and not judged:  # of documents that several runs missed there are many
        finding = "the same scores and outcome as another candidate of the group"
        warnings.append(f"{plural(same, 'candidate')} of {int(begin[-1])} with {finding}: are these duplicates?")
    if (singles := int((sizes < 2).sum())) > 0:
        finding = "with one candidate only: nothing is learnt from these"
        warnings.append(f"{plural(singles, 'group')} of {len(pool)} {finding}")
    return warnings


def _suspicious(pool: Pool, outcome: Stats) -> tuple[list[str], list[str], int]:
    """Scores that are constant in groups, scores that equal the outcome, and how many candidates are duplicates."""
    names, width = pool.feature_names, len(pool.feature_names)
    square, cross, aims, largest = np.zeros(width), np.zeros(width), 0.0, np.zeros(width)
    same, row = 0, 0
    for i in range(len(pool)):
        rows = np.asarray(pool[i].dense)
        y = outcome[row : row + len(rows)]
        row += len(rows)
        centred, aim = rows - rows.mean(axis=0), y - y.mean()
        square += (centred**2).sum(axis=0)
        cross += aim @ centred
        aims += float(aim @ aim)
        largest = np.maximum(largest, np.abs(rows).max(axis=0))
        same += len(rows) - len({*map(bytes, np.column_stack([rows, y]))})
    constant = square <= (1e-12 * largest) ** 2 * row
    correlation = np.abs(cross) / np.sqrt(np.where(constant, 1.0, square) * aims)
    leaks = ~constant & (correlation > 1 - 1e-9)
    return [names[j] for j in np.flatnonzero(constant)], [names[j] for j in np.flatnonzero(leaks)], same


class Weighing:
    """One weighing: a pool, a metric, and folds."""

    def __init__(
        self, pool: Pool, metric: Metric, session: Session, *, folds: int, seed: int = 1, jobs: int = 0
    ) -> None:
        self.pool, self.metric = pool, metric
        self.seed, self.jobs = seed, jobs
        self.update = session.progress("weigh")
        self.how = Fitting(metric, self.seed, self.jobs)
        parts = folds_of(len(pool), folds, seed)
        self.folds = parts if len(pool) < LARGE else parts[:1]
        self.seen = np.sort(np.concatenate(self.folds))  # groups that are scored without having been learnt from

    def weighed(self, warnings: Sequence[str] = ()) -> Weighed:
        chosen = self.out_of_fold(self.choose_and_fit)
        equal = self.out_of_fold(self.by(ESTIMATORS["equal"]))
        alone = self.out_of_fold(self.by(SINGLE))
        test = self.compare(chosen, equal)
        choice = self.choose(self.pool)
        better = self.verdict_of(test)
        if better is False:
            choice = replace(choice, name="equal", why=f"{choice.why}; but learning made it worse")
        self.update(text="fit")
        estimator = ESTIMATORS[choice.name]
        full = self.out_of_fold(self.by(estimator))
        chance, beats_chance = self.chance(chosen)
        result = Weighed(
            chosen=choice.name,
            why=choice.why,
            weights=estimator.fit(self.pool, self.how),
            equal=ESTIMATORS["equal"].fit(self.pool, self.how),
            held_out={
                "chosen": self.measured(chosen),
                "equal": self.measured(equal),
                "best_single": self.measured(alone),
            },
            better_than_equal=better,
            gain=self.gain(test),
            interval=test.ci if self.metric.higher_is_better else (-test.ci[1], -test.ci[0]),
            p=test.p,
            at_random=chance,
            better_than_chance=beats_chance,
            outcome=self.metric.key,
            best_single=next((key for key, value in SINGLE.fit(self.pool, self.how).items() if value), ""),
            groups=len(self.pool),
            candidates=int(self.pool.row_begin()[-1]),
            compared=choice.scores,
            curve=self.curve(estimator, full, equal),
            without=self.without(estimator, full),
            warnings=list(warnings),
            means=means_of(self.pool),
        )
        return replace(result, verdict=verdict(result))

    def judged(self) -> tuple[bool | None, bool | None]:
        """Only the answers: better than equal weights? better than chance?"""
        chosen = self.out_of_fold(self.choose_and_fit)
        equal = self.out_of_fold(self.by(ESTIMATORS["equal"]))
        return self.verdict_of(self.compare(chosen, equal)), self.chance(chosen)[1]

    def by(self, estimator: Estimator, how: Fitting | None = None) -> Fit:
        return lambda part: estimator.fit(part, how or self.how)

    def out_of_fold(self, fit: Fit, most: int | None = None) -> Stats:
        return out_of_fold(self.pool, self.folds, fit, self.metric, self.jobs, most, self.seed)[self.seen]

    def choose(self, pool: Pool) -> Choice:
        return choose(pool, self.how, say=lambda text: self.update(text=text))

    def choose_and_fit(self, part: Pool) -> Mapping[str, float]:
        return ESTIMATORS[self.choose(part).name].fit(part, self.how)

    def compare(self, ours: Stats, theirs: Stats) -> Comparison:
        return approximate_randomization(ours, theirs, self.metric, SAMPLES, self.seed, self.jobs)

    def gain(self, test: Comparison) -> float:
        return self.metric.sign * test.delta

    def verdict_of(self, test: Comparison, level: float = CERTAIN) -> bool | None:
        """Better, worse, or cannot tell."""
        if len(self.pool) < FEW or test.p > level or test.delta == 0:
            return None
        return self.gain(test) > 0

    def measured(self, stats: Stats) -> Measured:
        interval = confidence_interval(stats, self.metric, seed=self.seed, jobs=self.jobs)
        return Measured(interval.score, interval.low, interval.high)

    def chance(self, chosen: Stats) -> tuple[Measured | None, bool | None]:
        """The score of a random candidate, and whether the chosen ones score better; None for whole orders.

        The choices of one fold depend on the outcomes of the others, which the randomisation does not know: where no
        score tells anything it says "better" in 3.9 percent of draws instead of 2.5. So half the level is asked for.
        """
        if self.metric.whole_order:
            return None, None
        rows, begin = self.metric.stats(self.pool, self.jobs), self.pool.row_begin()
        drawn = (np.add.reduceat(rows, begin[:-1]) / np.diff(begin)[:, None])[self.seen]
        return self.measured(drawn), self.verdict_of(self.compare(chosen, drawn), CERTAIN / 2)

    def curve(self, estimator: Estimator, full: Stats, equal: Stats) -> list[Point]:
        """How the chosen way does when it learns from fewer groups."""
        most = len(self.pool) - len(self.folds[0])
        sizes = sorted({max(8, most // part) for part in (8, 4, 2) if most // part < most})
        points = []
        for size in [*sizes, most]:
            self.update(text=f"learning curve, {size} groups")
            stats = self.out_of_fold(self.by(estimator), size) if size < most else full
            test = self.compare(stats, equal)
            points.append(Point(size, test.score_a, self.gain(test), test.p))
        return points

    def without(self, estimator: Estimator, full: Stats) -> list[Left]:
        """The loss without each score: the chosen estimator without it, on groups that it did not learn from."""
        names = self.pool.feature_names
        if len(names) < 2 or len(names) > MANY:
            return []
        drops = []
        for feature in names:
            self.update(text=f"without {feature}")
            how = replace(self.how, without=frozenset({feature}))
            test = self.compare(full, self.out_of_fold(self.by(estimator, how)))
            drops.append(Left(feature, self.gain(test), test.p))
        return drops
