"""A table of scores in, weights and an honest verdict out: what ``hopefear weigh`` does.

    found = weigh(WeighConfig(table="scores.csv", group="prompt", outcome="reward", out="weights"))
    print(found.verdict)

How well the weights do is measured on groups that nothing was learnt from, neither the weights nor the choice of the way
to learn them: in each of ``folds`` folds, the ways of ``hopefear.train.estimators`` are compared by cross-validation
inside the other folds, the best is fitted there, and chooses for the groups of the fold. Equal weights and the best
single score go through the same folds. Differences are tested by a paired bootstrap over groups.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopefear._core import Pool
from hopefear.errors import InputError
from hopefear.evaluation.significance import confidence_interval, paired_bootstrap
from hopefear.formats.table import TableSpec, read_table
from hopefear.formats.weights import write_weights
from hopefear.metrics import External, Metric
from hopefear.runs.events import Listener
from hopefear.runs.plain import plain
from hopefear.runs.session import Session
from hopefear.train.estimators import ESTIMATORS, SINGLE, Fitting, folds_of, out_of_fold
from hopefear.util.files import atomic_write
from hopefear.util.words import plural, some

__all__ = ["WeighConfig", "Weighed", "weigh"]

Stats = NDArray[np.float64]
LARGE = 4000  # groups from which one split, and a sample to choose on, say enough
SAMPLE = 1500  # groups of that sample
INNER = 3  # folds in which the ways to learn are compared
FEW = 20  # groups below which no verdict is worth anything
CERTAIN = 0.05


@dataclass(frozen=True, kw_only=True)
class WeighConfig:
    """The options of ``hopefear weigh``, by the same names."""

    table: Any  # a file, a frame or a dict of arrays
    group: str
    outcome: str
    features: Sequence[str] = ()
    text: str | None = None
    missing: str = "error"
    lower_is_better: bool = False
    out: str | None = None
    folds: int = 5
    overwrite: bool = False
    seed: int = 1
    jobs: int = 0
    command: Sequence[str] = ()

    @property
    def spec(self) -> TableSpec:
        return TableSpec(self.group, self.features, self.text, (), (self.outcome,), self.missing)


@dataclass(frozen=True)
class Measured:
    """A score on groups that were not learnt from, with its 95 % interval."""

    score: float
    low: float
    high: float


@dataclass(frozen=True)
class Point:
    """Of the learning curve."""

    groups: int
    score: float
    gain: float  # over equal weights
    p: float


@dataclass(frozen=True)
class Left:
    """Without one score: what is lost, and whether that may be chance."""

    feature: str
    loss: float
    p: float


@dataclass(frozen=True)
class Weighed:
    """Weights, and what they are worth."""

    chosen: str  # how they were learnt
    weights: dict[str, float]
    held_out: dict[str, Measured]  # chosen, equal, best_single
    better_than_equal: bool | None  # None: cannot tell
    gain: float  # over equal weights
    p: float
    groups: int
    candidates: int
    compared: dict[str, float]  # each way's score in cross-validation
    curve: list[Point]
    without: list[Left]
    warnings: list[str]
    verdict: str
    path: Path | None = None
    outcome: str = ""
    best_single: str = ""
    details: dict[str, Any] = field(default_factory=dict)

    def record(self) -> dict[str, Any]:
        """As ``--json`` prints it and ``weigh.json`` keeps it."""
        found = asdict(self)
        found.pop("path")
        return dict(plain(found))


def weigh(config: WeighConfig, listen: Listener = lambda event: None) -> Weighed:
    """Learn weights for the scores of a table, and say what they are worth."""
    session = Session(listen)
    if config.out is not None:
        _check_out(Path(config.out), config.overwrite)
    pool = read_table(config.table).pool(config.spec)
    metric = _metric(config, pool)
    warnings = _check(pool, config, metric)
    for warning in warnings:
        session.warn(warning)
    found = _Weighing(pool, metric, config, session, warnings).weighed()
    if config.out is not None:
        found = _kept(found, Path(config.out))
    return found


def _metric(config: WeighConfig, pool: Pool) -> Metric:
    values = External(config.outcome).stats(pool)[:, 0]
    largest = float(np.abs(values).max()) or 1.0
    scale = next((s for s in (1.0, 10.0, 100.0, 1000.0) if largest <= s), largest)
    return External(config.outcome, not config.lower_is_better, scale)


def _check(pool: Pool, config: WeighConfig, metric: Metric) -> list[str]:
    """Refuses what nothing can be learnt from; warns of what looks wrong."""
    name = str(config.table) if isinstance(config.table, str | Path) else "the table"
    sizes = np.diff(pool.row_begin())
    if int(sizes.max()) < 2:
        cure = f"Is {config.group!r} the right column?"
        raise InputError(f"{name}: every group has one candidate only: there is nothing to choose from. {cure}")
    if len(pool) < 4:
        raise InputError(f"{name}: {plural(len(pool), 'group')} only. Weights need some dozens to learn from")
    rows = np.concatenate([np.asarray(pool[i].dense) for i in range(len(pool))])
    outcome = metric.stats(pool)[:, 0]
    begin = pool.row_begin()
    first = np.repeat(begin[:-1], sizes)
    if (outcome == outcome[first]).all():
        raise InputError(f"{name}: {config.outcome} is the same for all candidates of each group: nothing to learn")
    warnings = []
    owner = np.repeat(np.arange(len(pool)), sizes)
    centred = rows - (np.add.reduceat(rows, begin[:-1]) / sizes[:, None])[owner]
    aim = outcome - (np.add.reduceat(outcome, begin[:-1]) / sizes)[owner]
    spread = np.sqrt((centred**2).mean(axis=0))
    scale = np.maximum(np.abs(rows).max(axis=0), 1e-300)
    constant = [name for name, one, size in zip(pool.feature_names, spread, scale, strict=True) if one <= 1e-12 * size]
    if constant:
        warnings.append(f"the same for all candidates of each group, so without any say: {some(constant)}")
    with np.errstate(invalid="ignore", divide="ignore"):
        correlation = (centred * aim[:, None]).mean(axis=0) / (spread * np.sqrt((aim**2).mean()))
    leaks = [name for name, one in zip(pool.feature_names, correlation, strict=True) if abs(one) > 1 - 1e-9]
    if leaks:
        warnings.append(
            f"{some(leaks)} says the same as the outcome {config.outcome!r}: did the outcome leak into the scores?"
        )
    if (singles := int((sizes < 2).sum())) > 0:
        warnings.append(
            f"{plural(singles, 'group')} of {len(pool)} with one candidate only: nothing is learnt from these"
        )
    return warnings


class _Weighing:
    """One weighing."""

    def __init__(
        self, pool: Pool, metric: Metric, config: WeighConfig, session: Session, warnings: Sequence[str]
    ) -> None:
        self.pool, self.metric, self.config, self.warnings = pool, metric, config, list(warnings)
        self.seed, self.jobs = config.seed, config.jobs
        self.update = session.progress("weigh")
        self.how = Fitting(metric, self.seed, self.jobs)
        count = config.folds if len(pool) < LARGE else 5
        folds = folds_of(len(pool), count, self.seed)
        self.folds = folds if len(pool) < LARGE else folds[:1]
        self.seen = np.sort(np.concatenate(self.folds))  # groups that are scored without having been learnt from

    def weighed(self) -> Weighed:
        chosen = self.out_of_fold(self.choose_and_fit)
        equal = self.out_of_fold(lambda part: ESTIMATORS["equal"].fit(part, self.how))
        alone = self.out_of_fold(lambda part: SINGLE.fit(part, self.how))
        name, compared = self.choose(self.pool)
        self.update(text="fit")
        weights = ESTIMATORS[name].fit(self.pool, self.how)
        test = paired_bootstrap(chosen, equal, self.metric, 2000, self.seed, self.jobs)
        gain = test.delta if self.metric.higher_is_better else -test.delta
        better = None if test.p > CERTAIN or gain == 0 else gain > 0
        curve, left = self.curve(name, equal), self.without(name)
        best = SINGLE.fit(self.pool, self.how)
        found = Weighed(
            chosen=name,
            weights=weights,
            held_out={
                key: self.measured(stats)
                for key, stats in (("chosen", chosen), ("equal", equal), ("best_single", alone))
            },
            better_than_equal=better,
            gain=gain,
            p=test.p,
            groups=len(self.pool),
            candidates=int(self.pool.row_begin()[-1]),
            compared=compared,
            curve=curve,
            without=left,
            warnings=self.warnings,
            verdict="",
            outcome=self.config.outcome,
            best_single=next((key for key, value in best.items() if value), ""),
        )
        return Weighed(**{**found.__dict__, "verdict": verdict(found, test.ci)})

    def out_of_fold(self, fit: Callable[[Pool], Mapping[str, float]], most: int | None = None) -> Stats:
        return out_of_fold(self.pool, self.folds, fit, self.metric, self.jobs, most, self.seed)[self.seen]

    def choose(self, pool: Pool) -> tuple[str, dict[str, float]]:
        """The way to learn that does best in cross-validation inside these groups, and how all did."""
        if len(pool) > SAMPLE:
            sample = np.random.default_rng([self.seed, 23]).permutation(len(pool))[:SAMPLE]
            pool = pool.subset(np.sort(sample))
        folds = folds_of(len(pool), INNER, self.seed + 1)
        scores: dict[str, float] = {}
        gains: dict[str, float] = {}
        for name, estimator in ESTIMATORS.items():
            self.update(text=f"{name} on {len(pool)} groups")
            sums = out_of_fold(pool, folds, self.tame(estimator.fit), self.metric, self.jobs).sum(axis=0)
            scores[name], gains[name] = self.metric.score(sums), self.metric.gain(sums)
        return max(gains, key=gains.__getitem__), scores

    def tame(self, fit: Callable[[Pool, Fitting], Mapping[str, float]]) -> Callable[[Pool], Mapping[str, float]]:
        """Where nothing can be learnt from a few groups, equal weights stand in."""

        def fitted(part: Pool) -> Mapping[str, float]:
            try:
                return fit(part, self.how)
            except InputError:
                return ESTIMATORS["equal"].fit(part, self.how)

        return fitted

    def choose_and_fit(self, part: Pool) -> Mapping[str, float]:
        return self.tame(ESTIMATORS[self.choose(part)[0]].fit)(part)

    def measured(self, stats: Stats) -> Measured:
        found = confidence_interval(stats, self.metric, 1000, self.seed, jobs=self.jobs)
        return Measured(found.score, found.low, found.high)

    def curve(self, name: str, equal: Stats) -> list[Point]:
        """How the chosen way does when it learns from fewer groups."""
        most = len(self.pool) - len(self.folds[0])
        sizes = sorted({max(8, most // part) for part in (8, 4, 2)} | {most})
        points = []
        for size in sizes:
            self.update(text=f"learning curve, {size} groups")
            stats = self.out_of_fold(self.tame(ESTIMATORS[name].fit), size)
            test = paired_bootstrap(stats, equal, self.metric, 1000, self.seed, self.jobs)
            gain = test.delta if self.metric.higher_is_better else -test.delta
            points.append(Point(size, test.score_a, gain, test.p))
        return points

    def without(self, name: str) -> list[Left]:
        """What each score adds: the chosen way without it, on groups that were not learnt from."""
        names = self.pool.feature_names
        if len(names) < 2 or len(names) > 40:
            return []
        whole = self.out_of_fold(self.tame(ESTIMATORS[name].fit))
        found = []
        for feature in names:
            self.update(text=f"without {feature}")
            how = Fitting(self.metric, self.seed, self.jobs, frozenset({feature}))
            part = self.out_of_fold(lambda groups, how=how: ESTIMATORS[name].fit(groups, how))  # type: ignore[misc]
            test = paired_bootstrap(whole, part, self.metric, 1000, self.seed, self.jobs)
            found.append(Left(feature, test.delta if self.metric.higher_is_better else -test.delta, test.p))
        return found


def verdict(found: Weighed, interval: tuple[float, float]) -> str:
    """In plain words."""
    half = (interval[1] - interval[0]) / 2
    gain = f"{abs(found.gain):.3g} +- {half:.2g}"
    lines = []
    if found.groups < FEW:
        lines.append(f"Do not trust this: {plural(found.groups, 'group')} cannot tell good weights from luck.")
    if found.better_than_equal:
        lines.append(f"Better than equal weights by {gain} points of {found.outcome} on groups it has not seen.")
        short = [point for point in found.curve[:-1] if not (point.p <= CERTAIN and point.gain > 0)]
        if short:
            lines.append(f"{short[-1].groups} groups would not have been enough.")
    elif found.better_than_equal is False:
        lines.append(
            f"Worse than equal weights by {gain} points of {found.outcome} on groups it has not seen: use those."
        )
    else:
        lines.append(
            f"No better than equal weights as far as {found.groups} groups can tell ({found.gain:+.3g}, "
            f"p = {found.p:.2g}): use equal weights, or label more groups."
        )
    if found.without:
        nothing = [one for one in found.without if one.p > CERTAIN]
        if found.better_than_equal and nothing and len(nothing) < len(found.without):
            least = min(one.p for one in nothing)
            words = "adds nothing" if len(nothing) == 1 else "add nothing"
            lines.append(
                f"{some(one.feature for one in nothing)} {words} that could be told from chance (p >= {least:.2g})."
            )
    lines += [f"Look at this first: {warning}." for warning in found.warnings if "leak" in warning]
    return " ".join(lines)


def _check_out(path: Path, overwrite: bool) -> None:
    if path.exists() and not path.is_dir():
        raise InputError(f"{path}: is a file. --out takes a directory")
    if not overwrite and (path / "weigh.json").exists():
        raise InputError(f"{path}: holds a result already. --overwrite replaces it, or take another --out")


def _kept(found: Weighed, path: Path) -> Weighed:
    path.mkdir(parents=True, exist_ok=True)
    write_weights(found.weights, path / "weights.txt")
    with atomic_write(path / "weigh.json") as file:
        json.dump(found.record(), file, indent=2, ensure_ascii=False, allow_nan=False)
        file.write("\n")
    return Weighed(**{**found.__dict__, "path": path})
