"""Fits with several seeds: their scores, their record, and the printed table.

A replicate is a fit under a random seed of its own. Replicates run in processes of their own, and each leaves its
result in the run's ``checkpoint/``, where ``resume`` finds it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import numpy as np

from hopefear._core import Pool
from hopefear.evaluation.diagnosis import Finding
from hopefear.evaluation.held_out_scores import Difference
from hopefear.evaluation.scores import score_of
from hopefear.metrics import Metric
from hopefear.reranker import Reranker, Scoring
from hopefear.runs import checkpoint
from hopefear.runs.directory import Run
from hopefear.runs.events import Epoch, Event, Listener, Progress
from hopefear.runs.replicates import Replicate, Scores, replicate_file
from hopefear.runs.session import SILENT, Session
from hopefear.trainers.batch.base import CandidateTrainer
from hopefear.util import cluster
from hopefear.util.cluster import Each
from hopefear.util.messages import digits_for, table
from hopefear.util.processes import Say, Task, cores, run_tasks
from hopefear.util.values import plain

Weights = dict[str, float]


@dataclass(frozen=True)
class Tuned(Scoring):
    """All fits; ``best`` is the one with the best development score, the earliest of equals."""

    replicates: list[Replicate]
    before: Scores  # empty if it is not known
    metric: Metric
    more: dict[str, Any] = field(default_factory=dict)  # for ``final``: the figures of a loop around a decoder
    setting: Mapping[str, Any] | None = None  # the decoder's parameters, if they were tuned
    path: Path | None = None  # of the run
    others: Sequence[Metric] = ()  # reported as well
    group: str = ""  # the column of the table that says which candidates compete
    means: Mapping[str, float] = field(default_factory=dict)  # of the features, in what was learnt from
    missing: str = "error"  # what a missing score becomes: the policy that was learnt with, where lists have it

    @property
    def best(self) -> Replicate:
        return max(self.replicates, key=lambda replicate: self.metric.sign * replicate.scores["dev"][self.metric.key])

    @property
    def weights(self) -> Weights:
        """The weights of the best fit."""
        return self.best.weights

    @property
    def reranker(self) -> Reranker:
        about = {"seed": self.best.seed, "final": self.final()}
        metric = f"{self.metric.key}|{self.metric.signature()}"
        return Reranker(self.best.weights, self.missing, self.means, metric, self.group, about)

    @property
    def score(self) -> float:
        """The development score of the best fit."""
        return self.best.scores["dev"][self.metric.key]

    @property
    def history(self) -> list[Any]:
        """The epochs of the best fit, a record each."""
        return self.best.history

    def _repr_html_(self) -> str:
        """For notebooks."""
        from hopefear.display import tuned_html

        return tuned_html(self)

    def over_replicates(self, part: str, key: str | None = None) -> tuple[float, float]:
        """Mean and standard deviation of a part's score, in the metric of that name (that which was optimised)."""
        values = [replicate.scores[part][key or self.metric.key] for replicate in self.replicates]
        return mean(values), stdev(values) if len(values) > 1 else 0.0

    def final(self) -> dict[str, Any]:
        """The entry ``final`` of ``run.json``: the scores of the best replicate, and of all others."""
        scores_of: dict[str, Any] = {part: dict(scores) for part, scores in self.best.scores.items()}
        scores_of["before"] = self.before
        if len(self.replicates) > 1:
            scores_of["best_seed"] = self.best.seed
            scores_of["replicates"] = [{"seed": replicate.seed, **replicate.scores} for replicate in self.replicates]
            spread = {part: self.over_replicates(part) for part in self.best.scores}
            scores_of["mean"] = {part: {self.metric.key: value} for part, (value, _) in spread.items()}
            scores_of["deviation"] = {part: {self.metric.key: value} for part, (_, value) in spread.items()}
        return scores_of | self.more

    def record(self) -> dict[str, Any]:
        """The output of ``--json``."""
        return self.final()

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        """A small table for each metric: before and after, a column for each part."""
        blocks = [self._metric_table(metric) for metric in (self.metric, *self.others)]
        if change := self.more.get("change"):
            blocks.append(f"held out: {Difference.of(change).text}")
        for title, measured in (("held out", self.more.get("baselines")), ("cross-validation", self.more.get("cv"))):
            if measured is not None:
                blocks.append("\n" + baseline_table(title, self.metric.key, measured))
        if self.setting is not None:
            blocks.append("params  " + "  ".join(f"{name}={value!r}" for name, value in self.setting.items()))
        return "\n".join(blocks)

    def _metric_table(self, metric: Metric) -> str:
        parts, key = list(self.best.scores), metric.key

        values = [scores[part][key] for scores in (self.before or self.best.scores, self.best.scores) for part in parts]
        d = digits_for(values)

        def cells(scores: Scores) -> list[str]:
            return [f"{scores[part][key]:.{d}f}" for part in parts]

        rows = [[key, *(TITLES[part] for part in parts)]]
        rows.append(["before", *(cells(self.before) if self.before else ["not known"] * len(parts))])
        several = len(self.replicates) > 1
        if several:
            spread = [self.over_replicates(part, key) for part in parts]
            rows.append([f"after, mean of {len(self.replicates)}", *(f"{value:.{d}f}" for value, _ in spread)])
            rows.append(["  standard deviation", *(f"{value:.{d}f}" for _, value in spread)])
        rows.append([f"after, best (seed {self.best.seed})" if several else "after", *cells(self.best.scores)])
        return f"{table(rows)}\n{key}|{metric.signature()}"


TITLES = {"train": "train", "dev": "dev", "holdout": "held out"}
WAYS = {"after": "after", "initial": "initial weights", "equal": "equal weights", "best_single": "best single feature"}


def baseline_table(title: str, key: str, measured: Mapping[str, Any]) -> str:
    """The fit next to what needs no learning, on sentences that were not learnt from."""
    rows = [[title, key, "95 %"]]
    d = digits_for(score["score"] for way in WAYS if (score := measured.get(way)))
    for way, words in WAYS.items():
        if score := measured.get(way):
            name = f"{words} ({score['feature']})" if score.get("feature") else words
            rows.append([name, f"{score['score']:.{d}f}", f"{score['low']:.{d}f} to {score['high']:.{d}f}"])
    return table(rows)


def finish(run: Run, session: Session, tuned: Tuned, findings: Sequence[Finding]) -> None:
    """Record what came out."""
    run.record.epochs = tuned.best.history
    for warning in tuned.best.warnings:
        session.warn(warning)
    for finding in findings:
        session.warn(str(finding))
    run.record.findings = [asdict(finding) for finding in findings]
    run.record.means = dict(tuned.means)
    run.finish(tuned.best.weights, tuned.final())


def describe(trainer: CandidateTrainer) -> dict[str, Any]:
    """Trainer and metric as ``run.json`` has them."""
    return {
        "trainer": trainer.described(),
        "metric": f"{trainer.metric.key}|{trainer.metric.signature()}",
        "measure": plain(trainer.metric.record()),
    }


def with_progress(outer: Session, name: str, replicates: int, metric: Metric, epochs: int | None = None) -> Listener:
    """Epochs, of so many at most, as progress on the screen as well."""
    total = epochs * replicates if epochs is not None else None
    update = outer.progress(f"tune {name}", total)

    best: list[float] = []

    def listen(event: Event) -> object:
        which = f"replicate {event.context['replicate']}, " if replicates > 1 and event.context else ""
        if isinstance(event, Epoch) and total is not None:  # other trainers report their best score themselves
            choose = max if metric.higher_is_better else min
            best[:] = [choose([event.score, *best])]
            update(text=f"{which}epoch {event.epoch}  best {metric.key} {best[0]:.{digits_for(best)}f}")
        return outer.listen(replace(event, text=which + event.text) if isinstance(event, Progress) else event)

    return listen


def random_initial(initial: Mapping[str, float], seed: int) -> Weights:
    """A random initial model: each weight from N(mu, |mu/2|^2) around the given mu (Gimpel and Smith 2012, note 13)."""
    random = np.random.default_rng([seed, 13])
    return {name: float(random.normal(mu, abs(mu) / 2)) for name, mu in initial.items()}


@dataclass(frozen=True)
class _Fits:
    """Fits of a trainer under one seed after the other; replicate k has the trainer's seed + k."""

    trainer: CandidateTrainer
    parts: Mapping[str, Pool]
    start: Weights | None
    random_init: bool
    metrics: Sequence[Metric]
    folder: Path | None

    @property
    def learnt_from(self) -> Pool:
        return self.parts.get("train", self.parts["dev"])

    def scores(self, weights: Mapping[str, float], jobs: int) -> Scores:
        return {
            part: {metric.key: score_of(pool, metric, weights, jobs) for metric in self.metrics}
            for part, pool in self.parts.items()
        }

    def fitted(self, number: int, jobs: int, say: Say, each: Each | None = None) -> dict[str, Any]:
        """A replicate as its checkpoint has it; with ``each``, the parts of the fit are done by that."""
        seed, start = self.trainer.seed + number, self.start
        trainer = replace(self.trainer, seed=seed, jobs=jobs)
        if self.random_init and start is not None:
            start = random_initial(start, seed)
        session = Session(lambda event: say(plain(event.plain())))
        if each is not None:
            result = trainer.fit_in_parts(each, self.learnt_from, start, run=session)
        else:
            result = trainer.fit(self.learnt_from, start, run=session)
        weights = {name: float(weight) for name, weight in result.weights.items()}
        return {
            "seed": seed,
            "weights": weights,
            "scores": self.scores(weights, jobs),
            "history": plain(result.history),
            "warnings": result.warnings,
        }

    def fitted_far(self, number: int) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """On a worker of a cluster: the events of a replicate, and the replicate."""
        messages: list[dict[str, Any]] = []
        return messages, self.fitted(number, 1, messages.append)

    def finished(self, number: int) -> dict[str, Any] | None:
        """The replicate that is in the folder already."""
        return checkpoint.load(replicate_file(self.folder, number)) if self.folder is not None else None

    def kept(self, number: int, replicate: dict[str, Any]) -> dict[str, Any]:
        if self.folder is not None:
            checkpoint.save(replicate_file(self.folder, number), replicate)
        return replicate

    def here(self, numbers: Sequence[int], forward: Callable[[int, Mapping[str, Any]], None]) -> list[dict[str, Any]]:
        """These replicates, each in its own process."""
        jobs = self.trainer.jobs or cores()
        at_once = max(1, min(len(numbers), jobs))
        tasks: list[Task] = [
            lambda say, number=number: self.kept(number, self.fitted(number, max(1, jobs // at_once), say))  # type: ignore[misc]
            for number in numbers
        ]
        return run_tasks(tasks, at_once, lambda task, message: forward(numbers[task], message))

    def on_cluster(
        self, numbers: Sequence[int], forward: Callable[[int, Mapping[str, Any]], None], warn: Callable[[str], object]
    ) -> list[dict[str, Any]]:
        """These replicates, or the parts of each, on the cluster that was joined."""
        if self.trainer.in_parts:
            each = cluster.spread(warn)
            return [self.kept(number, self.fitted(number, 1, partial(forward, number), each)) for number in numbers]
        results = []
        far = cluster.in_order(lambda: self.fitted_far, numbers, warn)
        for number, (messages, replicate) in zip(numbers, far, strict=True):
            for event in messages:
                forward(number, event)
            results.append(self.kept(number, replicate))
        return results


def fit_replicates(
    trainer: CandidateTrainer,
    parts: Mapping[str, Pool],
    initial: Mapping[str, float] | None = None,
    *,
    random_init: bool = False,
    replicates: int = 1,
    others: Sequence[Metric] = (),
    on_cluster: bool = False,
    run: Session = SILENT,
) -> Tuned:
    """Learn from ``parts["dev"]`` (or ``parts["train"]`` where there is one) under N seeds, and score all parts.

    Before means the initial weights, or the first candidate of each list; of forests without initial weights nothing
    is known. ``others`` are more metrics to report. Replicate k has the trainer's seed + k. With a
    folder, replicates that were finished already are taken from it. ``on_cluster``: the one that was joined does the
    replicates, or the fits that each is the mean of.
    """
    names = parts.get("train", parts["dev"]).feature_names
    start = {name: initial.get(name, 0.0) for name in names} if initial is not None else None
    if random_init and start is None:
        start = dict.fromkeys(names, 1.0)
    fits = _Fits(trainer, parts, start, random_init, (trainer.metric, *others), run.folder)

    def forward(number: int, message: Mapping[str, Any]) -> None:
        run.tell(Event.restored(message).within(replicate=number + 1))

    results = {number: fits.finished(number) for number in range(replicates)}
    missing = [number for number, replicate in results.items() if replicate is None]
    fitted = fits.on_cluster(missing, forward, run.warn) if on_cluster else fits.here(missing, forward)
    results |= dict(zip(missing, fitted, strict=True))
    known_before = start is not None or all(pool.is_lists for pool in parts.values())
    before = fits.scores(start or {}, trainer.jobs) if known_before else {}
    replicates_done = [Replicate(**replicate) for replicate in results.values() if replicate is not None]
    return Tuned(replicates_done, before, trainer.metric, others=list(others))
