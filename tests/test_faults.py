"""Every command that writes, killed or refused at events all over its run.

Nothing is half there, nothing is lost, and the same command again ends with the same result.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import faults
from tests.confirmed import learning_killed, serving_killed
from tests.fault_cases import CASES, Whole, struck, verses, without_space

MOMENTS = int(os.environ.get("HOPEFEAR_MOMENTS", "5"))  # of each way to fail, in each command


@pytest.fixture(autouse=True)
def short_bible(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hopefear.data.verses.read_verses", verses)


def moments(events: int, seed: str, long: bool) -> list[int]:
    """The first event, the last ones, and some between; of a long command one, unless more were asked for."""
    rng = random.Random(seed)
    if long and MOMENTS <= 5:
        return [rng.randint(1, events)]
    some = {1, events - 1, events, *(rng.randint(1, max(1, events)) for _ in range(MOMENTS - 3))}
    return sorted(moment for moment in some if moment > 0)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Whole]:
    """For each command: its run without a fault."""
    known: dict[str, Whole] = {}

    def of(name: str) -> Whole:
        if name not in known:
            known[name] = Whole.of(CASES[name], tmp_path_factory.mktemp("faults"))
        return known[name]

    return of


@pytest.mark.parametrize("way", faults.WAYS)
@pytest.mark.parametrize("name", CASES)
def test_a_fault_leaves_all_or_nothing_and_the_next_run_mends_it(
    name: str, way: str, tmp_path: Path, whole: Callable[[str], Whole]
) -> None:
    for moment in moments(whole(name).events, name + way, CASES[name].long):
        struck(CASES[name], whole(name), tmp_path / str(moment), faults.Fault(moment, way))


@pytest.mark.parametrize("name", CASES)
def test_a_lasting_fault_is_said_in_one_line(name: str, tmp_path: Path, whole: Callable[[str], Whole]) -> None:
    without_space(CASES[name], whole(name), tmp_path / "full")


def test_corrections_that_learn_confirmed_survive_a_kill(tmp_path: Path) -> None:
    learning_killed(tmp_path, kills=2 * MOMENTS, seed=1)


def test_corrections_that_a_server_confirmed_survive_a_kill(tmp_path: Path) -> None:
    serving_killed(tmp_path, kills=MOMENTS // 2, seed=1)
