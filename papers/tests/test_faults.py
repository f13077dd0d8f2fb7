"""An experiment that is killed, or refused by the system, in the middle of its run."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from hopefear_papers import load_all
from tests import faults
from tests.fault_cases import Case, Whole, struck, without_space
from tests.models import sentence
from tests.test_faults import moments


def task(folder: Path) -> None:
    load_all()  # once, and not in every process
    rng = random.Random(4)
    (folder / "task").mkdir()
    for part, side, count in (("train", "target", 40), ("dev", "ref.0", 6), ("test", "ref.0", 6)):
        pairs = [sentence(rng) for _ in range(count)]
        (folder / "task" / f"{part}.source").write_text("".join(f"{f}\n" for f, _ in pairs))
        (folder / "task" / f"{part}.{side}").write_text("".join(f"{e}\n" for _, e in pairs))


EXPERIMENT = Case(
    ["experiment", "gimpel-fig1", "--data", "task", "--size", "tiny", "--out", "e"],
    ["e/gimpel-fig1.md", "e/gimpel-fig1.json", "e/gimpel-fig1.svg"],
    [],
    task,
    long=True,
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Whole:
    return Whole.of(EXPERIMENT, tmp_path_factory.mktemp("faults"))


@pytest.mark.parametrize("way", faults.WAYS)
def test_a_fault_leaves_all_or_nothing(way: str, tmp_path: Path, whole: Whole) -> None:
    for moment in moments(whole.events, "experiment" + way, EXPERIMENT.long):
        struck(EXPERIMENT, whole, tmp_path / str(moment), faults.Fault(moment, way))


def test_a_lasting_fault_is_said_in_one_line(tmp_path: Path, whole: Whole) -> None:
    without_space(EXPERIMENT, whole, tmp_path / "full")
