"""What all trainers have in common: options as fields, ``fit``, and a result.

A trainer is a frozen dataclass whose fields are its options, so that a default is written once: the constructor, the
command line (``--set``), ``hopefear trainers`` and ``run.json`` all read the fields. ``fit`` learns; nothing is
global.

``fit`` takes lists, lattices and forests. A trainer learns from forests directly where its algorithm allows
(``learn_forests``); the others go round a loop: the k best of every forest join the lists, weights are learnt from the
lists, and again.

``fit`` puts the candidates into a canonical order without duplicates before anything is learnt: a result does not
depend on the order of lines in a list, nor on ``jobs``.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hopefear import _core
from hopefear._core import Pool
from hopefear.errors import InputError
from hopefear.metrics import Bleu, Metric
from hopefear.trainers.batch.reparameterize import Parameters

Vector = NDArray[np.float64]

#: Called after every epoch with its record; returns whether to go on. Where epochs are long it is also called between
#: them, with something that has no ``epoch``.
Progress = Callable[[Mapping[str, Any]], bool]

APPROXIMATE = (
    "edges' shares of BLEU are approximate: nodes of these forests do not fix the words at their ends. Scores that are "
    "reported are exact; so is learning after pool.split_by_ngrams()"
)


def option(default: Any, help: str, *, paper: Any = None, least: float | None = None) -> Any:
    """A field with what ``hopefear trainers`` says of it: what it means, the paper's value, the least legal value."""
    return field(default=default, metadata={"help": help, "paper": paper, "least": least})


@dataclass(frozen=True)
class Result:
    """What training gave."""

    weights: dict[str, float]
    score: float  # of the candidates trained on, by the trainer's metric
    initial_score: float
    history: list[dict[str, Any]]  # a record an epoch: epoch, score, ...
    seconds: float
    details: dict[str, Any] = field(default_factory=dict)  # what only this trainer has to say
    warnings: list[str] = field(default_factory=list)  # a line each


@dataclass(frozen=True)
class Problem:
    """Candidates over the features that are learnt, their statistics, and where the weights may go."""

    pool: Pool
    stats: Vector | None  # of lists; forests have none
    metric: Metric
    initial: Vector
    lower: Vector
    upper: Vector
    jobs: int
    report: Callable[[int, float, Vector, dict[str, Any]], bool]
    tell: Callable[[Mapping[str, Any]], object]  # progress between epochs, for no record

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
        return _core.one_best(self.pool, self.stats, self.metric.core, w, self.jobs)[1]

    def score(self, w: Vector) -> float:
        """The metric of that document."""
        return self.metric.score(self.document(w))

    def on_epoch(self, epoch: int, score: float, w: Vector, updates: int) -> bool:
        """For the inner loops."""
        return self.report(epoch, score, w, {"updates": updates})

    def bleu_gains(self, w: Vector) -> tuple[Vector, float, list[str]]:
        """Linear BLEU (Chiang 2012, A.3) of every edge around the document of w, and that document's length n_1.

        Also a warning for the record, where the gains are approximate.
        """
        if not isinstance(self.metric, Bleu):
            raise InputError(
                f"on forests this trainer takes BLEU apart into edges, it cannot optimise {self.metric.name}"
            )
        K = self.metric.max_order
        b = np.maximum(self.document(w), 1.0)
        # The slope of BLEU explodes where an order has no matches: precisions count as 0.3, 0.15, 0.075, ... at least.
        b[:K] = np.maximum(b[:K], 0.3 * 0.5 ** np.arange(K) * b[K : 2 * K])
        document = _core.OracleDocument(K)
        document.counts = b
        gains, exact = self.pool.linear_gains(w, document, self.jobs)
        return gains, float(b[K]), [] if exact else [APPROXIMATE]


@dataclass(frozen=True, kw_only=True)
class Trainer(ABC):
    """A trainer on candidate lists. Subclasses add their options and ``learn``."""

    name: ClassVar[str]
    paper: ClassVar[str]
    objective: ClassVar[str]
    spaces: ClassVar[tuple[str, ...]] = ("lists", "forests by k-best lists")
    differences_only: ClassVar[bool] = True  # a constant added to a feature in a whole list changes nothing
    start_at: ClassVar[float] = 0.0  # where weights begin when no initial ones are given

    metric: Metric = field(default_factory=Bleu, metadata={"help": "what is optimised (--metric)"})
    seed: int = option(1, "seed of everything random (--seed)")
    jobs: int = option(0, "threads, 0 for all cores; does not change the result (--jobs)", least=0)
    scaling: str = option("none", "std: learn in units of each feature's standard deviation within a list; or none")
    frozen: str = option("", "features whose weight stays as it is, e.g. LM0,Lex*")
    bounds: str = option("", "weights' limits, e.g. LM0:0:inf,WordPenalty:-3:3")
    groups: str = option("", "features that share one weight, e.g. tm=TM_0+TM_1,lex=Lex*")
    kbest: int = option(200, "on forests: candidates taken of each in a round", least=2)
    rounds: int = option(8, "on forests: rounds at most", least=1)

    def __post_init__(self) -> None:
        for each in fields(self):
            least, value = each.metadata.get("least"), getattr(self, each.name)
            if least is not None and not value >= least:
                raise InputError(f"trainer {self.name}: {each.name} must be at least {least:g}, not {value}")

    @abstractmethod
    def learn(self, problem: Problem) -> tuple[Vector, dict[str, Any]]:
        """The algorithm on lists: weights, and details for the record."""

    def learn_forests(self, problem: Problem) -> tuple[Vector, dict[str, Any]]:
        """The algorithm on lattices and forests: here, on growing lists of their k best."""
        w, lists, found = problem.initial, None, 0
        for number in range(1, self.rounds + 1):
            best = problem.pool.kbest(w, self.kbest, distinct=False, jobs=self.jobs)
            lists = _core.merged([best] if lists is None else [lists, best])
            if int(lists.row_begin()[-1]) == found:
                break  # nothing new
            found = int(lists.row_begin()[-1])
            aligned = _aligned(lists, problem)
            stats = self.metric.stats(lists, self.jobs)
            part = replace(
                problem,
                pool=lists,
                stats=stats,
                initial=aligned(w),
                lower=aligned(problem.lower),
                upper=aligned(problem.upper),
                report=lambda *_: True,
            )
            learnt, _ = self.learn(part)
            w = aligned(learnt, back=True)
            if not problem.report(number, problem.score(w), w, {"candidates": found}):
                break
        return w, {"candidates": found}

    def fit(self, pool: Pool, initial: Mapping[str, float] | None = None, progress: Progress | None = None) -> Result:
        """Learn weights from the candidates of a pool, from ``initial`` weights (those not named start at 0)."""
        begun = time.perf_counter()
        forests = not pool.is_lists
        prepared = self.prepare(pool)
        sample = prepared
        if forests:  # scales are those of likely derivations
            start = dict.fromkeys(prepared.feature_names, self.start_at) | dict(initial or {})
            sample = prepared.kbest(start, 100, distinct=True, jobs=self.jobs)
        parameters = Parameters.of(self, prepared, sample, initial, self.start_at)
        history: list[dict[str, Any]] = []
        warnings: list[str] = []
        best: tuple[float, Vector] | None = None

        def report(epoch: int, score: float, w: Vector, more: dict[str, Any]) -> bool:
            nonlocal best
            if not np.all(np.isfinite(w)):
                knobs = " or ".join(f.name for f in fields(self) if f.name in ("C", "eta"))
                cure = f"Lower {knobs}, or set scaling=std" if knobs else "Set scaling=std"
                warnings.append(f"weights diverged in epoch {epoch}; the best ones before that are kept. {cure}")
                return False
            history.append({"epoch": epoch, "score": score, **more})
            gain = score if self.metric.higher_is_better else -score
            if best is None or gain > best[0]:
                best = gain, np.array(w)
            return progress is None or progress(history[-1])

        problem = self.problem(parameters, report, forests, progress or (lambda _: True))
        initial_score = problem.score(problem.initial)
        w, details = self.learn_forests(problem) if forests else self.learn(problem)
        if warnings or not np.all(np.isfinite(w)):
            w = best[1] if best is not None else problem.initial
            details = {
                key: value for key, value in details.items() if key == "warnings"
            }  # the rest is of other weights
        warnings += details.pop("warnings", [])
        return Result(
            weights=parameters.weights(w),
            score=problem.score(w),
            initial_score=initial_score,
            history=history,
            seconds=time.perf_counter() - begun,
            details=details,
            warnings=warnings,
        )

    def prepare(self, pool: Pool) -> Pool:
        """The candidates in canonical order, without duplicates; refuses what nothing can be learnt from."""
        if len(pool) == 0:
            raise InputError("there are no sentences to learn from")
        if len(pool.features) == 0:
            raise InputError("the candidates have no features: there is nothing to learn")
        if not pool.is_lists:
            return self.metric.prepared(pool)
        prepared = _core.merged([pool])
        if self.differences_only:
            prepared = _core.centred(prepared, self.jobs)
        rows = prepared.row_begin()
        if rows[-1] == 0 or int(np.diff(rows).max()) < 2:
            raise InputError("every sentence has one candidate only: there is nothing to learn. Make longer lists")
        return prepared

    def problem(
        self,
        parameters: Parameters,
        report: Callable[[int, float, Vector, dict[str, Any]], bool],
        forests: bool = False,
        tell: Callable[[Mapping[str, Any]], object] = lambda _: None,
    ) -> Problem:
        stats = None
        if not forests:
            stats = self.metric.stats(parameters.pool, self.jobs)
            if self._all_equal(parameters.pool, stats):
                raise InputError(
                    f"all candidates of each sentence have the same {self.metric.name} score: there is nothing to "
                    "learn. Are these the right references?"
                )
        return Problem(
            parameters.pool,
            stats,
            self.metric,
            parameters.initial,
            parameters.lower,
            parameters.upper,
            self.jobs,
            report,
            tell,
        )

    @staticmethod
    def _all_equal(pool: Pool, stats: Vector) -> bool:
        begin = pool.row_begin()
        first = np.repeat(begin[:-1], np.diff(begin))
        return bool((stats == stats[first]).all())

    def options(self) -> dict[str, Any]:
        """The options as plain values, for records."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        values["metric"] = self.metric.name
        return values


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
