"""Learners in processes of their own: what travels through their pipes, and what kills them."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from hopefear.decode import Hiero
from hopefear.errors import InputError
from hopefear.runs.events import Event, Warned
from hopefear.runs.session import Session
from hopefear.trainers import Task
from hopefear.trainers.online import workers as workers_module
from hopefear.trainers.online.mira import Mira
from hopefear.trainers.online.teams import Learners
from hopefear.trainers.online.workers import pack, unpack
from tests.models import corpus


def test_messages_survive_the_wire() -> None:
    message = ({"ask": "learn", "sentences": [1, 2]}, [b"", b"ab\0c", b"\n"])
    assert unpack(pack(*message)) == message


def test_a_system_that_does_not_fork_is_told_what_to_take(
    decoder: Hiero, task: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "fork")
    learner = Mira(epochs=1, learners=Learners(count=2, parallel="async"))
    with pytest.raises(InputError, match="--simulate-learners"):
        learner.fit(Task(decoder, corpus(task, "tune")))


def test_a_sentence_that_kills_is_left_out(decoder: Hiero, task: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = workers_module.Server.answer

    def deadly(self: Any, header: dict[str, Any], pieces: Any) -> Any:
        if header["ask"] == "learn" and 5 in header["sentences"]:
            os.kill(os.getpid(), signal.SIGKILL)
        return answer(self, header, pieces)

    monkeypatch.setattr(workers_module.Server, "answer", deadly)
    heard: list[Event] = []
    trained = Mira(epochs=1, learners=Learners("async", 2)).fit(
        Task(decoder, corpus(task, "tune")), run=Session(heard.append)
    )
    assert trained.history[0]["sentences"] == 23
    assert trained.warnings == [event.text for event in heard if isinstance(event, Warned)]
    assert "sentence 6 killed 3 learners: it is left out" in trained.warnings
