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
from hopefear.trainers.online import remote_team, workers as workers_module
from hopefear.trainers.online.base import initial_weights
from hopefear.trainers.online.mira import Mira
from hopefear.trainers.online.states import Snapshot
from hopefear.trainers.online.teams import Learners
from hopefear.trainers.online.workers import pack, unpack
from tests.models import corpus


def test_messages_survive_the_wire() -> None:
    message = ({"ask": "learn", "sentences": [1, 2]}, [b"", b"ab\0c", b"\n"])
    assert unpack(pack(*message)) == message


def test_without_fork_the_error_names_alternatives(decoder: Hiero, task: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    events: list[Event] = []
    trained = Mira(epochs=1, learners=Learners("async", 2)).fit(
        Task(decoder, corpus(task, "tune")), run=Session(events.append)
    )
    assert trained.history[0]["sentences"] == 23
    assert trained.warnings == [event.text for event in events if isinstance(event, Warned)]
    assert "sentence 6 killed 3 learners: it is skipped" in trained.warnings


def test_a_killer_in_a_batch_is_blamed_alone(
    decoder: Hiero, task: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Sentences that go in batches: the others of the batch are learnt from, and the cause of death is reported."""
    answer = workers_module.Server.answer

    def deadly(self: Any, header: dict[str, Any], pieces: Any) -> Any:
        if header["ask"] == "learn" and 5 in header["sentences"]:
            raise MemoryError("no room")
        return answer(self, header, pieces)

    monkeypatch.setattr(workers_module.Server, "answer", deadly)
    monkeypatch.setattr(workers_module.Processes.__init__, "__defaults__", (8,))
    trained = Mira(epochs=2, learners=Learners("async", 2)).fit(Task(decoder, corpus(task, "tune")))
    assert [record["sentences"] for record in trained.history] == [23, 23]
    left_out = [text for text in trained.warnings if "killed" in text]
    assert left_out == ["sentence 6 killed 3 learners: it is skipped"]
    assert any(text.endswith("died and was replaced: MemoryError: no room") for text in trained.warnings)
    assert "Traceback" not in capfd.readouterr().err


def test_learners_that_cannot_be_started_end_the_run(
    decoder: Hiero, task: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: Any, *args: Any) -> None:
        raise RuntimeError("no such model here")

    monkeypatch.setattr(workers_module.Server, "__init__", broken)
    with pytest.raises(InputError, match=r"could not be started, 3 times: RuntimeError: no such model here"):
        Mira(epochs=1, learners=Learners("async", 2)).fit(Task(decoder, corpus(task, "tune")))


def test_learners_that_die_of_everything_end_the_run(
    decoder: Hiero, task: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = workers_module.Server.answer

    def deadly(self: Any, header: dict[str, Any], pieces: Any) -> Any:
        if header["ask"] == "learn":
            raise MemoryError
        return answer(self, header, pieces)

    monkeypatch.setattr(workers_module.Server, "answer", deadly)
    events: list[Event] = []
    with pytest.raises(InputError, match=r"learners? (died|each).*|killed 3 learners each"):
        Mira(epochs=1, learners=Learners("async", 2)).fit(
            Task(decoder, corpus(task, "tune")), run=Session(events.append)
        )
    assert "MemoryError" in str(events) and len(events) < 200


def test_a_stopped_learner_is_named_and_then_replaced(
    decoder: Hiero, task: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer, stopped = workers_module.Server.answer, task / "stopped"
    stopped.unlink(missing_ok=True)

    def stop(self: Any, header: dict[str, Any], pieces: Any) -> Any:
        if header["ask"] == "learn" and not stopped.exists():
            stopped.touch()
            os.kill(os.getpid(), signal.SIGSTOP)
        return answer(self, header, pieces)

    monkeypatch.setattr(workers_module.Server, "answer", stop)
    monkeypatch.setattr(remote_team, "WARN_AFTER", 0.5)
    monkeypatch.setattr(remote_team, "PATIENCE", 1.5)
    trained = Mira(epochs=1, learners=Learners("async", 2)).fit(Task(decoder, corpus(task, "tune")))
    assert trained.history[0]["sentences"] == 24
    assert any("has not answered" in text and "is stopped" in text for text in trained.warnings)
    assert any("died and was replaced: no answer for" in text for text in trained.warnings)


def test_a_terminated_group_prints_nothing(
    decoder: Hiero, task: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """SIGTERM reaches learners too; they die of it without a traceback."""
    tuning = corpus(task, "tune")
    names = decoder.feature_names
    w = initial_weights(names)
    old = signal.signal(signal.SIGTERM, lambda number, frame: (_ for _ in ()).throw(KeyboardInterrupt()))
    try:
        processes = workers_module.Processes(
            lambda: Mira().learner(w, names, True), decoder.examples(tuning.lines, tuning.references)
        )
        processes.start(0, Snapshot.of(Mira().learner(w, names, True)))
        processes.ask(0, {"ask": "ready"})
        assert processes.wait(60) == [(0, ({}, []))]
        os.kill(processes.pids[0], signal.SIGTERM)
        assert processes.wait(60) == [(0, remote_team.Died("killed by signal 15; is there enough memory?"))]
        processes.close()
    finally:
        signal.signal(signal.SIGTERM, old)
    assert capfd.readouterr().err == ""
