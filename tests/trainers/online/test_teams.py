"""Learners that work together: parts of the sentences, averages, and learners that die."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hopefear.decode import Hiero
from hopefear.trainers.online.base import initial_weights
from hopefear.trainers.online.mira import Mira
from hopefear.trainers.online.remote_team import RemoteTeam
from hopefear.trainers.online.states import Snapshot
from hopefear.trainers.online.teams import Tally, averaged, shards
from hopefear.trainers.online.workers import Processes
from tests.models import corpus


@pytest.mark.parametrize("parallel", ["async", "mix"])
def test_a_learner_that_is_killed_is_replaced(decoder: Hiero, task: Path, parallel: str) -> None:
    """SIGKILL while sentences are on their way: none is lost, none is done twice, and each death is reported."""
    tuning = corpus(task, "tune")
    names = decoder.feature_names
    w = initial_weights(names)
    examples = decoder.examples(tuning.lines, tuning.references)
    warnings: list[str] = []
    processes = Processes(lambda: Mira().learner(w, names, True), examples)
    crew = RemoteTeam(processes, [Snapshot.of(Mira().learner(w, names, True))] * 2, parallel, warnings.append)
    victims: list[Any] = []

    class Watch:
        def progress(self, tally: Tally) -> bool:
            if len(victims) < 4 and tally.sentences > 4 * len(victims):
                victims.append(processes.pids[len(victims) % 2])
                os.kill(victims[-1], signal.SIGKILL)
            return False

        def checkpoint(self, tally: Tally) -> None: ...

    tally = Tally()
    try:
        crew.epoch(list(range(len(tuning))), -1.0, tally, Watch())
        assert sorted(tally.done) == list(range(len(tuning)))
        assert np.isfinite(crew.average()).all()
        assert sum(snapshot.t for snapshot in crew.snapshots()) <= len(tuning)
        os.kill(processes.pids[1], signal.SIGKILL)
        processes.pipes[1].poll(10)  # until its end of the pipe is closed
        crew.look()
        why = "killed by signal 9; is there enough memory?"
        assert len(victims) == 4 and len(warnings) == 5
        for number, text in enumerate(warnings[:4], 1):
            assert text.endswith(f"died and was replaced: {why}" + f" (death {number} of this run)" * (number > 1))
        assert warnings[4] == f"learner 2 died after its last sentence: {why} (death 5 of this run)"
    finally:
        crew.close()


def test_parts_of_the_sentences() -> None:
    order = [3, 0, 4, 1, 2]
    assert shards(order, 2, True) == [[0, 4, 2], [3, 1]]
    assert shards(order, 2, False) == [[3, 4, 2], [0, 1]]


def test_the_average_of_learners_counts_examples() -> None:
    w = np.ones(2)
    serial = Snapshot(3 * w, 0 * w, w[:0], w, 1)
    other = Snapshot(6 * w, 0 * w, w[:0], w, 2)
    assert averaged([serial, other]).tolist() == [5, 5]


def test_a_tally_survives_a_checkpoint() -> None:
    tally = Tally()
    plain = {"skipped": False, "hope": 1.0, "best": 0.5, "fear": float("nan"), "loss": 0.25, "constraints": 2}
    plain |= {"heard": 0, "decoding": 0.1, "learning": 0.2, "b": [1.0] * 9}
    for sentence in (4, 2):
        tally.add({"sentence": sentence, **plain})
    assert tally.done == [4, 2] and tally.fear == 0.0  # an objective without fear
    again = Tally.restored(tally.plain())
    assert again.plain() == tally.plain()
    assert again.figures() == tally.figures()
    assert again.figures()["hope"] == 1.0 and "skipped" not in again.figures()
