"""An experiment on a cluster that is killed: started again, it ends with the bytes of one that was not interrupted."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from hopefear_papers import Claim, Experiment, Lab, Outcome, Table
from hopefear_papers.base import EXPERIMENTS, write_outcome
from tests import clusters
from tests.clusters import LONG, done, killed_at, names, two_nodes
from tests.orphans import wait_for

pytest.importorskip("ray")


@pytest.fixture(scope="module")
def nodes() -> Iterator[Any]:
    with two_nodes() as cluster_nodes:
        yield cluster_nodes


def trial(folder: Path, number: int) -> dict[str, Any]:
    """A result of the experiment below, which counts how often it was asked for. The last one waits."""
    with (folder / f"count-{number}").open("a") as file:
        file.write("x")
    wait_for(lambda: number < 3 or (folder / "go").exists(), LONG)
    return {"value": number * 0.5}


def table(lab: Lab) -> Outcome:
    """The four are what they are."""
    cells = [lab.cached("trial", {"n": n}, partial(trial, lab.out.absolute(), n)) for n in range(4)]
    rows = [[str(n), str(one["value"])] for n, one in enumerate(cells)]
    return Outcome([Table("four", ["n", "value"], rows)], [Claim("they are", True, str(len(rows)))])


HALVES = Experiment("halves", "four numbers", "none", table)


def drive(at: str, often: int, mark: str, *arguments: str) -> None:
    """In a process of its own: the experiment above, which stays where it is after some calls of a function."""
    EXPERIMENTS[HALVES.name] = HALVES
    clusters.drive(at, often, mark, *arguments)


def written_at(path: Path) -> tuple[int, int]:
    return path.stat().st_ino, path.stat().st_mtime_ns


def test_an_experiment_keeps_what_the_driver_never_looked_at(nodes: Any, tmp_path: Path) -> None:
    out, cache = tmp_path / "out", tmp_path / "out" / "cache"
    command = ["experiment", "halves", "--out", "out", "--cluster", nodes.address]
    came = partial(wait_for, lambda: len(list(cache.glob("*.json"))) == 3, LONG)
    killed_at(nodes, tmp_path, command, "hopefear_papers.base.begin_all", 1, came, __name__)
    kept = {path: written_at(path) for path in cache.iterdir()}
    (out / "go").touch()
    message = done(tmp_path, command, __name__)
    assert {path: written_at(path) for path in kept} == kept
    assert [(out / f"count-{n}").read_text() for n in range(4)] == ["x", "x", "x", "xx"]
    here = Lab(tmp_path / "here")
    here.out.mkdir()
    (here.out / "go").touch()
    written = write_outcome(HALVES, here, table(here))
    for path in [*written, *(here.out / "cache").iterdir()]:
        assert path.read_bytes() == (out / path.relative_to(here.out)).read_bytes()
    assert names(out) == names(here.out) and "3  1.5" in message
