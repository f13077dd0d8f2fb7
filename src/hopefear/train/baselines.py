"""What weights are worth, on sentences that they were not learnt from, beside what needs no learning.

Equal weights on standardised features, the best single feature and the initial weights are the baselines of every
``hopefear tune``: on the part kept aside, and with ``--cv K`` in the same folds as the trainer. Groups are never split.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopefear._core import Pool
from hopefear.evaluation.scores import chosen_stats
from hopefear.evaluation.significance import confidence_interval
from hopefear.metrics import Metric
from hopefear.runs.session import Session
from hopefear.train.estimators import ESTIMATORS, SINGLE, Estimator, Fitting, folds_of, out_of_fold
from hopefear.trainers.batch.base import BatchTrainer

Measured = dict[str, Any]
MANY = 50  # features of which each alone would take too long
L2 = (1e-4, 1e-3, 1e-2, 1e-1)  # strengths that --cv compares, beside the trainer's default


def measured(stats: NDArray[np.float64], metric: Metric, seed: int, jobs: int) -> Measured:
    found = confidence_interval(stats, metric, 1000, seed, jobs=jobs)
    return {"score": found.score, "low": found.low, "high": found.high}


def _untaught(pool: Pool) -> dict[str, Estimator]:
    if pool.dense_width == 0:
        return {}
    found = {"equal": ESTIMATORS["equal"]}
    return found | ({"best_single": SINGLE} if pool.dense_width <= MANY else {})


def baselines(
    learnt_from: Pool,
    aside: Pool,
    metric: Metric,
    weights: Mapping[str, float],
    initial: Mapping[str, float] | None,
    seed: int,
    jobs: int,
) -> dict[str, Measured]:
    """Scores with intervals on the part kept aside: after, initial, equal, best_single."""
    how = Fitting(metric, seed, jobs)
    ways: dict[str, Mapping[str, float]] = {"after": weights}
    if initial is not None:
        ways["initial"] = initial
    ways |= {name: one.fit(learnt_from, how) for name, one in _untaught(learnt_from).items()}
    found = {name: measured(chosen_stats(aside, w, metric, jobs), metric, seed, jobs) for name, w in ways.items()}
    if "best_single" in found:
        found["best_single"]["feature"] = next((name for name, w in ways["best_single"].items() if w), "")
    return found


def cross_validated(
    trainer: BatchTrainer, pool: Pool, initial: Mapping[str, float] | None, folds: int, choose_l2: bool, run: Session
) -> tuple[BatchTrainer, dict[str, Any]]:
    """The trainer in cross-validation beside the baselines, all on groups that they did not learn from.

    With ``choose_l2`` its l2 is the one that does best. That one's score is then a little too good: the record has all.
    """
    metric, seed, jobs = trainer.metric, trainer.seed, trainer.jobs
    parts = folds_of(len(pool), folds, seed)
    update = run.progress(f"cross-validation of {trainer.name}")

    def stats(one: BatchTrainer) -> NDArray[np.float64]:
        def fit(part: Pool) -> Mapping[str, float]:
            update(text=f"l2 {getattr(one, 'l2', 0):g}" if choose_l2 else "")
            return one.fit(part, initial).weights

        return out_of_fold(pool, parts, fit, metric, jobs)

    tried = [trainer]
    if choose_l2:
        tried += [replace(trainer, l2=l2) for l2 in L2]  # type: ignore[call-arg]
    found = [stats(one) for one in tried]
    gains = [metric.gain(one.sum(axis=0)) for one in found]
    best = max(range(len(tried)), key=gains.__getitem__)
    record: dict[str, Any] = {"folds": len(parts), "after": measured(found[best], metric, seed, jobs)}
    if choose_l2:
        record["l2"] = [
            {"l2": getattr(one, "l2", None), "score": metric.score(stats.sum(axis=0))}
            for one, stats in zip(tried, found, strict=True)
        ]
        run.note(f"l2 = {getattr(tried[best], 'l2', 0):g} is best in cross-validation")
    if initial is not None:
        record["initial"] = measured(chosen_stats(pool, initial, metric, jobs), metric, seed, jobs)
    how = Fitting(metric, seed, jobs)
    for name, one in _untaught(pool).items():
        outside = out_of_fold(pool, parts, lambda part, one=one: one.fit(part, how), metric, jobs)  # type: ignore[misc]
        record[name] = measured(outside, metric, seed, jobs)
    return tried[best], record
