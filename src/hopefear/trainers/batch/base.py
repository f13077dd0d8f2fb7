"""Batch trainers: they learn from candidates that are there already, in lists, lattices or forests.

A trainer learns from forests directly where its algorithm allows (``learn_forests``); the others go round a loop: the k
best of every forest join the lists, weights are learnt from the lists, and again.
"""

from __future__ import annotations

import os
import time
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Self

import numpy as np

from hopefear import _core
from hopefear._core import Pool
from hopefear.errors import InputError, python_messages
from hopefear.evaluation.scores import score_of
from hopefear.formats.inputs import Names, pool_of
from hopefear.formats.pool import chosen
from hopefear.formats.records import lists_in, several
from hopefear.metrics import Bleu, Metric, from_text, is_metric, is_whole, metric_for, usual
from hopefear.metrics.custom import CustomMetric
from hopefear.runs.events import Epoch
from hopefear.runs.session import SILENT, Session
from hopefear.trainers.base import Places, Result, Trainer, Vector, option, prepared, refuse_equal, weights_of
from hopefear.trainers.batch.least_norm import least_norm
from hopefear.trainers.batch.quasi_newton import Objective, minimize
from hopefear.trainers.batch.reparameterize import Parameters
from hopefear.util.cluster import Each
from hopefear.util.files import PathLike

APPROXIMATE = (
    "edges' shares of BLEU are approximate: nodes of these forests do not fix the words at their ends. Scores that are "
    "reported are exact; so is learning after pool.split_by_ngrams()"
)


@dataclass(frozen=True)
class Problem:
    """Candidates over the features that are learnt, their statistics, and where the weights may go."""

    pool: Pool
    places: Places | None  # where the user's list has each row: the first of equals is the best
    stats: Vector | None  # of lists; forests have none
    metric: Metric
    initial: Vector
    anchor: Vector  # theta_0 of RAMPION: the initial weights, or those of the loop around a decoder
    lower: Vector
    upper: Vector
    jobs: int
    report: Callable[[int, float, Vector, dict[str, Any]], bool]
    progress: Callable[..., None]  # between epochs, for no record

    @property
    def task(self) -> tuple[Pool, Vector, _core.Metric]:
        """The first arguments of the inner loops for lists in the core."""
        assert self.stats is not None
        return self.pool, self.stats, self.metric.core

    @property
    def space(self) -> tuple[Vector, Vector, Vector]:
        return self.initial, self.lower, self.upper

    def document(self, w: Vector) -> Vector:
        """The statistics of the document that the best candidates or derivations make."""
        return _core.one_best(self.pool, self.stats, self.metric.core, w, jobs=self.jobs, places=self.places)[1]

    def score(self, w: Vector) -> float:
        """The metric of that document."""
        return self.metric.score(self.document(w))

    def on_epoch(self, epoch: int, score: float, w: Vector, updates: int) -> bool:
        """For the inner loops."""
        return self.report(epoch, score, w, {"updates": updates})

    def minimized(
        self,
        objective: Objective,
        start: Vector,
        on_iteration: Callable[[Vector], bool],
        l1: float,
        l2: float,
        iterations: int,
    ) -> Vector:
        """Weights within their limits, by L-BFGS, with l1 and l2 towards the initial ones."""
        terms: dict[str, Any] = {"towards": self.initial, "l1": l1, "l2": l2}
        return minimize(
            objective, start, self.lower, self.upper, **terms, iterations=iterations, on_iteration=on_iteration
        )

    def bleu_gains(self, w: Vector) -> tuple[Vector, float, list[str]]:
        """Linear BLEU (Chiang 2012, A.3) of every edge around the document of w, and that document's length n_1.

        Also a warning for the record, where the gains are approximate.
        """
        if not isinstance(self.metric, Bleu):
            raise InputError(f"on forests this trainer optimises BLEU only, not {self.metric.name}")
        K = self.metric.max_order
        b = np.maximum(self.document(w), 1.0)
        # The slope of BLEU explodes where an order has no matches: precisions count as 0.3, 0.15, 0.075, ... at least.
        b[:K] = np.maximum(b[:K], 0.3 * 0.5 ** np.arange(K) * b[K : 2 * K])
        document = _core.OracleDocument(K)
        document.counts = b
        gains, exact = self.pool.linear_gains(w, document, self.jobs)
        return gains, float(b[K]), [] if exact else [APPROXIMATE]


def scaling_option(default: str) -> Any:
    """The field ``scaling`` with a trainer's own default."""
    return option(
        default,
        "std: learn in units of each feature's standard deviation within a list; dense: dense features alone; or none",
        paper="none",
    )


@dataclass(frozen=True, kw_only=True)
class CandidateTrainer(Trainer):
    """Learns from the candidates of a pool. Subclasses add their options and ``fit``."""

    learns_from: ClassVar[str] = "candidates"
    family: ClassVar[str] = "candidates"
    loops: ClassVar[bool] = False  # can learn in a loop around a decoder
    in_parts: ClassVar[bool] = False  # has ``fit_in_parts``: parts of a fit can be done elsewhere

    metric: Any = field(
        default_factory=Bleu, metadata={"help": "what is optimised (--metric)"}
    )  # a Metric, or its name

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.metric, str) and is_whole(self.metric):
            object.__setattr__(self, "metric", from_text(self.metric))
        if isinstance(self.metric, type) and issubclass(self.metric, Metric):
            object.__setattr__(self, "metric", self.metric())
        if not isinstance(self.metric, Metric | str):
            what = f"{type(self.metric).__name__} {self.metric!r}"
            raise InputError(f"trainer {self.name}: the metric is {what}. Give a name, or one such as hopefear.Bleu()")

    @python_messages()
    def ready(
        self, data: Any, initial: Any = None, outcome: Names = (), **columns: Any
    ) -> tuple[Self, Pool, Mapping[str, float] | None]:
        """The trainer with a metric that is no longer a name, the candidates as a pool, and the weights to start from.

        ``outcome`` and ``columns`` are those of :func:`hopefear.formats.inputs.pool_of`.
        """
        data = several(data)
        if not (isinstance(data, str | os.PathLike) or columns.get("group")) and lists_in(data) is None:
            check_data(self, data, initial)  # raises
        metric: Metric | str = self.metric
        names = [outcome] if isinstance(outcome, str) else list(outcome)
        if isinstance(metric, str) and columns.get("group") and not names and not is_metric(metric):
            names = [metric]
        pool = data if isinstance(data, Pool) and not (names or columns) else pool_of(data, outcome=names, **columns)
        if metric == Bleu():
            metric = names[0] if names else usual(pool)
        if isinstance(metric, str):  # a column of the candidates
            if metric in pool.feature_names:
                pool = chosen(pool, (), [metric])
            metric = metric_for(metric, pool=pool)
        initial = weights_of(initial)
        check_data(self, pool, initial)
        return (self if metric == self.metric else replace(self, metric=metric)), pool, initial

    def check(self, data: Pool) -> None:
        """Refuse candidates that nothing can be learnt from."""
        prepared(data)
        if data.is_lists:
            refuse_equal(data, self.metric.stats(data, self.jobs), self.metric)

    def fit_in_parts(
        self, each: Each, data: Pool, initial: Mapping[str, float] | None = None, *, run: Session | None = None
    ) -> Result:
        """As ``fit``; ``each`` runs the parts of the fit, as ``map`` does."""
        raise NotImplementedError

    def bagged(self, bag: int) -> CandidateTrainer:
        """The mean of ``bag`` fits of this trainer.

        >>> hf.Kbmira(C=0.1).bagged(10)
        Bagged(of=Kbmira(C=0.1))
        """
        from hopefear.trainers.bagged import Bagged

        return Bagged.around(self, bag)

    @property
    def strength(self) -> float | None:
        """The strength of the l2 term; None without such a term."""
        return getattr(self, "l2", None)

    def regularised(self, l2: float) -> Self:
        """The same trainer with another strength of its l2 term."""
        return replace(self, l2=l2)  # type: ignore[call-arg]

    def result(
        self, data: Pool, weights: Mapping[str, float], initial: Mapping[str, float] | None, run: Session, begun: float
    ) -> Result:
        """The result of a fit without epochs."""
        start = dict.fromkeys(data.feature_names, 0.0) | dict(initial or {})
        score, before = (score_of(data, self.metric, w, self.jobs) for w in (weights, start))
        run.tell(Epoch(1, score))
        history = [{"epoch": 1, "score": score}]
        seconds = time.perf_counter() - begun
        return Result(weights, score, before, history, seconds, initial=start, warnings=self.metric_warnings)

    @property
    def metric_warnings(self) -> list[str]:
        """Warnings about the metric."""
        if isinstance(self.metric, CustomMetric):
            return [f"the metric {self.metric.key} is written in Python: fits take many times as long as otherwise"]
        return []

    def options(self) -> dict[str, Any]:
        return super().options() | {"metric": self.metric.name}

    @property
    def epochs_at_most(self) -> int | None:
        """How many epochs a fit on lists has at most, where the options say so."""
        names = ("cccp", "passes", "epochs", "iterations")
        options = {option.name for option in fields(self)}  # perceptrons have a method called passes
        return next((getattr(self, name) for name in names if name in options), None)


@dataclass(frozen=True, kw_only=True)
class BatchTrainer(CandidateTrainer):
    """Subclasses add their options and ``learn``, the algorithm on lists."""

    spaces: ClassVar[tuple[str, ...]] = ("lists", "forests by k-best lists")
    loops: ClassVar[bool] = True
    differences_only: ClassVar[bool] = True  # a constant added to a feature in a whole list changes nothing
    orders: ClassVar[bool] = False  # can optimise metrics of the whole order of a list
    pulled: ClassVar[bool] = False  # has a term towards theta_0, which stays the same through a loop around a decoder
    start_at: ClassVar[float] = 0.0  # where weights begin when no initial ones are given

    scaling: str = scaling_option("none")
    frozen: str = option("", "features whose weight stays as it is, e.g. LM0,Lex*")
    bounds: str = option("", "limits of weights, e.g. LM0:0:inf,WordPenalty:-3:3")
    groups: str = option("", "features that share one weight, e.g. tm=TM_0+TM_1,lex=Lex*")
    kbest: int = option(200, "on forests: candidates per sentence and round", least=2)
    rounds: int = option(8, "on forests: maximum number of rounds", least=1)

    @abstractmethod
    def learn(self, problem: Problem) -> tuple[Vector, dict[str, Any]]:
        """The algorithm on lists: weights, and details for the record."""

    def learn_forests(self, problem: Problem) -> tuple[Vector, dict[str, Any]]:
        """The algorithm on lattices and forests: here, on growing lists of their k best."""
        w, lists, rows = problem.initial, None, 0
        for number in range(1, self.rounds + 1):
            best = problem.pool.kbest(w, self.kbest, distinct=False, jobs=self.jobs)
            lists = _core.merged([best] if lists is None else [lists, best])
            if int(lists.row_begin()[-1]) == rows:
                break  # nothing new
            rows = int(lists.row_begin()[-1])
            aligned = _aligned(lists, problem)
            stats = self.metric.stats(lists, self.jobs)
            part = replace(
                problem,
                pool=lists,
                places=None,
                stats=stats,
                initial=aligned(w),
                anchor=aligned(problem.anchor),
                lower=aligned(problem.lower),
                upper=aligned(problem.upper),
                report=lambda *_: True,
            )
            learnt, _ = self.learn(part)
            w = aligned(learnt, back=True)
            if not problem.report(number, problem.score(w), w, {"candidates": rows}):
                break
        return w, {"candidates": rows}

    def fit(
        self,
        data: Any,
        initial: Mapping[str, float] | PathLike | None = None,
        *,
        run: Session | None = None,
        **columns: Any,
    ) -> Result:
        """Learn weights from candidates: a pool, a path, a frame, rows or records.

        ``columns`` says what is what: ``group``, ``outcome``, ``features``, ``text``, ``references``, ``missing``.

        >>> rows = [{"id": i, "lm": -float(k), "tm": k * i % 7, "comet": 1 - k / 4} for i in range(9) for k in range(4)]
        >>> hf.Mert(metric="comet").fit(rows, group="id").score
        1.0
        """
        trainer, pool, initial = self.ready(data, initial, **columns)
        return trainer.fit_towards(None, pool, initial, run=run)

    def fit_towards(
        self,
        anchor: Mapping[str, float] | None,
        data: Pool,
        initial: Mapping[str, float] | None = None,
        *,
        run: Session | None = None,
    ) -> Result:
        """As ``fit``; a trainer that is ``pulled`` keeps near these weights and not near the initial ones."""
        if isinstance(self.metric, str):
            trainer, data, initial = self.ready(data, initial)
            return trainer.fit_towards(anchor, data, initial, run=run)
        check_data(self, data, initial)
        if self.metric.whole_order and not self.orders:
            raise InputError(
                f"trainer {self.name} cannot optimise {self.metric.key}, a metric of the whole ranking. Use mert"
            )
        begun = time.perf_counter()
        forests = not data.is_lists
        pool, places = self.prepare(data)
        sample = pool
        if forests:  # scales are those of likely derivations
            start = dict.fromkeys(pool.feature_names, self.start_at) | dict(initial or {})
            sample = pool.kbest(start, 100, distinct=True, jobs=self.jobs)
        parameters = Parameters.of(self, pool, sample, initial, self.start_at)
        history = _History(self, run or SILENT)
        problem = self.problem(parameters, places, history, forests)
        if anchor is not None:
            problem = replace(problem, anchor=parameters.learnt(anchor))
        initial_score = problem.score(problem.initial)
        if initial is None and not problem.initial.any():  # no weights yet: the first candidates of the lists
            initial_score = float("nan") if forests else self.metric.score(_first(data, self.metric, self.jobs))
        w, details = self.learn_forests(problem) if forests else self.learn(problem)
        warnings = history.warnings
        if warnings or not np.all(np.isfinite(w)):
            w = history.best[1] if history.best is not None else problem.initial
            # The other details are those of other weights.
            details = {key: value for key, value in details.items() if key == "warnings"}
        if np.all(np.isfinite(w)):
            w = self.sized(problem, self.least_norm(parameters, problem, w))
        warnings += [*details.pop("warnings", []), *self.metric_warnings]
        return Result(
            weights=parameters.weights(w),
            score=problem.score(w),
            initial_score=initial_score,
            history=history.records,
            seconds=time.perf_counter() - begun,
            initial=parameters.weights(problem.initial),
            details=details,
            warnings=warnings,
        )

    def least_norm(self, parameters: Parameters, problem: Problem, w: Vector) -> Vector:
        """The smallest weights with the scores of ``w``, if features depend on each other (``least_norm.py``)."""
        free = np.isneginf(problem.lower) & np.isposinf(problem.upper)
        cost = np.zeros(len(w))
        np.add.at(cost, parameters.ids, parameters.factors**2)
        smallest = least_norm(problem.pool, w, free, w != problem.initial, cost)
        if smallest is w:
            return w
        # Candidates that tied but for the last digits may change places: not for a lower score.
        return smallest if self.metric.sign * (problem.score(smallest) - problem.score(w)) >= 0 else w

    def sized(self, problem: Problem, w: Vector) -> Vector:
        """Weights in the size in which they are returned, where only their proportions matter."""
        return w

    def prepare(self, pool: Pool) -> tuple[Pool, Places | None]:
        """The candidates in canonical order; sparse features relative to what most candidates of a list have."""
        pool, places = prepared(pool)
        if not pool.is_lists:
            return self.metric.prepared(pool), None
        return _core.centred(pool, jobs=self.jobs) if self.differences_only else pool, places

    def problem(
        self, parameters: Parameters, places: Places | None, history: _History, forests: bool = False
    ) -> Problem:
        stats = None
        if not forests:
            stats = self.metric.stats(parameters.pool, self.jobs)
            refuse_equal(parameters.pool, stats, self.metric)
        return Problem(
            pool=parameters.pool,
            places=places,
            stats=stats,
            metric=self.metric,
            initial=parameters.initial,
            anchor=parameters.initial,
            lower=parameters.lower,
            upper=parameters.upper,
            jobs=self.jobs,
            report=history.epoch,
            progress=history.run.progress(f"tune {self.name}"),
        )


class _History:
    """The epochs of one fit: their records, sent to the listener, and the best weights so far."""

    def __init__(self, trainer: BatchTrainer, run: Session) -> None:
        self.trainer, self.run = trainer, run
        self.records: list[dict[str, Any]] = []
        self.warnings: list[str] = []
        self.best: tuple[float, Vector] | None = None
        self.stopped = False  # by the listener: later epochs do not count

    def epoch(self, epoch: int, score: float, w: Vector, more: dict[str, Any]) -> bool:
        """An epoch ended; whether to continue."""
        if self.stopped:
            return False
        if not np.all(np.isfinite(w)):
            knobs = " or ".join(f.name for f in fields(self.trainer) if f.name in ("C", "eta"))
            cure = f"Lower {knobs}, or set scaling=std" if knobs else "Set scaling=std"
            self.warnings.append(f"weights diverged in epoch {epoch}; the best ones before that are kept. {cure}")
            return False
        self.records.append({"epoch": epoch, "score": score, **more})
        gain = self.trainer.metric.sign * score
        if self.best is None or gain > self.best[0]:
            self.best = gain, np.array(w)
        self.stopped = not self.run.tell(Epoch(epoch, score, more))
        return not self.stopped


def check_data(trainer: Trainer, data: object, initial: object) -> None:
    """Say what a trainer learns from, and from which weights."""
    if not isinstance(data, Pool):
        raise InputError(
            f"trainer {trainer.name} learns from the candidates of a pool, not from {type(data).__name__}. Give group, "
            "the column of its rows that says which compete; hopefear train puts it into a loop around a decoder"
        )
    weights_of(initial)


def _first(pool: Pool, metric: Metric, jobs: int) -> Vector:
    """The statistics of the document of first candidates."""
    statistics: Vector = metric.chosen_stats(pool, np.zeros(len(pool.features)), jobs).sum(axis=0)
    return statistics


def _aligned(lists: Pool, problem: Problem) -> Callable[..., Vector]:
    """Vectors over the features of the problem, in the order that merged lists have them; and back."""
    of = {name: j for j, name in enumerate(problem.pool.feature_names)}
    order = np.array([of[name] for name in lists.feature_names])

    def align(values: Vector, back: bool = False) -> Vector:
        if not back:
            return np.ascontiguousarray(values[order])
        out = problem.initial.copy()
        out[order] = values
        return out

    return align
