"""Selects a trainer by cross-validation, and keeps equal weights unless another is clearly better.

It tries equal weights, minimum risk with three strengths of regularisation, k-best MIRA, bagged fits and MERT.
The best one in cross-validation replaces equal weights only if it beats them by more than one standard error of the
difference (the rule of Breiman et al. 1984, section 3.4.3): the best of several noisy scores looks better than it is,
and equal weights are seldom bad (Dawes 1979).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from hopefear import _core
from hopefear._core import Pool
from hopefear.errors import InputError
from hopefear.runs.session import SILENT, Session
from hopefear.trainers.bagged import BAG
from hopefear.trainers.base import Result, option
from hopefear.trainers.batch.base import CandidateTrainer
from hopefear.trainers.cross_validation import folds_of, out_of_fold, sample_of
from hopefear.trainers.estimators import ESTIMATORS, Fitting
from hopefear.util.messages import plural

INNER = 3  # folds in which the ways to learn are compared
SAMPLE = 1500  # groups that are enough to compare them


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
        raise InputError(
            f"{plural(len(pool), 'sentence')} or groups are too few to choose a trainer. Choose one yourself"
        )
    if len(pool) > SAMPLE:
        pool = sample_of(pool, SAMPLE, how.seed)
    folds = folds_of(len(pool), INNER, how.seed + 1)
    stats = {}
    cannot = ""
    for name in names:
        say(f"{name} on {len(pool)} groups")
        estimator = ESTIMATORS[name]
        try:
            stats[name] = out_of_fold(pool, folds, partial(estimator.fit, how=how), how.metric, how.jobs)
        except InputError as refused:  # it cannot optimise this metric, or not on forests
            cannot = str(refused)
    if not stats:
        raise InputError(cannot)
    scores = {name: how.metric.score(rows.sum(axis=0)) for name, rows in stats.items()}
    gains = {name: how.metric.gain(rows.sum(axis=0)) for name, rows in stats.items()}
    best = max(gains, key=gains.__getitem__)
    if best == "equal" or "equal" not in stats:
        return Choice(best, scores, f"best in cross-validation: {scores[best]:.4g}")
    drawn = _core.bootstrap(how.metric.core, [stats[best][None], stats["equal"][None]], 200, how.seed % 2**64, how.jobs)
    error = float(np.std(drawn[:, 0] - drawn[:, 1]))
    figures = f"{scores[best]:.4g} in cross-validation, equal weights {scores['equal']:.4g}, standard error {error:.2g}"
    if abs(scores[best] - scores["equal"]) <= error:
        return Choice("equal", scores, f"{best} has {figures}: not enough to prefer it to equal weights")
    return Choice(best, scores, f"{best} has {figures}")


@dataclass(frozen=True, kw_only=True)
class Auto(CandidateTrainer):
    """The trainer that scores best in cross-validation.

    >>> pool = hf.read_nbest("data/nbest.txt", references=["data/ref.0", "data/ref.1", "data/ref.2"])
    >>> result = hf.Auto().fit(pool[:60], "data/initial.txt")
    >>> result.score > result.initial_score, result.details["chosen"] in result.details
    (True, True)
    """

    name: ClassVar[str] = "auto"
    paper: ClassVar[str] = "the choice: Breiman et al. 1984"
    what: ClassVar[str] = "by cross-validation one of: " + ", ".join(ESTIMATORS)
    spaces: ClassVar[tuple[str, ...]] = ("lists", "forests")

    bag: int = option(BAG, "number of fits of bagged", least=1)

    def fit(self, data: Any, initial: Any = None, *, run: Session | None = None, **columns: Any) -> Result:
        begun, session = time.perf_counter(), run or SILENT
        trainer, data, initial = self.ready(data, initial, **columns)
        trainer.check(data)
        update = session.progress("tune auto")
        how = Fitting(trainer.metric, trainer.seed, trainer.jobs, bag=trainer.bag)
        choice = choose(data, how, say=lambda text: update(text=text))
        session.note(f"auto: {choice.name}. {choice.why}")
        weights = ESTIMATORS[choice.name].fit(data, how)
        result = trainer.result(data, weights, initial, session, begun)
        return replace(result, details={"chosen": choice.name, "why": choice.why, **choice.scores})

    def bagged(self, bag: int) -> Self:
        return replace(self, bag=bag)
