"""Whole training jobs: every way of working together, resuming, learners that die."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hopefear.decode import Hiero
from hopefear.errors import InputError
from hopefear.runs import checkpoint
from hopefear.runs.events import Event, Progress
from hopefear.runs.session import Session
from hopefear.trainers import TRAINERS, Corpus, Result, Task
from hopefear.trainers.online import states
from hopefear.trainers.online.arow import Arow
from hopefear.trainers.online.base import Online
from hopefear.trainers.online.job import FixedCandidates
from hopefear.trainers.online.mira import Mira
from hopefear.trainers.online.sgd import Sgd
from hopefear.trainers.online.teams import Learners
from hopefear.util.files import atomic_write
from tests.models import corpus
from tests.trainers.pools import list_pool, synthetic_pool

WAYS = [Learners(), Learners("average", 3), Learners("mix", 3), Learners("async", 3, simulate=True)]
every_way = pytest.mark.parametrize("way", WAYS, ids=lambda way: way.parallel + "-simulated" * way.simulate)


class KilledError(Exception):
    pass


def killer(after: int) -> Any:
    """Ends the job at the n-th sign of progress."""
    heard = 0

    def hear(event: Event) -> None:
        nonlocal heard
        heard += isinstance(event, Progress)
        if heard == after:
            raise KilledError

    return hear


@pytest.fixture
def tune(decoder: Hiero, task: Path) -> Task:
    """Sentences to learn from, and none to choose on."""
    return Task(decoder, corpus(task, "tune"))


@pytest.fixture
def chosen(decoder: Hiero, task: Path) -> Task:
    """The same with development data."""
    return Task(decoder, corpus(task, "tune"), corpus(task, "dev"))


@pytest.mark.parametrize(
    "trainer", [each for each in TRAINERS if issubclass(each, Online)], ids=lambda record: record.name
)
def test_every_trainer_learns(tune: Task, trainer: type[Online]) -> None:
    """It translates what it learns from better than before; two dozen sentences promise no more."""
    trained = trainer(epochs=2).fit(replace(tune, dev=tune.corpus), {"lm": 0.2, "phrase_ef": 0.2})
    before, *after = trained.history
    assert before["epoch"] == 0
    assert [record["epoch"] for record in after] == [1, 2]
    assert trained.score == after[-1]["score"] > before["score"]
    assert after[-1]["sentences"] == 24
    assert any(name.startswith("lex(") for name in trained.weights)
    assert trained.weights["lm"] != 1.0


def test_training_starts_at_the_models_weights_and_never_ends_below(tune: Task) -> None:
    harmful = Sgd(epochs=2, eta=1e6).fit(replace(tune, dev=tune.corpus))
    own = tune.decoder.model.weights
    assert {name: harmful.initial[name] for name in own} == own
    assert (harmful.epoch, harmful.score) == (0, harmful.initial_score)
    assert {name: harmful.weights[name] for name in own} == own
    assert "the learnt weights are not better than the initial weights" in harmful.warnings[0]
    assert "--folds 3" in harmful.warnings[0] and "keep=learnt" in harmful.warnings[0]
    blind = Sgd(epochs=1, eta=1e6).fit(tune)  # without development data the last epoch is the one
    assert blind.epoch == 1 and "worse than the initial ones" in blind.warnings[0]


@every_way
def test_threads_do_not_matter(tune: Task, way: Learners) -> None:
    result = [Mira(epochs=2, jobs=jobs, learners=way).fit(tune) for jobs in (1, 3)]
    assert result[0].weights == result[1].weights
    assert result[0].epoch == 2  # without development data the last epoch is the one


@every_way
@pytest.mark.parametrize("after", [1, 2, 4])
def test_a_job_that_was_killed_ends_with_the_same_weights(
    chosen: Task, tmp_path: Path, way: Learners, after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hopefear.trainers.online.teams.CHUNK", 2)

    def run(folder: Path | None, **options: Any) -> Result:
        session = Session(**options, folder=folder, checkpoint_every=0.0)
        return Arow(epochs=2, learners=way).fit(chosen, run=session)

    with pytest.raises(KilledError):
        run(tmp_path, listen=killer(after))
    whole, resumed = run(None), run(tmp_path)
    assert resumed.weights == whole.weights
    assert [record["score"] for record in resumed.history] == [record["score"] for record in whole.history]


def test_one_simulated_learner_is_the_sequential_one(tune: Task) -> None:
    alone = Mira(epochs=2).fit(tune)
    simulated = Mira(epochs=2, learners=Learners("async", 1, simulate=True)).fit(tune)
    assert simulated.weights == alone.weights


def test_more_learners_give_other_weights(tune: Task) -> None:
    result = [Mira(epochs=1, learners=way).fit(tune).weights for way in WAYS]
    assert all(one != other for k, one in enumerate(result) for other in result[:k])


@pytest.mark.parametrize("trainer", [Mira, Arow, Sgd], ids=lambda record: record.name)
def test_processes_do_every_sentence_once(chosen: Task, trainer: type[Online]) -> None:
    trained = trainer(epochs=2, learners=Learners("async", 2)).fit(chosen)
    assert [record["sentences"] for record in trained.history[1:]] == [24, 24]
    assert trained.score > trained.history[0]["score"]
    assert trained.history[1]["heard"] > 0
    assert 0 < trained.history[1]["message_bytes"] < 50_000
    assert trained.warnings == []


def test_processes_resume(tune: Task, tmp_path: Path) -> None:
    trainer = Mira(epochs=2, learners=Learners("async", 2))
    with pytest.raises(KilledError):
        trainer.fit(tune, run=Session(killer(8), tmp_path, 0.0))
    done = states.load(tmp_path / "learners.npz")
    assert done is not None
    trained = trainer.fit(tune, run=Session(folder=tmp_path, checkpoint_every=0.0))
    assert [record["sentences"] for record in trained.history] == [24, 24]


def test_a_full_disk_costs_no_more_than_a_checkpoint(
    tune: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writes = 0

    def full(path: Path, mode: str = "w") -> Any:
        nonlocal writes
        writes += 1
        if writes >= 2:
            raise OSError(28, "No space left on device")
        return atomic_write(path, mode)

    monkeypatch.setattr(checkpoint, "atomic_write", full)
    trained = Mira(epochs=1).fit(tune, run=Session(folder=tmp_path, checkpoint_every=0.0))
    assert any("No space left on device" in text for text in trained.warnings)
    assert trained.history[0]["sentences"] == 24
    assert [path.name for path in tmp_path.iterdir()] == ["learners.npz"]
    kept = states.load(tmp_path / "learners.npz")
    assert kept is not None
    assert kept[0]["tally"]["sentences"] == 8


def test_patience(chosen: Task) -> None:
    trained = Sgd(epochs=50, patience=2, eta=0.3, keep="best").fit(chosen)
    assert len(trained.history) - 1 == trained.epoch + 2 < 50
    averaged = Sgd(epochs=50, patience=2, eta=0.3).fit(chosen)  # the same epochs, another one returned
    assert averaged.history[-1]["score"] == trained.history[-1]["score"]
    assert averaged.epoch in (0, trained.epoch + 2)


def test_what_is_kept_of_the_epochs(chosen: Task) -> None:
    """The twin: as many runs as there are epochs, each ending there, choose in the same way."""
    options: Any = {"eta": 0.3, "seed": 3}
    each = [Sgd(epochs=n, keep="learnt", **options).fit(chosen) for n in (1, 2, 3, 4)]
    scores = [one.score for one in each]
    assert [one.epoch for one in each] == [1, 2, 3, 4]
    assert scores == [one["score"] for one in each[-1].history[1:]]
    start = each[0].initial_score
    last = Sgd(epochs=4, **options).fit(chosen)
    assert last.weights == (each[-1].weights if scores[-1] > start else last.initial)
    best = Sgd(epochs=4, keep="best", **options).fit(chosen)
    top = int(np.argmax(scores))
    assert max(scores) > start and len(set(scores)) > 1
    assert (best.epoch, best.score, best.weights) == (top + 1, scores[top], each[top].weights)
    with pytest.raises(InputError, match=r"keep: 'first' is not known. Choose one of last, best, learnt"):
        Sgd(keep="first")


def test_weights_that_diverge_are_not_kept(chosen: Task) -> None:
    trained = Sgd(epochs=3, eta=1e308).fit(chosen)
    assert any("diverged" in text and "Lower eta" in text for text in trained.warnings)
    assert all(np.isfinite(value) for value in trained.weights.values())
    assert trained.epoch == 0


def test_a_task_without_sentences_and_data_of_no_kind(tune: Task) -> None:
    with pytest.raises(InputError, match="there are no sentences to learn from"):
        Mira().fit(replace(tune, corpus=Corpus([], [[]])))
    with pytest.raises(InputError, match="trainer mira learns from a Task or a Pool, not from Corpus"):
        Mira().fit(tune.corpus)


def test_candidates_stay_on_one_machine() -> None:
    pool = synthetic_pool(sentences=4)
    with pytest.raises(InputError, match="learning from candidates runs on one machine"):
        FixedCandidates(pool).opener()
    with pytest.raises(InputError, match="sentence 0 has no reference, and hope and fear need BLEU"):
        Mira().fit(list_pool([np.eye(2)], texts=[["a", "b"]], references=[[]]))


def test_a_listener_may_stop_it_before_the_first_epoch(chosen: Task) -> None:
    stopped = Mira().fit(chosen, run=Session(lambda event: False))
    assert [record["epoch"] for record in stopped.history] == [0]
    assert (stopped.epoch, stopped.weights, stopped.score) == (0, stopped.initial, stopped.initial_score)
