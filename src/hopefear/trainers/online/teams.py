"""Learners that work together: Chiang (2012), section 6.

``Threads`` holds its learners in this process, and its result depends on nothing but the seed, however many threads
there are:

none       one learner, sentence after sentence
average    P learners, each with its own part of the sentences; their weights are averaged at the end, and for scoring
mix        iterative parameter mixing (6.1): the same, and at the begin of each epoch all start from the average of
           the weights they ended with; who has which sentences is drawn again for each epoch. In AROW every learner
           keeps its variances
simulate   asynchronous learners (6.2) in logical time: in a round each takes the next sentence, and after it they
           exchange working sets

Learners in other processes or on other machines: ``hopefear.trainers.online.remote_team``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hopefear import _core
from hopefear.trainers.online.states import Snapshot

if TYPE_CHECKING:
    from hopefear.trainers.online.base import Online

Vector = NDArray[np.float64]
PARALLEL = ("none", "average", "mix", "async")
CHUNK = 8  # sentences that a learner works on between two checks for progress and checkpoints


@dataclass(frozen=True)
class Learners:
    """How many learners there are, and how they work together."""

    parallel: str = "none"  # or average, mix, async
    count: int = 1
    simulate: bool = False  # async learners take turns in logical time: deterministic
    cluster: str | None = None  # the address of a Ray cluster, or auto


class Watch(Protocol):
    """Callbacks of a job while its learners work."""

    def progress(self, tally: Tally) -> bool:
        """Between pieces of work. Whether a checkpoint is due."""

    def checkpoint(self, tally: Tally) -> None:
        """When it was, and all learners are at rest."""


@dataclass
class Tally:
    """The figures of an epoch so far."""

    sentences: int = 0
    skipped: int = 0
    hope: float = 0.0
    best: float = 0.0
    fear: float = 0.0
    loss: float = 0.0
    constraints: int = 0
    heard: int = 0
    decoding: float = 0.0
    learning: float = 0.0
    message_bytes: int = 0
    b: Vector = field(default_factory=lambda: np.zeros(9))
    done: list[int] = field(default_factory=list)  # sentences, in the order they were done

    SUMS = ("hope", "best", "fear", "loss", "constraints", "heard", "decoding", "learning")

    def add(self, learnt: Any) -> None:
        """A ``Learnt`` of the core, or the same as a dictionary."""
        record = learnt if isinstance(learnt, dict) else described(learnt)
        self.sentences += 1
        self.skipped += bool(record["skipped"])
        for name in self.SUMS:
            if record[name] == record[name]:  # not NaN: an objective without hope and fear
                setattr(self, name, getattr(self, name) + record[name])
        self.b = self.b + np.asarray(record["b"])
        self.done.append(int(record["sentence"]))

    def figures(self) -> dict[str, float]:
        """Means a sentence, and CPU seconds in all."""
        n = max(1, self.sentences)
        means = {name: getattr(self, name) / n for name in ("hope", "best", "fear", "loss", "constraints")}
        record = {**means, "decoding": self.decoding, "learning": self.learning}
        if self.heard:
            record["heard"] = self.heard / n
        if self.message_bytes:
            record["message_bytes"] = self.message_bytes / n
        if self.skipped:
            record["skipped"] = self.skipped
        return record

    def plain(self) -> dict[str, Any]:
        return {**self.__dict__, "b": self.b.tolist()}

    @classmethod
    def restored(cls, plain: dict[str, Any]) -> Tally:
        return cls(**{**plain, "b": np.array(plain["b"])})


def described(learnt: _core.Learnt) -> dict[str, Any]:
    """A ``Learnt`` as plain values."""
    names = ("sentence", "skipped", *Tally.SUMS)
    return {**{name: getattr(learnt, name) for name in names}, "b": learnt.b.tolist()}


class Team(Protocol):
    """The learners of a job."""

    died: int  #: learners so far, also those of before it was resumed

    def epoch(self, order: Sequence[int], mu: float, tally: Tally, watch: Watch) -> None:
        """Go through the sentences in this order; those of ``tally`` are done already."""

    def snapshots(self) -> list[Snapshot]: ...

    def restore(self, snapshots: Sequence[Snapshot]) -> None: ...

    def average(self) -> Vector:
        """Algorithm 4, line 13: sum of all s_k over sum of all t_k."""

    def look(self) -> None:
        """Say which learners died since they were last asked."""

    def close(self) -> None: ...


def averaged(snapshots: Iterable[Snapshot]) -> Vector:
    """The average of learners, each weighted by the examples it has seen."""
    snapshots = list(snapshots)
    totals = [state.total() for state in snapshots]
    t = sum(count for _, count in totals)
    mean: Vector = (
        np.sum([s for s, _ in totals], axis=0) / t if t else np.mean([state.w for state in snapshots], axis=0)
    )
    return mean


def shards(order: Sequence[int], learners: int, fixed: bool) -> list[list[int]]:
    """Each learner's part of the sentences, in the order given; ``fixed`` parts do not depend on that order."""
    if fixed:
        return [[i for i in order if i % learners == k] for k in range(learners)]
    return [list(order[k::learners]) for k in range(learners)]


class Threads:
    """Learners in this process."""

    died = 0

    def __init__(
        self,
        trainer: Online,
        examples: _core.Examples,
        names: Sequence[str],
        w: Vector,
        parallel: str,
        learners: int,
        jobs: int,
    ) -> None:
        assert parallel in ("none", "average", "mix", "simulate")
        count = 1 if parallel == "none" else learners
        self.examples, self.parallel, self.jobs = examples, parallel if count > 1 else "none", jobs
        self.learners = [trainer.learner(w, names, self.parallel == "simulate") for _ in range(count)]

    def epoch(self, order: Sequence[int], mu: float, tally: Tally, watch: Watch) -> None:
        count = len(self.learners)
        known = set(tally.done)
        if self.parallel == "simulate":
            left = [i for i in order if i not in known]
            for at in range(0, len(left), CHUNK * count):
                piece = left[at : at + CHUNK * count]
                self._add(tally, _core.simulate(self.learners, self.examples, piece, mu=mu, jobs=self.jobs), watch)
            return
        if self.parallel == "mix" and not known:
            mixed = np.mean([learner.weights for learner in self.learners], axis=0)
            for learner in self.learners:
                learner.move_to(mixed)
        parts = [[i for i in part if i not in known] for part in shards(order, count, self.parallel == "average")]
        for at in range(0, max(map(len, parts)), CHUNK):
            work = [part[at : at + CHUNK] for part in parts]
            learnt = _core.learn(self.learners, self.examples, work, mu=mu, jobs=self.jobs)
            self._add(tally, chain.from_iterable(learnt), watch)

    @staticmethod
    def _add(tally: Tally, learnt: Iterable[_core.Learnt], watch: Watch) -> None:
        for step in learnt:
            tally.add(step)
        if watch.progress(tally):
            watch.checkpoint(tally)

    def snapshots(self) -> list[Snapshot]:
        return [Snapshot.of(learner) for learner in self.learners]

    def restore(self, snapshots: Sequence[Snapshot]) -> None:
        for learner, snapshot in zip(self.learners, snapshots, strict=True):
            snapshot.into(learner)

    def average(self) -> Vector:
        return averaged(self.snapshots())

    def look(self) -> None:
        pass

    def close(self) -> None:
        pass
