"""Every command that writes, killed or refused at events all over its run.

Nothing is half there, nothing is lost, and the same command again ends with the same result.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests import faults
from tests.confirmed import PAIRS, learn, learning_killed, listed, serving_killed, translator
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


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """8 MB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(disk)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("no disk can be mounted here")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True)


def rooms(case: Whole) -> list[int]:
    """Bytes, in pages: none, and some of what the results need."""
    before = {path.relative_to(case.before) for path in case.before.rglob("*")}
    new = [path for path in case.after.rglob("*") if path.is_file() and path.relative_to(case.after) not in before]
    pages = sum(-(-path.stat().st_size // 4096) for path in new)
    return [4096 * count for count in sorted({0, pages // 2, pages - 1}) if count >= 0]


@pytest.mark.parametrize("name", [name for name in CASES if not CASES[name].long])
def test_a_full_disk(name: str, small_disk: Path, whole: Callable[[str], Whole]) -> None:
    ends = [struck(CASES[name], whole(name), small_disk / "w", faults.Fault(room=room)) for room in rooms(whole(name))]
    assert ends[0].code == 2, ends[0]


@pytest.mark.parametrize("name", [name for name in CASES if not CASES[name].long])
def test_a_limit_of_the_size_of_files(name: str, tmp_path: Path, whole: Callable[[str], Whole]) -> None:
    for room in (1000, 5000):
        struck(CASES[name], whole(name), tmp_path / "w", faults.Fault(room=room))


def test_corrections_on_a_full_disk(small_disk: Path) -> None:
    """What was confirmed is there, and the rest is learnt when there is room."""
    place = small_disk / "w"
    place.mkdir()
    translator(place)
    for room in (0, 4096):
        before = listed(place)
        ended, ids = learn(place, faults.Fault(room=room))
        assert ended.code == 0 if len(ids) == len(PAIRS) else ended.code == 2 and "Make room" in ended.said, ended
        assert listed(place) == before + ids and (room or not ids)
    assert len(learn(place, faults.Fault())[1]) == len(PAIRS)


def test_corrections_that_learn_confirmed_survive_a_kill(tmp_path: Path) -> None:
    learning_killed(tmp_path, kills=2 * MOMENTS, seed=1)


def test_corrections_that_a_server_confirmed_survive_a_kill(tmp_path: Path) -> None:
    serving_killed(tmp_path, kills=MOMENTS // 2, seed=1)
