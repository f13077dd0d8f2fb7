"""A training job: epochs over the sentences, scores on development data after each, the best epoch kept, checkpoints.

    decoder = Hiero(Model.open("model"), templates=("lex",))
    tuning = Corpus.read("tune.es", ["tune.en.0", "tune.en.1"])
    trained = train(decoder, tuning, Arow(), dev=Corpus.read("dev.es", ["dev.en"]))
    trained.weights

After each epoch the averaged weights translate the development data; the weights of the best epoch are returned. What a
checkpoint holds is enough to go on from between any two sentences: in all ways that are not asynchronous by nature, a
job that was killed and resumed ends with the same bits as one that was not.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hopefear.errors import InputError
from hopefear.metrics import Bleu
from hopefear.trainers.online import states
from hopefear.trainers.online.base import Online, initial_weights
from hopefear.trainers.online.states import Snapshot
from hopefear.trainers.online.teams import PARALLEL, Crew, Tally, Team, Threads
from hopefear.util.files import PathLike, path_name, read_lines

if TYPE_CHECKING:
    from hopefear import _core
    from hopefear.decode import Decoder

__all__ = ["Corpus", "Trained", "Translations", "train"]

Vector = NDArray[np.float64]
Hear = Callable[[dict[str, Any]], None]
MOVED = 8  # weights that moved most are told
RUNAWAY = 1e9  # no weight of use is as large


@dataclass(frozen=True)
class Corpus:
    """Source lines and their references: one list of lines a reference."""

    lines: list[str]
    references: list[list[str]]

    @classmethod
    def read(cls, source: PathLike, references: Sequence[PathLike]) -> Corpus:
        lines = read_lines(source)
        if not lines:
            raise InputError(f"{path_name(source)}: is empty. Training needs sentences")
        found = [read_lines(path) for path in references]
        for path, own in zip(references, found, strict=True):
            if len(own) != len(lines):
                finding = f"has {len(own)} lines, and {path_name(source)} has {len(lines)}"
                raise InputError(f"{path_name(path)}: {finding}. References go line by line with the source")
        return cls(lines, found)

    def __len__(self) -> int:
        return len(self.lines)

    def subset(self, indices: Sequence[int]) -> Corpus:
        return Corpus([self.lines[i] for i in indices], [[one[i] for i in indices] for one in self.references])

    def split(self, share: float, seed: int) -> tuple[Corpus, Corpus | None]:
        """A share of the sentences, drawn by the seed, kept aside; nothing, when that would be none or all."""
        if not 0 <= share < 1:
            raise InputError(f"the held-out share is {share:g}. It must be 0 or more and less than 1")
        aside = round(share * len(self))
        if aside in (0, len(self)):
            return self, None
        order = np.random.default_rng([seed, 7]).permutation(len(self)).tolist()
        return self.subset(sorted(order[aside:])), self.subset(sorted(order[:aside]))


@dataclass(frozen=True)
class Translations:
    """What a decoder made of a corpus, in tokens, and BLEU's statistics of it."""

    texts: list[str]
    stats: Vector
    tokens: list[list[str]]  # of the references

    @classmethod
    def of(cls, decoder: Decoder, corpus: Corpus, weights: Mapping[str, float] | Vector, jobs: int) -> Translations:
        pool = decoder.kbest(corpus.lines, 1, weights=weights, jobs=jobs)
        texts = [pool.text(i, 0) for i in range(len(pool))]
        tokens = [[decoder.model.target_text.text(line) for line in one] for one in corpus.references]
        return cls(texts, Bleu().corpus_stats(texts, tokens, jobs), tokens)

    @property
    def score(self) -> float:
        return Bleu().score(self.stats.sum(axis=0))

    @property
    def length_ratio(self) -> float:
        sums = self.stats.sum(axis=0)
        return float(sums[4] / sums[8]) if sums[8] else 1.0


@dataclass(frozen=True)
class Trained:
    """What training gave."""

    weights: dict[str, float]
    epoch: int  # the one these weights are from; 0: the initial ones were best
    score: float  # of these weights on the development data, or of the sentences learnt from
    initial: dict[str, float]
    history: list[dict[str, Any]]
    warnings: list[str] = field(default_factory=list)


def named(names: Sequence[str], w: Vector, dense: int) -> dict[str, float]:
    """Weights by name: all dense ones, and sparse ones that are not 0."""
    return {name: float(w[j]) for j, name in enumerate(names) if j < dense or w[j] != 0.0}


class _Watch:
    """Shows progress, and keeps a checkpoint every so many seconds."""

    def __init__(self, job: _Job, epoch: int) -> None:
        self.job, self.epoch = job, epoch
        self.begun = self.kept = time.monotonic()
        self.before = 0

    def progress(self, tally: Tally) -> bool:
        now = time.monotonic()
        rate = (tally.sentences - self.before) / max(1e-9, now - self.begun)
        self.job.hear(
            {
                "event": "progress",
                "epoch": self.epoch,
                "done": tally.sentences,
                "total": len(self.job.corpus),
                "per_second": rate,
                **tally.figures(),
            }
        )
        return self.job.folder is not None and now - self.kept >= self.job.checkpoint_every

    def checkpoint(self, tally: Tally) -> None:
        self.job.keep(self.epoch, tally)
        self.kept = time.monotonic()


@dataclass
class _Job:
    decoder: Decoder
    corpus: Corpus
    dev: Corpus | None
    trainer: Online
    team: Team
    names: list[str]
    initial: Vector
    seed: int
    jobs: int
    folder: Path | None
    checkpoint_every: float
    hear: Hear
    warnings: list[str]
    history: list[dict[str, Any]] = field(default_factory=list)
    best: Vector | None = None
    best_epoch: int = 0
    last: Vector | None = None  # the average after the epoch before

    def warn(self, text: str) -> None:
        if text not in self.warnings:
            self.warnings.append(text)
            self.hear({"event": "warning", "text": text})

    def keep(self, epoch: int, tally: Tally) -> None:
        """A checkpoint in the middle of this epoch. A full disk is no reason to stop: the one before stays good."""
        assert self.folder is not None
        arrays = {"best": self.best, "last": self.last}
        about = {
            "epoch": epoch,
            "tally": tally.plain(),
            "history": self.history,
            "best_epoch": self.best_epoch,
            "warnings": self.warnings,
        }
        try:
            held = {name: array for name, array in arrays.items() if array is not None}
            states.save(self.folder / "learners.npz", about, self.team.snapshots(), held)
        except OSError as error:
            self.warn(f"no checkpoint could be written ({error.strerror or error}); the one before stays good")

    def resume(self) -> tuple[int, Tally]:
        """Where to go on: epoch and tally."""
        found = states.load(self.folder / "learners.npz") if self.folder is not None else None
        if found is None:
            return 1, Tally()
        about, snapshots, arrays = found
        self.team.restore(snapshots)
        self.history, self.best_epoch = about["history"], about["best_epoch"]
        self.warnings[:] = about["warnings"]
        self.best, self.last = arrays.get("best"), arrays.get("last")
        return about["epoch"], Tally.restored(about["tally"])

    def run(self) -> Trained:
        epoch, tally = self.resume()
        if not self.history and self.dev is not None and tally.sentences == 0:
            now = Translations.of(self.decoder, self.dev, self.initial, self.jobs)
            self.history.append({"epoch": 0, "score": now.score, "length_ratio": now.length_ratio})
            self.hear({"event": "epoch", **self.history[-1]})
        while epoch <= self.trainer.epochs and not self._enough():
            order = np.random.default_rng([self.seed, epoch]).permutation(len(self.corpus)).tolist()
            self.team.epoch(order, self.trainer.mu_of(epoch), tally, _Watch(self, epoch))
            if not self._end_epoch(epoch, tally):
                break
            epoch, tally = epoch + 1, Tally()
            if self.folder is not None:
                self.keep(epoch, tally)
        w = self.best if self.best is not None else self.initial
        dense = sum(1 for name in self.names if name in set(self.decoder.dense_names))
        score = next((one["score"] for one in self.history if one["epoch"] == self.best_epoch), float("nan"))
        return Trained(
            named(self.names, w, dense),
            self.best_epoch,
            score,
            named(self.names, self.initial, dense),
            self.history,
            self.warnings,
        )

    def _enough(self) -> bool:
        patience, done = self.trainer.patience, len([one for one in self.history if one["epoch"] > 0])
        return patience > 0 and done - self.best_epoch >= patience

    def _end_epoch(self, epoch: int, tally: Tally) -> bool:
        average = self.team.average()
        if not np.all(np.abs(average) < RUNAWAY):
            self.warn(f"weights diverged in epoch {epoch}; the best before are kept. Lower eta")
            return False
        record: dict[str, Any] = {"epoch": epoch, "train": Bleu().score(tally.b), "sentences": tally.sentences}
        if self.dev is not None:
            now = Translations.of(self.decoder, self.dev, average, self.jobs)
            record |= {"score": now.score, "length_ratio": now.length_ratio}
        else:
            record["score"] = record["train"]
        before = self.last if self.last is not None else self.initial
        record |= tally.figures()
        record["moved"] = {self.names[j]: float(average[j] - before[j]) for j in _largest(average - before)}
        # Without development data the last epoch is the one.
        better = self.dev is None or self.best is None or record["score"] > self._best_score()
        self.history.append(record)
        if better:
            self.best, self.best_epoch = average, epoch
        self.last = average
        self.hear({"event": "epoch", **record})
        return True

    def _best_score(self) -> float:
        return float(next(one["score"] for one in self.history if one["epoch"] == self.best_epoch))


def _largest(change: Vector) -> list[int]:
    order = np.argsort(-np.abs(change), kind="stable")[:MOVED].tolist()
    return [j for j in order if change[j] != 0.0]


def _open_learner(
    model: str, options: Mapping[str, Any], corpus: Corpus, trainer: Online, w: Vector
) -> tuple[_core.Learner, _core.Examples]:
    """On a worker of a cluster: everything from the model's path."""
    from hopefear.decode import Hiero
    from hopefear.model.directory import Model

    decoder = Hiero(Model.open(model, verify=False), **options)
    return trainer.learner(w, decoder.feature_names, True), decoder.examples(corpus.lines, corpus.references)


def train(
    decoder: Decoder,
    corpus: Corpus,
    trainer: Online,
    *,
    dev: Corpus | None = None,
    initial: Mapping[str, float] | None = None,
    parallel: str = "none",
    learners: int = 1,
    simulate: bool = False,
    cluster: str | None = None,
    seed: int = 1,
    jobs: int = 0,
    folder: Path | None = None,
    checkpoint_every: float = 30.0,
    hear: Hear = lambda said: None,
) -> Trained:
    """Learn the weights of a decoder from sentences and their references.

    ``parallel`` is none, average, mix or async, with so many ``learners``; ``simulate`` makes async learners take turns
    in logical time, deterministic; ``cluster`` puts them on a Ray cluster. With a ``folder``, checkpoints go there, and
    a job that finds one goes on from it.
    """
    if parallel not in PARALLEL:
        raise InputError(f"there is no way {parallel!r} for learners to work together. Choose {', '.join(PARALLEL)}")
    if len(corpus) == 0:
        raise InputError("there are no sentences to learn from")
    names = decoder.feature_names
    w = initial_weights(names, initial)
    warnings: list[str] = []
    examples = decoder.examples(corpus.lines, corpus.references)

    def warn(text: str) -> None:
        warnings.append(text)
        hear({"event": "warning", "text": text})

    team: Team
    if parallel == "none" or simulate or (parallel in ("average", "mix") and cluster is None):
        way = "simulate" if simulate and parallel in ("none", "async") else parallel
        team = Threads(trainer, examples, names, w, way, learners, jobs)
    else:
        snapshots = [Snapshot.of(trainer.learner(w, names, True)) for _ in range(learners)]
        share = parallel == "async" and learners > 1
        if cluster is not None:
            from hopefear.trainers.online.cluster import Actors, connect

            connect(cluster, learners)
            options = {name: getattr(decoder, name) for name in ("pop_limit", "max_options", "max_span", "templates")}
            path = str(decoder.model.path.resolve())
            make = partial(_open_learner, path, options, corpus, trainer, w)
            team = Crew(Actors(make), snapshots, parallel, warn)
        else:
            from hopefear.trainers.online.workers import Processes

            team = Crew(Processes(lambda: trainer.learner(w, names, share), examples), snapshots, parallel, warn)
    job = _Job(decoder, corpus, dev, trainer, team, names, w, seed, jobs, folder, checkpoint_every, hear, warnings)
    try:
        return job.run()
    finally:
        team.close()
