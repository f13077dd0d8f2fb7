"""Around a trainer: the part kept aside, replicates in parallel, random initial models, scores before and after.

``tune`` is what ``hopefear tune`` calls. A replicate is a fit under a seed of its own; replicates run in processes of
their own, and each leaves its result in the run's ``checkpoint/``, where ``--resume`` finds it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, stdev
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hopefear._core import Pool
from hopefear.errors import InputError
from hopefear.formats import iter_nbest, read_nbest
from hopefear.metrics import Metric, by_name
from hopefear.runs.directory import Run, plain
from hopefear.util.processes import Say, Task, cores, run_tasks

if TYPE_CHECKING:
    from hopefear.trainers.base import Trainer as BatchTrainer

__all__ = [
    "Replicate",
    "Tuned",
    "metric_from",
    "metric_key",
    "random_initial",
    "read_lists",
    "record_metric",
    "score_of",
    "split",
    "tune",
]

Weights = dict[str, float]
Scores = dict[str, dict[str, float]]  # part -> metric -> score


class Trainer(Protocol):
    """What ``tune`` needs of a trainer: a frozen dataclass with a seed, and ``fit``."""

    def fit(self, pool: Pool, initial: Mapping[str, float] | None = None, progress: Any = None) -> Any: ...


@dataclass(frozen=True)
class Replicate:
    """One fit."""

    seed: int
    weights: Weights
    scores: Scores
    history: list[Any]
    warnings: list[str]


@dataclass(frozen=True)
class Tuned:
    """All fits; ``best`` is the one with the best development score, the earliest of equals."""

    replicates: list[Replicate]
    before: Scores
    metric: str
    higher_is_better: bool
    part: str  # that decides: dev

    @property
    def best(self) -> Replicate:
        sign = 1 if self.higher_is_better else -1
        return max(self.replicates, key=lambda one: sign * one.scores[self.part][self.metric])

    def over_replicates(self, part: str) -> tuple[float, float]:
        """Mean and standard deviation of a part's score."""
        values = [one.scores[part][self.metric] for one in self.replicates]
        return mean(values), stdev(values) if len(values) > 1 else 0.0

    def final(self) -> dict[str, Any]:
        """What ``run.json`` has under ``final``: the best replicate's scores, and all others."""
        found: dict[str, Any] = {part: dict(scores) for part, scores in self.best.scores.items()}
        found["before"] = self.before
        if len(self.replicates) > 1:
            found["best_seed"] = self.best.seed
            found["replicates"] = [{"seed": one.seed, **one.scores} for one in self.replicates]
            spread = {part: self.over_replicates(part) for part in self.best.scores}
            found["mean"] = {part: {self.metric: value} for part, (value, _) in spread.items()}
            found["deviation"] = {part: {self.metric: value} for part, (_, value) in spread.items()}
        return found


def metric_key(metric: Metric) -> str:
    """The name of a metric in records: a user's column goes by its own name."""
    return str(getattr(metric, "column", metric.name))


def record_metric(metric: Metric) -> dict[str, Any]:
    """A metric as ``run.json`` has it under ``measure``."""
    return {"name": metric.name, "options": plain(dataclasses.asdict(metric))}  # type: ignore[call-overload]


def describe(trainer: BatchTrainer, metric: Metric) -> dict[str, Any]:
    """What is learnt with, as ``run.json`` has it. Threads and seeds are not part of it."""
    options = {name: value for name, value in trainer.options().items() if name not in ("jobs", "seed", "metric")}
    return {
        "trainer": {"name": trainer.name, "options": options},
        "metric": f"{metric_key(metric)}|{metric.signature()}",
        "measure": record_metric(metric),
    }


def metric_from(record: Mapping[str, Any]) -> Metric:
    """The metric of such a record."""
    return by_name(str(record["name"]), **record["options"])


def read_lists(
    nbest: Sequence[str], refs: Sequence[str], progress: Callable[[int], object] | None = None
) -> tuple[Pool, bool]:
    """Several lists are parts of one, or, if they begin with the same sentence, lists of the same sentences: merged."""

    def first_id(path: str) -> str:
        try:
            return next((sentence.id for sentence in iter_nbest(path)), path)
        except InputError:  # a part in the middle, whose ids do not count from 0
            return path

    merge = len(nbest) > 1 and "-" not in nbest and len({first_id(path) for path in nbest}) == 1
    return read_nbest(list(nbest), list(refs) or None, merge=merge, progress=progress), merge


def split(pool: Pool, share: float, seed: int) -> tuple[Pool, Pool | None]:
    """The part to learn from and the part kept aside: a share of the sentences, drawn by the seed.

    Nothing is kept aside when that would be less than one sentence, or all of them.
    """
    if not 0 <= share < 1:
        raise InputError(f"the held-out share is {share:g}. It must be 0 or more and less than 1")
    aside = round(share * len(pool))
    if aside == 0 or aside == len(pool):
        return pool, None
    order = np.random.default_rng([seed, 7]).permutation(len(pool))
    return pool.subset(np.sort(order[aside:])), pool.subset(np.sort(order[:aside]))


def vector(pool: Pool, weights: Mapping[str, float]) -> NDArray[np.float64]:
    """Weights by name as a vector over the features of a pool; features without a weight get 0."""
    return np.array([weights.get(name, 0.0) for name in pool.feature_names], dtype=np.float64)


def score_of(pool: Pool, metric: Metric, weights: Mapping[str, float], jobs: int = 0) -> float:
    """The score of the best candidates under these weights."""
    best = pool.kbest(vector(pool, weights), 1, jobs=jobs)
    return metric.score(metric.stats(best, jobs).sum(axis=0))


def random_initial(initial: Mapping[str, float], seed: int) -> Weights:
    """A random initial model: each weight from N(mu, |mu/2|^2) around the given mu (Gimpel and Smith 2012, note 13)."""
    random = np.random.default_rng([seed, 13])
    return {name: float(random.normal(mu, abs(mu) / 2)) for name, mu in initial.items()}


def tune(
    trainer: Trainer,
    metric: Metric,
    parts: Mapping[str, Pool],
    *,
    initial: Mapping[str, float] | None = None,
    random_init: bool = False,
    replicates: int = 1,
    seed: int = 1,
    jobs: int = 0,
    run: Run | None = None,
    hear: Callable[[int, dict[str, Any]], None] = lambda replicate, said: None,
) -> Tuned:
    """Learn from ``parts["dev"]`` (or ``parts["train"]`` where there is one) under N seeds, and score all parts.

    Replicate k has seed ``seed + k``. With a run, replicates that it has finished already are taken from it.
    """
    learn_from = parts.get("train", parts["dev"])
    names = learn_from.feature_names
    start = {name: initial.get(name, 0.0) for name in names} if initial is not None else None
    if random_init and start is None:
        start = dict.fromkeys(names, 1.0)
    key = metric_key(metric)

    def scores(weights: Mapping[str, float], threads: int) -> Scores:
        return {part: {key: score_of(pool, metric, weights, threads)} for part, pool in parts.items()}

    at_once = min(replicates, jobs or cores())
    threads = max(1, (jobs or cores()) // at_once)

    def replicate(number: int) -> Task:
        def task(say: Say) -> dict[str, Any]:
            if run is not None and run.load_checkpoint(f"replicate-{number + 1}") is not None:
                return {}
            own = dataclasses.replace(trainer, seed=seed + number, jobs=threads)  # type: ignore[type-var]
            begin = random_initial(start, seed + number) if random_init and start is not None else start

            def on_epoch(epoch: Mapping[str, Any]) -> bool:
                say(plain(epoch))
                return True

            result = own.fit(learn_from, initial=begin, progress=on_epoch)
            weights = {name: float(weight) for name, weight in result.weights.items()}
            found = {
                "seed": seed + number,
                "weights": weights,
                "scores": scores(weights, threads),
                "history": plain(result.history),
                "warnings": list(getattr(result, "warnings", [])),
            }
            if run is None:
                return found
            run.save_checkpoint(f"replicate-{number + 1}", found)
            return {}

        return task

    results = run_tasks([replicate(number) for number in range(replicates)], at_once, hear)
    if run is not None:
        results = [run.load_checkpoint(f"replicate-{number + 1}") or {} for number in range(replicates)]
    before = scores(start if start is not None else {}, jobs)
    return Tuned([Replicate(**result) for result in results], before, key, metric.higher_is_better, "dev")
