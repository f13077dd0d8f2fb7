"""Learners in other processes (``hopefear.trainers.online.workers``) or on a cluster (``cluster``).

They work in the ways average, mix and async: an idle learner gets the next sentence together with the working sets of
the others since its last one. A learner that dies is replaced by one with the state of another; its sentence goes back
to the pool, and its part of the average up to its last answer is kept. Sentences during which a learner died are tried
again one at a time, and one that kills three learners is left out, with a warning. If learners cannot be started, die
one after the other, or do not answer, the run ends with the cause.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from hopefear.errors import InputError
from hopefear.trainers.online.states import Snapshot
from hopefear.trainers.online.teams import Tally, Vector, Watch, averaged, shards

POISON = 3  # learners that one sentence may kill
STARTS = 3  # attempts to start a learner
LEFT_OUT = 0.05  # share of the sentences that may be left out
WARN_AFTER = 60.0  # seconds without an answer of a learner
PATIENCE = 600.0  # seconds after which a learner that does not answer counts as dead

Warn = Callable[[str], None]
Header = dict[str, Any]
Reply = tuple[Header, list[Any]]  #: messages between learners: bytes, or a reference to them on a cluster


class Died(NamedTuple):
    """In place of an answer: the learner died."""

    why: str


class RemoteLearners(Protocol):
    """Learners somewhere else. Each answers one question at a time (``hopefear.trainers.online.workers.Server``)."""

    batch: int  #: sentences to send at once

    def start(self, k: int, snapshot: Snapshot) -> None:
        """Learner k, in place of the old one if there was one."""

    def ask(self, k: int, header: Header, pieces: Sequence[Any] = ()) -> None: ...

    def wait(self, seconds: float) -> list[tuple[int, Reply | Died]]:
        """At least one answer, or the cause of a death; none if nothing comes within these seconds."""

    def state(self, k: int) -> str:
        """The state of a learner that does not answer, for a message."""

    def ended(self) -> list[tuple[int, str]]:
        """Learners that died while they had nothing to do, and of what."""

    def close(self) -> None: ...


class RemoteTeam:
    """Sends the sentences of each epoch to learners elsewhere, and replaces those that die."""

    def __init__(
        self,
        workers: RemoteLearners,
        snapshots: Sequence[Snapshot],
        parallel: str = "async",
        warn: Warn = lambda text: None,
    ) -> None:
        assert parallel in ("average", "mix", "async")
        self.workers, self.parallel, self.warn = workers, parallel, warn
        self.count = len(snapshots)
        self.killers: Counter[int] = Counter()
        self.suspects: set[int] = set()  # sentences that were with a learner when it died: they are sent alone
        self.left_out: set[int] = set()
        self.deaths = 0  # since the last answer of any learner
        self.died = 0
        self.restore(snapshots)

    def restore(self, snapshots: Sequence[Snapshot]) -> None:
        self.known = list(snapshots[: self.count])  # each learner as it was when it was last asked
        self.gone = list(snapshots[self.count :])  # those that died: they still count in the average
        self.starting: Counter[int] = Counter()  # learners that have not answered yet, and how often they were started
        self.asked: dict[int, float] = {}  # when learners were asked that have not answered
        for k in range(self.count):
            self._start(k)
        self._all({"ask": "ready"})  # or the first to come would do all the work

    def snapshots(self) -> list[Snapshot]:
        self.known = [Snapshot.unpack(header, pieces) for header, pieces in self._all({"ask": "state"})]
        return [*self.known, *self.gone]

    def average(self) -> Vector:
        return averaged(self.snapshots())

    def look(self) -> None:
        for k, why in self.workers.ended():
            self._say(k, "died after its last sentence", why)

    def close(self) -> None:
        self.workers.close()

    def _say(self, k: int, what: str, why: str) -> None:
        """Each death, also one of the same learner of the same cause."""
        self.died += 1
        number = f" (death {self.died} of this run)" if self.died > 1 else ""
        self.warn(f"learner {k + 1} {what}: {why}{number}")

    def _start(self, k: int) -> None:
        self.starting[k] += 1
        self.workers.start(k, self.known[k])
        self._ask(k, {"ask": "ready"})

    def _ask(self, k: int, header: Header, pieces: Sequence[Any] = ()) -> None:
        self.asked[k] = time.monotonic()
        self.workers.ask(k, header, pieces)

    def _replace(self, k: int, why: str) -> None:
        """Learner k died: a new one begins with what was known last."""
        self.deaths += 1
        if self.starting[k] >= STARTS:
            raise InputError(f"learner {k + 1} could not be started, {STARTS} times: {why}")
        if self.deaths >= 2 * POISON + self.count:
            raise InputError(
                f"{self.deaths} learners died one after the other, the last one: {why}. Continue with --resume"
            )
        self._say(k, "died and was replaced", why)
        if not self.starting[k]:
            if self.known[k].t:
                self.gone.append(self.known[k])
            self.known[k] = max(self.known, key=lambda learner: learner.t).newcomer()
        self._start(k)

    def _answers(self) -> list[tuple[int, Reply | None]]:
        """The next answers; None from a learner that died and was replaced. It is idle when it has answered."""
        answers: list[tuple[int, Reply | None]] = []
        for k, reply in self.workers.wait(WARN_AFTER) or self._silent():
            self.asked.pop(k, None)
            if isinstance(reply, Died):
                begun = not self.starting[k]
                self._replace(k, reply.why)
                if begun:
                    answers.append((k, None))
                continue
            self.deaths = 0
            if self.starting.pop(k, 0):
                continue  # it is ready
            answers.append((k, reply))
        return answers

    def _silent(self) -> list[tuple[int, Reply | Died]]:
        """Nobody answers: warn, and count learners that have not answered for too long as dead."""
        now = time.monotonic()
        dead: list[tuple[int, Reply | Died]] = []
        for k, since in self.asked.items():
            if now - since >= PATIENCE:
                dead.append((k, Died(f"no answer for {PATIENCE:.0f} seconds ({self.workers.state(k)})")))
            elif now - since >= WARN_AFTER:
                self.warn(f"learner {k + 1} has not answered for {WARN_AFTER:.0f} seconds: {self.workers.state(k)}")
        return dead

    def _all(self, header: Header, pieces: Sequence[bytes] = ()) -> list[Reply]:
        """Ask all the same, while all are idle."""
        replies: dict[int, Reply] = {}
        waiting = set(range(self.count))
        while len(replies) < self.count:
            for k in sorted(waiting):
                if k not in self.starting:
                    waiting.discard(k)
                    self._ask(k, header, pieces)
            for k, reply in self._answers():
                if reply is None:
                    waiting.add(k)
                else:
                    replies[k] = reply
        return [replies[k] for k in range(self.count)]

    def epoch(self, order: Sequence[int], mu: float, tally: Tally, watch: Watch) -> None:
        known = {*tally.done, *self.left_out}
        share = self.parallel == "async"
        if self.parallel == "mix" and not tally.done:
            self.snapshots()
            self._all({"ask": "move"}, [np.mean([step.w for step in self.known], axis=0).tobytes()])
        if share:
            pools = [deque(i for i in order if i not in known)] * self.count
        else:
            parts = shards(order, self.count, self.parallel == "average")
            pools = [deque(i for i in part if i not in known) for part in parts]
        mail: list[list[Any]] = [[] for _ in range(self.count)]
        busy: dict[int, list[int]] = {}

        def give(k: int) -> None:
            if not pools[k] or k in busy or k in self.starting:
                return
            busy[k] = self._portion(pools[k])
            letters, mail[k] = mail[k], []
            self._ask(k, {"ask": "learn", "sentences": busy[k], "mu": mu}, letters)

        resting = False
        while any(pools) or busy:
            if resting and not busy:
                watch.checkpoint(tally)
                resting = False
            for k in range(self.count):
                if not resting:
                    give(k)
            for k, reply in self._answers():
                sentences = busy.pop(k, [])  # none: it died while it was idle
                if reply is None:
                    pools[k].extendleft(reversed(self._spared(sentences, len(order))))
                    continue
                header, letters = reply
                for step in header["learnt"]:
                    tally.add(step)
                tally.message_bytes += header["bytes"]
                if share:
                    for other in range(self.count):
                        if other != k:
                            mail[other] += letters
            resting = watch.progress(tally) or resting

    def _portion(self, pool: deque[int]) -> list[int]:
        """The next sentences for a learner: few towards the end of an epoch, so that no learner waits long for the last
        one, and suspects alone."""
        share = self.parallel == "async"
        size = max(1, min(self.workers.batch, len(pool) // (2 * self.count) if share else self.workers.batch))
        taken = [pool.popleft()]
        while pool and len(taken) < size and not {taken[0], pool[0]} & self.suspects:
            taken.append(pool.popleft())
        return taken

    def _spared(self, sentences: list[int], total: int) -> list[int]:
        """The sentences of a dead learner that go back to the pool: all but one that killed several learners."""
        self.suspects.update(sentences)
        if len(sentences) != 1:
            return sentences
        (sentence,) = sentences
        self.killers[sentence] += 1
        if self.killers[sentence] < POISON:
            return sentences
        self.warn(f"sentence {sentence + 1} killed {POISON} learners: it is skipped")
        self.left_out.add(sentence)
        if len(self.left_out) > max(1, LEFT_OUT * total):
            many = f"{len(self.left_out)} of {total} sentences killed {POISON} learners each"
            raise InputError(f"{many}: is there enough memory? Fix it, then continue with --resume")
        return []
