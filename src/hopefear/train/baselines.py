"""Scores of weights on held-out sentences, compared with baselines that need no learning.

Equal weights on standardised features, the best single feature and the initial weights are the baselines of every
``hopefear tune``: on the held-out part, and with ``--cv K`` in the same folds as the trainer. Groups are never split.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopefear._core import Pool
from hopefear.evaluation.scores import chosen_stats
from hopefear.evaluation.significance import confidence_interval
from hopefear.metrics import Metric
from hopefear.runs.session import Session
from hopefear.trainers.batch.base import CandidateTrainer
from hopefear.trainers.cross_validation import Fit, folds_of, out_of_folds
from hopefear.trainers.estimators import ESTIMATORS, SINGLE, Estimator, Fitting
from hopefear.util.cluster import spread

Measured = dict[str, Any]
MANY = 50  # features of which each alone would take too long
L2 = (1e-4, 1e-3, 1e-2, 1e-1)  # strengths that --cv compares, in addition to the trainer's default


def measured(stats: NDArray[np.float64], metric: Metric, seed: int, jobs: int) -> Measured:
    """The score of the summed statistics, with its interval."""
    interval = confidence_interval(stats, metric, seed=seed, jobs=jobs)
    return {"score": interval.score, "low": interval.low, "high": interval.high}


def _untaught(pool: Pool) -> dict[str, Estimator]:
    if pool.dense_width == 0:
        return {}
    estimators = {"equal": ESTIMATORS["equal"]}
    return estimators | ({"best_single": SINGLE} if pool.dense_width <= MANY else {})


def baselines(
    learnt_from: Pool, aside: Pool, metric: Metric, known: Mapping[str, NDArray[np.float64]], seed: int, jobs: int
) -> dict[str, Measured]:
    """Scores with intervals on the held-out part: those whose statistics are known, and equal and best_single."""
    how = Fitting(metric, seed, jobs)
    weights = {name: estimator.fit(learnt_from, how) for name, estimator in _untaught(learnt_from).items()}
    stats = {**known, **{name: chosen_stats(aside, w, metric, jobs) for name, w in weights.items()}}
    measures = {name: measured(each, metric, seed, jobs) for name, each in stats.items()}
    if "best_single" in measures:
        measures["best_single"]["feature"] = next((name for name, w in weights["best_single"].items() if w), "")
    return measures


def cross_validated(
    trainer: CandidateTrainer,
    pool: Pool,
    initial: Mapping[str, float] | None,
    folds: int,
    choose_l2: bool,
    run: Session,
    on_cluster: bool = False,
) -> tuple[CandidateTrainer, dict[str, Any]]:
    """The trainer in cross-validation, with the baselines, all on groups that they did not learn from.

    With ``choose_l2`` its l2 is the one that does best. That one's score is then a little too good: the record has all.
    ``on_cluster``: each fit is a task of the one that was joined.
    """
    metric, seed, jobs = trainer.metric, trainer.seed, trainer.jobs
    threads, each = (1, spread(run.warn)) if on_cluster else (jobs, map)
    parts = folds_of(len(pool), folds, seed)
    update = run.progress(f"cross-validation of {trainer.name}")
    tried = [trainer]
    if choose_l2:
        tried += [trainer.regularised(l2) for l2 in L2]
    fits: list[Fit] = [partial(_learnt, replace(way, jobs=threads), initial) for way in tried]
    untaught, how = _untaught(pool), Fitting(metric, seed, threads)
    fits += [partial(_fitted, way, how) for way in untaught.values()]

    def say(which: int) -> None:
        update(text=f"l2 {tried[which].strength:g}" if choose_l2 and which < len(tried) else "")

    chosen = out_of_folds(pool, parts, fits, metric, threads, each=each, say=say)
    gains = [metric.gain(way.sum(axis=0)) for way in chosen[: len(tried)]]
    best = max(range(len(tried)), key=gains.__getitem__)
    record: dict[str, Any] = {"folds": len(parts), "after": measured(chosen[best], metric, seed, jobs)}
    if choose_l2:
        scores = [metric.score(stats.sum(axis=0)) for stats in chosen[: len(tried)]]
        record["l2"] = [{"l2": way.strength, "score": score} for way, score in zip(tried, scores, strict=True)]
        run.note(f"l2 = {tried[best].strength:g} is best in cross-validation")
    if initial is not None:
        record["initial"] = measured(chosen_stats(pool, initial, metric, jobs), metric, seed, jobs)
    for name, outside in zip(untaught, chosen[len(tried) :], strict=True):
        record[name] = measured(outside, metric, seed, jobs)
    return tried[best], record


def _learnt(trainer: CandidateTrainer, initial: Mapping[str, float] | None, part: Pool) -> Mapping[str, float]:
    return trainer.fit(part, initial).weights


def _fitted(estimator: Estimator, how: Fitting, part: Pool) -> Mapping[str, float]:
    return estimator.fit(part, how)
