"""Whole training jobs: every way of working together, resuming, learners that die."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hopefear.decode import Hiero
from hopefear.errors import InputError
from hopefear.trainers.online import ONLINE, Arow, Mira, Sgd, Trained, states, train
from hopefear.trainers.online import workers as workers_module
from hopefear.trainers.online.states import Snapshot
from hopefear.trainers.online.teams import Tally, averaged, shards
from hopefear.trainers.online.workers import pack, unpack
from hopefear.util.files import atomic_write
from tests.trainers.online.models import corpus

WAYS: list[dict[str, Any]] = [
    {"parallel": "none"},
    {"parallel": "average", "learners": 3},
    {"parallel": "mix", "learners": 3},
    {"parallel": "async", "learners": 3, "simulate": True},
]
way_ids = [f"{way['parallel']}{'-simulated' if 'simulate' in way else ''}" for way in WAYS]


class KilledError(Exception):
    pass


def killer(after: int) -> Any:
    """Ends the job at the n-th sign of progress."""
    heard = 0

    def hear(said: dict[str, Any]) -> None:
        nonlocal heard
        heard += said["event"] == "progress"
        if heard == after:
            raise KilledError

    return hear


@pytest.mark.parametrize("name", ONLINE)
def test_every_trainer_learns(decoder: Hiero, task: Path, name: str) -> None:
    """It translates what it learns from better than before; two dozen sentences promise no more."""
    trained = train(decoder, corpus(task, "tune"), ONLINE[name](epochs=2), dev=corpus(task, "tune"))
    before, *after = trained.history
    assert before["epoch"] == 0
    assert [one["epoch"] for one in after] == [1, 2]
    assert trained.score == max(one["score"] for one in after) > before["score"]
    assert after[-1]["sentences"] == 24
    assert any(name.startswith("lex(") for name in trained.weights)
    assert trained.weights["lm"] != 1.0


@pytest.mark.parametrize("way", WAYS, ids=way_ids)
def test_threads_do_not_matter(decoder: Hiero, task: Path, way: dict[str, Any]) -> None:
    found = [train(decoder, corpus(task, "tune"), Mira(epochs=2), jobs=jobs, **way) for jobs in (1, 3)]
    assert found[0].weights == found[1].weights
    assert found[0].epoch == 2  # without development data the last epoch is the one


@pytest.mark.parametrize("way", WAYS, ids=way_ids)
@pytest.mark.parametrize("after", [1, 2, 4])
def test_a_job_that_was_killed_ends_with_the_same_weights(
    decoder: Hiero, task: Path, tmp_path: Path, way: dict[str, Any], after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hopefear.trainers.online.teams.CHUNK", 2)

    def run(folder: Path | None, **options: Any) -> Trained:
        common = {"dev": corpus(task, "dev"), "folder": folder, "checkpoint_every": 0.0}
        return train(decoder, corpus(task, "tune"), Arow(epochs=2), **common, **way, **options)

    with pytest.raises(KilledError):
        run(tmp_path, hear=killer(after))
    whole, resumed = run(None), run(tmp_path)
    assert resumed.weights == whole.weights
    assert [one["score"] for one in resumed.history] == [one["score"] for one in whole.history]


def test_one_simulated_learner_is_the_sequential_one(decoder: Hiero, task: Path) -> None:
    alone = train(decoder, corpus(task, "tune"), Mira(epochs=2))
    simulated = train(decoder, corpus(task, "tune"), Mira(epochs=2), parallel="async", learners=1, simulate=True)
    assert simulated.weights == alone.weights


def test_more_learners_learn_something_else(decoder: Hiero, task: Path) -> None:
    found = [train(decoder, corpus(task, "tune"), Mira(epochs=1), **way).weights for way in WAYS]
    assert all(one != other for k, one in enumerate(found) for other in found[:k])


@pytest.mark.parametrize("trainer", [Mira(epochs=2), Arow(epochs=2), Sgd(epochs=2)], ids=lambda one: one.name)
def test_processes_do_every_sentence_once(decoder: Hiero, task: Path, trainer: Any) -> None:
    trained = train(decoder, corpus(task, "tune"), trainer, dev=corpus(task, "dev"), parallel="async", learners=2)
    assert [one["sentences"] for one in trained.history[1:]] == [24, 24]
    assert trained.score > trained.history[0]["score"]
    assert trained.history[1]["heard"] > 0
    assert 0 < trained.history[1]["message_bytes"] < 50_000
    assert trained.warnings == []


@pytest.mark.parametrize("parallel", ["async", "mix"])
def test_a_learner_that_is_killed_is_replaced(
    decoder: Hiero, task: Path, monkeypatch: pytest.MonkeyPatch, parallel: str
) -> None:
    """SIGKILL while sentences are on their way: none is lost, none is done twice, and it is said."""
    from hopefear.trainers import online
    from hopefear.trainers.online.teams import Crew
    from hopefear.trainers.online.workers import Processes

    tuning = corpus(task, "tune")
    names = decoder.feature_names
    w = online.trainers.initial_weights(names)
    examples = decoder.examples(tuning.lines, tuning.references)
    warnings: list[str] = []
    processes = Processes(lambda: Mira().learner(w, names, True), examples)
    crew = Crew(processes, [Snapshot.of(Mira().learner(w, names, True))] * 2, parallel, warnings.append)
    victims = []

    class Watch:
        def progress(self, tally: Tally) -> bool:
            if tally.sentences >= 4 and len(victims) < 2 and tally.sentences > 5 * len(victims):
                victims.append(processes.pids[len(victims) % 2])
                os.kill(victims[-1], signal.SIGKILL)
            return False

        def checkpoint(self, tally: Tally) -> None: ...

    tally = Tally()
    try:
        crew.epoch(list(range(len(tuning))), -1.0, tally, Watch())
        assert sorted(tally.done) == list(range(len(tuning)))
        assert np.isfinite(crew.average()).all()
        assert len(victims) == 2
        assert sorted(warnings) == ["learner 1 died and was replaced", "learner 2 died and was replaced"]
        assert sum(one.t for one in crew.snapshots()) <= len(tuning)
    finally:
        crew.close()


def test_a_sentence_that_kills_is_left_out(decoder: Hiero, task: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = workers_module.Server.answer

    def deadly(self: Any, header: dict[str, Any], pieces: Any) -> Any:
        if header["ask"] == "learn" and 5 in header["sentences"]:
            os.kill(os.getpid(), signal.SIGKILL)
        return answer(self, header, pieces)

    monkeypatch.setattr(workers_module.Server, "answer", deadly)
    trained = train(decoder, corpus(task, "tune"), Mira(epochs=1), parallel="async", learners=2)
    assert trained.history[0]["sentences"] == 23
    assert "sentence 6 killed 3 learners: it is left out" in trained.warnings


def test_processes_resume(decoder: Hiero, task: Path, tmp_path: Path) -> None:
    options: dict[str, Any] = {"parallel": "async", "learners": 2, "folder": tmp_path, "checkpoint_every": 0.0}
    with pytest.raises(KilledError):
        train(decoder, corpus(task, "tune"), Mira(epochs=2), hear=killer(8), **options)
    done = states.load(tmp_path / "learners.npz")
    assert done is not None
    trained = train(decoder, corpus(task, "tune"), Mira(epochs=2), **options)
    assert [one["sentences"] for one in trained.history] == [24, 24]


def test_a_full_disk_costs_no_more_than_a_checkpoint(
    decoder: Hiero, task: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writes = 0

    def full(path: Path, mode: str = "w") -> Any:
        nonlocal writes
        writes += 1
        if writes >= 2:
            raise OSError(28, "No space left on device")
        return atomic_write(path, mode)

    monkeypatch.setattr(states, "atomic_write", full)
    options: dict[str, Any] = {"folder": tmp_path, "checkpoint_every": 0.0}
    trained = train(decoder, corpus(task, "tune"), Mira(epochs=1), **options)
    assert any("No space left on device" in text for text in trained.warnings)
    assert trained.history[0]["sentences"] == 24
    assert [path.name for path in tmp_path.iterdir()] == ["learners.npz"]
    kept = states.load(tmp_path / "learners.npz")
    assert kept is not None
    assert kept[0]["tally"]["sentences"] == 8


@pytest.mark.parametrize("damage", [b"", b"no checkpoint", None])
def test_a_damaged_checkpoint_is_said(decoder: Hiero, task: Path, tmp_path: Path, damage: bytes | None) -> None:
    path = tmp_path / "learners.npz"
    with pytest.raises(KilledError):
        train(decoder, corpus(task, "tune"), Mira(), folder=tmp_path, checkpoint_every=0.0, hear=killer(2))
    path.write_bytes(path.read_bytes()[:-200] if damage is None else damage)
    with pytest.raises(InputError, match=r"not a checkpoint .* start again with --overwrite"):
        train(decoder, corpus(task, "tune"), Mira(), folder=tmp_path)


def test_patience(decoder: Hiero, task: Path) -> None:
    trained = train(decoder, corpus(task, "tune"), Sgd(epochs=50, patience=2, eta=0.3), dev=corpus(task, "dev"))
    assert len(trained.history) - 1 == trained.epoch + 2 < 50


def test_weights_that_diverge_are_not_kept(decoder: Hiero, task: Path) -> None:
    trained = train(decoder, corpus(task, "tune"), Sgd(epochs=3, eta=1e308), dev=corpus(task, "dev"))
    assert any("diverged" in text and "Lower eta" in text for text in trained.warnings)
    assert all(np.isfinite(value) for value in trained.weights.values())
    assert trained.epoch == 0


def test_mu_fades() -> None:
    assert [Mira(mu=-2, mu_decay=0.5).mu_of(epoch) for epoch in (1, 2, 3)] == [-2, -1, -0.5]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"mu": 0.5}, "mu must not be above 0"),
        ({"epochs": 0}, "epochs must be at least 1"),
        ({"objective": "secant", "mu": 0.0}, "divides by mu"),
        ({"approximation": "exact"}, "approximation must be forest, linear or kbest"),
        ({"reference": "oracle"}, "reference must be one of"),
    ],
)
def test_wrong_options_are_said_at_once(options: dict[str, Any], text: str) -> None:
    with pytest.raises(InputError, match=text):
        Mira(**options)


def test_parts_of_the_sentences() -> None:
    order = [3, 0, 4, 1, 2]
    assert shards(order, 2, True) == [[0, 4, 2], [3, 1]]
    assert shards(order, 2, False) == [[3, 4, 2], [0, 1]]


def test_messages_survive_the_wire() -> None:
    message = ({"ask": "learn", "sentences": [1, 2]}, [b"", b"ab\0c", b"\n"])
    assert unpack(pack(*message)) == message


def test_the_average_of_learners_counts_examples() -> None:
    w = np.ones(2)
    one = Snapshot(3 * w, 0 * w, w[:0], w, 1)
    other = Snapshot(6 * w, 0 * w, w[:0], w, 2)
    assert averaged([one, other]).tolist() == [5, 5]
