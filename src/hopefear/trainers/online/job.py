"""A training job: epochs over the sentences, a score after each, the best epoch kept, checkpoints.

After each epoch the averaged weights are scored: they translate the development data, or choose from fixed candidates.
What is returned is the average over all epochs or, with ``keep=best`` and from fixed candidates, that of the epoch with
the best score; or the weights it began with if these score no lower (but not with ``keep=learnt``). Without development
data it is the average over all epochs, and a warning says if it translates what was learnt from worse than before. What
a checkpoint holds is enough to continue between any two sentences: in all ways that are not asynchronous by nature, a
job that was killed and resumed ends with the same bits as one that was not.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from hopefear import _core
from hopefear._core import Pool
from hopefear.errors import InputError
from hopefear.metrics import Bleu
from hopefear.runs.events import Progress
from hopefear.runs.session import Session
from hopefear.trainers.base import Result, Vector, prepared, refuse_equal
from hopefear.trainers.data import Corpus, Decoder, Task, Translations
from hopefear.trainers.online import states
from hopefear.trainers.online.remote_team import RemoteTeam
from hopefear.trainers.online.states import Snapshot
from hopefear.trainers.online.teams import Tally, Team, Threads

if TYPE_CHECKING:
    from hopefear.trainers.online.base import Online

MOVED = 8  # the weights that moved most, which each epoch reports
RUNAWAY = 1e9  # no weight of use is as large
KEPT = "these are kept. Give it more sentences, or lower eta"
CHANCE = "A hundred sentences can mislead: train --folds 3 judges by all, --set keep=learnt keeps the learnt weights"


class Data(Protocol):
    """The training data of a job."""

    names: list[str]  # of the features
    dense: int  # so many of them are always named in the result
    examples: _core.Examples
    fixed: bool  # whether the candidates stay, so that scores of epochs are comparable without noise

    def score(self, w: Vector, jobs: int) -> dict[str, float] | None:
        """The score of weights on development data, with other figures; None without such data."""

    def train_score(self, w: Vector, jobs: int) -> float:
        """The score of weights on what is learnt from."""

    def opener(self) -> Callable[[], tuple[list[str], _core.Examples]]:
        """Something that can be sent to another machine and makes names and examples there."""


class Translated:
    """Sentences that a decoder translates."""

    fixed = False

    def __init__(self, task: Task) -> None:
        if len(task.corpus) == 0:
            raise InputError("there are no sentences to learn from")
        self.task, self.names = task, task.decoder.feature_names
        dense = set(task.decoder.dense_names)
        self.dense = sum(1 for name in self.names if name in dense)
        self.examples = task.decoder.examples(task.corpus.lines, task.corpus.references)

    def score(self, w: Vector, jobs: int) -> dict[str, float] | None:
        if self.task.dev is None:
            return None
        now = self.task.on_dev(w, jobs)
        return {"score": now.score, "length_ratio": now.length_ratio}

    def train_score(self, w: Vector, jobs: int) -> float:
        return Translations.of(self.task.decoder, self.task.corpus, w, jobs).score

    def opener(self) -> Callable[[], tuple[list[str], _core.Examples]]:
        return partial(_open, self.task.decoder.opener(), self.task.corpus)


def _open(decoder: Callable[[], Decoder], corpus: Corpus) -> tuple[list[str], _core.Examples]:
    opened = decoder()
    return opened.feature_names, opened.examples(corpus.lines, corpus.references)


class FixedCandidates:
    """Fixed lists, lattices or forests; their own best candidates are the development data."""

    fixed = True

    def __init__(self, pool: Pool) -> None:
        self.pool, self.places = prepared(pool)
        self.names = self.pool.feature_names
        self.dense = len(self.names)
        if without := [i for i in range(len(self.pool)) if not self.pool.references(i)]:
            raise InputError(f"sentence {self.pool.ids[without[0]]} has no reference, and hope and fear need BLEU")
        self.stats = Bleu().stats(self.pool) if self.pool.is_lists else None
        if self.stats is not None:
            refuse_equal(self.pool, self.stats, Bleu())
        self.examples = _core.pool_examples(self.pool)

    def score(self, w: Vector, jobs: int) -> dict[str, float] | None:
        return {"score": self.train_score(w, jobs)}

    def train_score(self, w: Vector, jobs: int) -> float:
        _, document = _core.one_best(self.pool, self.stats, Bleu().core, w, jobs=jobs, places=self.places)
        return Bleu().score(document)

    def opener(self) -> Callable[[], tuple[list[str], _core.Examples]]:
        raise InputError("learning from candidates runs on one machine. Leave out the cluster")


def named(names: Sequence[str], w: Vector, dense: int) -> dict[str, float]:
    """Weights by name: all dense ones, and sparse ones that are not 0."""
    return {name: float(w[j]) for j, name in enumerate(names) if j < dense or w[j] != 0.0}


def fit(trainer: Online, data: Task | Pool, initial: Mapping[str, float] | None, run: Session) -> Result:
    """Learn weights with an online trainer."""
    from hopefear.trainers.online.base import initial_weights

    begun = time.perf_counter()
    if not isinstance(data, Pool | Task):
        raise InputError(f"trainer {trainer.name} learns from a Task or a Pool, not from {type(data).__name__}")
    source = FixedCandidates(data) if isinstance(data, Pool) else Translated(data)
    w = initial_weights(source.names, initial, data)
    job = _Job(trainer, source, w, run)
    job.team = _team(trainer, source, w, job.warn)
    try:
        return job.run_epochs(begun)
    finally:
        job.team.close()


def _team(trainer: Online, data: Data, w: Vector, warn: Callable[[str], None]) -> Team:
    """The learners, where they live."""
    way, count, simulate = trainer.learners.parallel, trainer.learners.count, trainer.learners.simulate
    cluster = trainer.learners.cluster
    if way == "none" or simulate or (way in ("average", "mix") and cluster is None):
        how = "simulate" if simulate and way in ("none", "async") else way
        return Threads(trainer, data.examples, data.names, w, how, count, trainer.jobs)
    snapshots = [Snapshot.of(trainer.learner(w, data.names, True)) for _ in range(count)]
    if cluster is not None:
        from hopefear.trainers.online.cluster import Actors, check_cpus
        from hopefear.util.cluster import connect
        from hopefear.util.processes import cores

        connect(cluster, min(count, cores()))
        check_cpus(count)
        return RemoteTeam(Actors(partial(_far_learner, data.opener(), trainer, w)), snapshots, way, warn)
    from hopefear.trainers.online.workers import Processes

    share = way == "async" and count > 1
    make = partial(trainer.learner, w, data.names, share)
    return RemoteTeam(Processes(make, data.examples), snapshots, way, warn)


def _far_learner(
    opener: Callable[[], tuple[list[str], _core.Examples]], trainer: Online, w: Vector
) -> tuple[_core.Learner, _core.Examples]:
    """On a worker of a cluster."""
    names, examples = opener()
    return trainer.learner(w, names, True), examples


class _Watch:
    """Tells progress, and keeps a checkpoint every so many seconds."""

    def __init__(self, job: _Job, epoch: int) -> None:
        self.job, self.epoch = job, epoch
        self.begun = self.kept = time.monotonic()

    def progress(self, tally: Tally) -> bool:
        now = time.monotonic()
        figures = tally.figures()
        text = f"epoch {self.epoch}  {tally.sentences / max(1e-9, now - self.begun):.1f} sentences/s"
        text += "  B: hope {hope:+.2f} best {best:+.2f} fear {fear:+.2f}".format(**figures)
        text += f"  working set {figures['constraints']:.1f}"
        label = f"train {self.job.trainer.name}"
        sentences, epochs = len(self.job.data.examples), self.job.trainer.epochs
        done = (self.epoch - 1) * sentences + tally.sentences
        self.job.run.tell(Progress(label, done, epochs * sentences, text))
        return self.job.run.folder is not None and now - self.kept >= self.job.run.checkpoint_every

    def checkpoint(self, tally: Tally) -> None:
        self.job.keep(self.epoch, tally)
        self.kept = time.monotonic()


@dataclass
class _Job:
    trainer: Online
    data: Data
    initial: Vector
    run: Session
    team: Team = field(init=False)
    warnings: list[str] = field(default_factory=list)
    history: list[dict[str, Any]] = field(default_factory=list)
    best: Vector | None = None
    best_epoch: int = 0
    last: Vector | None = None  # the average after the epoch before

    def warn(self, text: str) -> None:
        if text not in self.warnings:
            self.warnings.append(text)
            self.run.warn(text)

    def keep(self, epoch: int, tally: Tally) -> None:
        """A checkpoint in the middle of this epoch. A full disk is no reason to stop: the previous one is valid."""
        if self.run.folder is None:
            return
        arrays = {"best": self.best, "last": self.last}
        snapshots = self.team.snapshots()  # first: a learner may die of the question
        about = {
            "epoch": epoch,
            "tally": tally.plain(),
            "history": self.history,
            "best_epoch": self.best_epoch,
            "warnings": self.warnings,
            "died": self.team.died,
        }
        try:
            held = {name: array for name, array in arrays.items() if array is not None}
            states.save(self.run.folder / "learners.npz", about, snapshots, held)
        except OSError as error:
            self.warn(f"no checkpoint could be written ({error.strerror or error}); the previous one is still valid")

    def resume(self) -> tuple[int, Tally]:
        """Epoch and tally to continue from."""
        state = states.load(self.run.folder / "learners.npz") if self.run.folder is not None else None
        if state is None:
            return 1, Tally()
        about, snapshots, arrays = state
        self.team.died = int(about.get("died", 0))
        self.team.restore(snapshots)
        self.history, self.best_epoch = about["history"], about["best_epoch"]
        self.warnings[:] = about["warnings"]
        self.best, self.last = arrays.get("best"), arrays.get("last")
        return about["epoch"], Tally.restored(about["tally"])

    def run_epochs(self, begun: float) -> Result:
        epoch, tally = self.resume()
        going = True
        if not self.history and tally.sentences == 0 and (now := self.data.score(self.initial, self.trainer.jobs)):
            self.history.append({"epoch": 0, **now})
            going = self.run.epoch(self.history[-1])
        while going and epoch <= self.trainer.epochs and not self._enough():
            order = np.random.default_rng([self.trainer.seed, epoch]).permutation(len(self.data.examples)).tolist()
            self.team.epoch(order, self.trainer.mu_of(epoch), tally, _Watch(self, epoch))
            going = self._end_epoch(epoch, tally)
            if going:
                epoch, tally = epoch + 1, Tally()
                self.keep(epoch, tally)
        self.team.look()
        w = self.best if self.best is not None else self.initial
        self._compare(w)
        scores = {record["epoch"]: record["score"] for record in self.history}
        return Result(
            weights=named(self.data.names, w, self.data.dense),
            score=scores.get(self.best_epoch, float("nan")),
            initial_score=scores.get(0, float("nan")),
            history=self.history,
            seconds=time.perf_counter() - begun,
            epoch=self.best_epoch,
            initial=named(self.data.names, self.initial, self.data.dense),
            warnings=self.warnings,
        )

    def _enough(self) -> bool:
        if not self.trainer.patience or not self.history or self.history[0]["epoch"] > 0:  # nothing to score on
            return False
        best = max(self.history, key=lambda record: float(record["score"]))
        return bool(self.history[-1]["epoch"] - best["epoch"] >= self.trainer.patience)

    def _end_epoch(self, epoch: int, tally: Tally) -> bool:
        """Score the average; whether to continue."""
        average = self.team.average()
        if not np.all(np.abs(average) < RUNAWAY):
            self.warn(f"weights diverged in epoch {epoch}; the previous ones are kept. Lower eta")
            return False
        record: dict[str, Any] = {"epoch": epoch, "train": Bleu().score(tally.b), "sentences": tally.sentences}
        now = self.data.score(average, self.trainer.jobs)
        record |= now or {"score": record["train"]}
        before = self.last if self.last is not None else self.initial
        record |= tally.figures()
        record["moved"] = {self.data.names[j]: float(average[j] - before[j]) for j in _largest(average - before)}
        self.history.append(record)
        against = self.best_epoch if self.chooses_best else 0
        if now is None or self.trainer.keep == "learnt" or record["score"] > self._score_of(against):
            self.best, self.best_epoch = average, epoch
        elif not self.chooses_best:
            self.best, self.best_epoch = None, 0
        self.last = average
        return self.run.epoch(record)

    @property
    def chooses_best(self) -> bool:
        """Whether the best epoch is chosen. It is with fixed candidates, whose scores are deterministic."""
        return self.trainer.keep == "best" or self.data.fixed

    def _score_of(self, epoch: int) -> float:
        return float(next(record["score"] for record in self.history if record["epoch"] == epoch))

    def _compare(self, w: Vector) -> None:
        """Warn of training that did not help."""
        if any(record["epoch"] == 0 for record in self.history):
            if self.best_epoch == 0 and len(self.history) > 1:
                which = "no epoch is" if self.chooses_best else "the learnt weights are not"
                chance = "" if self.chooses_best else f". {CHANCE}"
                self.warn(f"{which} better than the initial weights ({self._score_of(0):.2f}); {KEPT}{chance}")
        elif self.best is not None:
            before, after = (self.data.train_score(record, self.trainer.jobs) for record in (self.initial, w))
            if after < before:
                finding = f"these weights are worse than the initial ones, {after:.2f} against {before:.2f}"
                self.warn(f"{finding} on the training sentences. Hold out development data to select an epoch")


def _largest(change: Vector) -> list[int]:
    order = np.argsort(-np.abs(change), kind="stable")[:MOVED].tolist()
    return [j for j in order if change[j] != 0.0]
