"""Learners in processes of their own, on one machine.

A learner is forked: it sees model, memory maps and examples without a copy. Questions and answers travel through a
pipe as a JSON header and pieces of bytes. A learner whose leader is gone ends by itself.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, Pipe, wait
from pathlib import Path
from typing import Any

import numpy as np

from hopefear import _core
from hopefear.errors import InputError
from hopefear.trainers.online.remote_team import Died, Header, Reply
from hopefear.trainers.online.states import Snapshot
from hopefear.trainers.online.teams import described
from hopefear.util.processes import die_with, fork


class Server:
    """A learner that answers questions: the same on every kind of worker."""

    def __init__(self, learner: _core.Learner, examples: _core.Examples, snapshot: Snapshot) -> None:
        self.learner, self.examples = learner, examples
        snapshot.into(learner)

    def answer(self, header: Header, pieces: Sequence[bytes]) -> Reply:
        if header["ask"] == "ready":
            return {}, []
        if header["ask"] == "state":
            return Snapshot.of(self.learner).pack()
        if header["ask"] == "move":
            self.learner.move_to(np.frombuffer(pieces[0], np.float64))
            return {}, []
        assert header["ask"] == "learn"
        for letter in pieces:
            self.learner.hear(letter)
        learnt = _core.learn([self.learner], self.examples, [header["sentences"]], mu=header["mu"], jobs=1)[0]
        letters = self.learner.take_messages()
        return {"learnt": [described(step) for step in learnt], "bytes": sum(map(len, letters))}, letters


def pack(header: Header, pieces: Sequence[bytes]) -> bytes:
    """One message: the length of the header, the header with the lengths of the pieces, and the pieces."""
    head = json.dumps({**header, "lengths": [len(piece) for piece in pieces]}).encode()
    return b"".join([len(head).to_bytes(4, "little"), head, *pieces])


def unpack(message: bytes) -> Reply:
    """Header and pieces of a message."""
    at = 4 + int.from_bytes(message[:4], "little")
    header = json.loads(message[4:at])
    pieces = []
    for length in header.pop("lengths"):
        pieces.append(message[at : at + length])
        at += length
    return header, pieces


class Processes:
    """One process a learner. ``make`` gives a learner; it is called in the new process."""

    def __init__(self, make: Callable[[], _core.Learner], examples: _core.Examples, batch: int = 1) -> None:
        self.make, self.examples, self.batch = make, examples, batch
        self.pipes: dict[int, Connection[Any, Any]] = {}
        self.pids: dict[int, int] = {}

    def start(self, k: int, snapshot: Snapshot) -> None:
        if not hasattr(os, "fork"):
            raise InputError("learners in processes need a system that forks. Use --simulate-learners, or a cluster")
        self._end(k)
        ours, theirs = Pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        leader = os.getpid()
        pid = fork()
        if pid == 0:
            die_with(leader)
            ours.close()
            for pipe in self.pipes.values():  # or the others would not notice that the leader is gone
                pipe.close()
            self._serve(theirs, snapshot)
        theirs.close()
        self.pipes[k], self.pids[k] = ours, pid

    def _serve(self, pipe: Connection[Any, Any], snapshot: Snapshot) -> None:
        """Answer questions until the leader is gone."""
        code = 0
        try:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the leader's business
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            server = Server(self.make(), self.examples, snapshot)
            while True:
                question = pipe.recv_bytes()
                try:
                    answer = pack(*server.answer(*unpack(question)))
                except InputError as error:
                    answer = pack({"failed": str(error)}, [])
                pipe.send_bytes(answer)
        except (EOFError, BrokenPipeError, ConnectionResetError):
            pass
        except BaseException as error:
            if os.environ.get("HOPEFEAR_DEBUG"):
                traceback.print_exc()
            with suppress(OSError, MemoryError):
                pipe.send_bytes(pack({"died": f"{type(error).__name__}: {error}".rstrip(": ")}, []))
            code = 1
        os._exit(code)

    def ask(self, k: int, header: Header, pieces: Sequence[bytes] = ()) -> None:
        with suppress(BrokenPipeError, ConnectionResetError):  # wait() reports the death
            self.pipes[k].send_bytes(pack(header, pieces))

    def wait(self, seconds: float) -> list[tuple[int, Reply | Died]]:
        ready = wait(list(self.pipes.values()), seconds)
        answers: list[tuple[int, Reply | Died]] = []
        for k, pipe in list(self.pipes.items()):
            if pipe in ready:
                try:
                    reply = unpack(pipe.recv_bytes())
                except (EOFError, ConnectionResetError):
                    answers.append((k, Died(self._end(k))))
                    continue
                if "failed" in reply[0]:
                    raise InputError(reply[0]["failed"])
                answers.append((k, Died(reply[0]["died"]) if "died" in reply[0] else reply))
        return answers

    def state(self, k: int) -> str:
        with suppress(OSError, KeyError, IndexError):
            letter = Path(f"/proc/{self.pids[k]}/stat").read_text().rpartition(")")[2].split()[0]
            if letter in "Tt":
                return f"its process {self.pids[k]} is stopped. Continue it: kill -CONT {self.pids[k]}"
        return f"its process {self.pids.get(k)} is running"

    def ended(self) -> list[tuple[int, str]]:
        silent = wait(list(self.pipes.values()), 0)  # idle learners send nothing: their pipes are closed
        return [(k, self._end(k)) for k, pipe in list(self.pipes.items()) if pipe in silent]

    def _end(self, k: int) -> str:
        """No more learner k; what it died of."""
        if k not in self.pids:
            return "it was not there"
        self.pipes.pop(k).close()
        pid = self.pids.pop(k)
        gone, status = os.waitpid(pid, os.WNOHANG)
        if not gone:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            _, status = os.waitpid(pid, 0)
        code = os.waitstatus_to_exitcode(status)
        return f"killed by signal {-code}; is there enough memory?" if code < 0 else f"it ended with {code}"

    def close(self) -> None:
        for k in list(self.pids):
            self._end(k)
