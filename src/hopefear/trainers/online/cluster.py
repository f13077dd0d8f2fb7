"""Learners on a Ray cluster (the extra ``cluster``): the same learners, one actor each.

Every machine opens the model from its own disk, or from one that all share, under the same path, and maps it into
memory once for all its learners. What travels are working sets and weights. A call costs about as much as a short
sentence, so sentences are sent in batches; the working sets of a batch stay in the object store as one piece, and go
straight from learner to learner, once to each machine. The leader sees only their names.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence
from typing import Any

from hopefear import _core
from hopefear.errors import InputError
from hopefear.trainers.online.remote_team import Died, Header, Reply
from hopefear.trainers.online.states import Snapshot
from hopefear.trainers.online.workers import Server, pack, unpack
from hopefear.util.cluster import free_cores, total_cores

BATCH = 8


def check_cpus(learners: int) -> None:
    """Say at once that learners would wait for CPUs that the cluster does not have."""
    if (cpus := int(total_cores())) < learners:
        need = f"{learners} learners need one each"
        raise InputError(f"the cluster has {cpus} CPUs, and {need}. Use fewer, or add nodes")


def _last_line(error: Exception) -> str:
    """The line of Ray's long messages that has the cause."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[-1] if lines else ''}"


class _Actor:
    """The actor on a worker of the cluster."""

    def __init__(
        self, make: Callable[[], tuple[_core.Learner, _core.Examples]], header: Header, pieces: list[bytes]
    ) -> None:
        self.failed = ""
        try:
            learner, examples = make()
        except InputError as error:  # no model here, or another one: it would be so the next time too
            self.failed = f"{socket.gethostname()}: {error}"
            return
        self.server = Server(learner, examples, Snapshot.unpack(header, pieces))

    def answer(self, header: Header, *packets: bytes) -> tuple[Header, bytes]:
        if self.failed:
            return {"failed": self.failed}, b""
        try:
            head, pieces = self.server.answer(header, [piece for packet in packets for piece in unpack(packet)[1]])
            return head, pack({}, pieces)
        except InputError as error:
            return {"failed": str(error)}, b""


class Actors:
    """One actor a learner. ``make`` travels to the workers and opens model and examples there."""

    def __init__(self, make: Callable[[], tuple[_core.Learner, _core.Examples]], batch: int = BATCH) -> None:
        import ray

        self.ray, self.batch = ray, batch
        self.make = ray.put(make)
        self.kind = ray.remote(num_cpus=1, max_restarts=0)(_Actor)
        self.actors: dict[int, Any] = {}
        self.open: dict[Any, tuple[int, Any]] = {}  # the header on its way -> learner, and its letters

    def start(self, k: int, snapshot: Snapshot) -> None:
        if k in self.actors:
            self.ray.kill(self.actors[k])
        self.open = {head: (learner, letters) for head, (learner, letters) in self.open.items() if learner != k}
        self.actors[k] = self.kind.remote(self.make, *snapshot.pack())

    def ask(self, k: int, header: Header, pieces: Sequence[Any] = ()) -> None:
        packets = pieces if header["ask"] == "learn" else [pack({}, pieces)]
        head, letters = self.actors[k].answer.options(num_returns=2).remote(header, *packets)
        self.open[head] = k, letters

    def wait(self, seconds: float) -> list[tuple[int, Reply | Died]]:
        ready, _ = self.ray.wait(list(self.open), num_returns=1, timeout=seconds)
        answers: list[tuple[int, Reply | Died]] = []
        for future in ready:
            k, letters = self.open.pop(future)
            try:
                header = self.ray.get(future)
                if "failed" in header:
                    raise InputError(header["failed"])
                pieces = [letters] if "learnt" in header else unpack(self.ray.get(letters))[1]
            except self.ray.exceptions.RayError as error:  # the actor, or its whole machine, is gone
                answers.append((k, Died(_last_line(error))))
                continue
            answers.append((k, (header, pieces)))
        return answers

    def state(self, k: int) -> str:
        free = int(free_cores())
        return f"it is running, or waiting for a CPU: {free} are free on the cluster"

    def ended(self) -> list[tuple[int, str]]:
        return []  # Ray reports the death of an actor only when it is asked for an answer

    def close(self) -> None:
        for actor in self.actors.values():
            self.ray.kill(actor)
        self.actors.clear()
