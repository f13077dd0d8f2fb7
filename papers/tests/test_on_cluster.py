"""Experiments on a Ray cluster of two nodes: the same results as on one machine, whatever is killed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from hopefear.errors import InputError
from hopefear.util import cluster
from hopefear_papers import Lab, find
from hopefear_papers.base import begin_all, lines_of
from hopefear_papers.on_cluster import NotYetError, trials
from tests.clusters import two_nodes
from tests.orphans import wait_for

pytest.importorskip("ray")


@pytest.fixture(scope="module")
def nodes() -> Iterator[Any]:
    with (
        two_nodes() as cluster_nodes,
        cluster.joined(cluster_nodes.address),
    ):  # once for all tests: workers are not shared between jobs
        yield cluster_nodes


def _cache(folder: Path) -> dict[str, Any]:
    """Results by name, without the seconds that they took."""
    record = {path.name: json.loads(path.read_text()) for path in sorted((folder / "cache").iterdir())}
    for one in record.values():
        for seconds in ("cpu", "tuning", "decoding"):
            one["result"].pop(seconds, None)
    return record


def test_an_experiment_is_the_same(nodes: Any, tmp_path: Path) -> None:
    experiment = find("gimpel-table1")
    here, far = (Lab(tmp_path / name, size="tiny", jobs=1) for name in ("here", "far"))
    outcome = experiment.run(here)
    with trials(nodes.address, far.paths) as work:
        far.out.mkdir()
        far = replace(far, far=work)
        begin_all([experiment], far)
        assert len(work._places) == len(_cache(here.out))  # everything is begun before anything is waited for
        assert lines_of(experiment, experiment.run(far)) == lines_of(experiment, outcome)
    assert _cache(far.out) == _cache(here.out) and len(_cache(far.out)) == 10


def test_experiments_go_on_from_what_came(nodes: Any, tmp_path: Path) -> None:
    """One result came, the others were under way when the driver was lost."""

    def compute(number: int) -> dict[str, Any]:
        with (tmp_path / f"{number}").open("a") as file:
            file.write("x")
        wait_for(lambda: number == 0 or (tmp_path / "go").exists())
        return {"value": number}

    lab = Lab(tmp_path)
    with trials(nodes.address, lab.paths) as work:
        first = [replace(lab, far=work).cached("a", {"n": n}, partial(compute, n)) for n in range(3)]
        assert first[0]["value"] == 0
        with work.only_submitting(), pytest.raises(NotYetError):
            first[1]["value"]
    (tmp_path / "go").touch()
    with trials(nodes.address, lab.paths) as work:
        again = [replace(lab, far=work).cached("a", {"n": n}, partial(compute, n)) for n in (2, 1, 0, 1)]
        assert [dict(one) for one in again] == [{"value": 2}, {"value": 1}, {"value": 0}, {"value": 1}]
    assert (tmp_path / "0").read_text() == "x"
    assert [lab.cached("a", {"n": n}, dict)["value"] for n in range(3)] == [0, 1, 2]


def test_an_experiment_while_a_node_is_lost_and_another_joins(nodes: Any, tmp_path: Path) -> None:
    """Three results are under way on three nodes when one of these is lost; a fourth is begun by the late one."""

    def at_work() -> dict[str, list[int]]:
        """Nodes and the results that they began."""
        begun = [path.name.split("-") for path in tmp_path.glob("*-*")]
        return {node: [int(number) for number, value in begun if value == node] for _, node in begun}

    def compute(number: int) -> dict[str, Any]:
        import ray

        (tmp_path / f"{number}-{ray.get_runtime_context().get_node_id()}").touch()
        wait_for(lambda: (tmp_path / "go").exists(), 300)
        return {"value": number / 4}

    node, lab = nodes.add_node(num_cpus=1), Lab(tmp_path)
    with trials(nodes.address, lab.paths) as work:
        values = [replace(lab, far=work).cached("a", {"n": n}, partial(compute, n)) for n in range(4)]
        wait_for(lambda: len(at_work()) == 3, 300)
        nodes.remove_node(node, allow_graceful=False)
        late = nodes.add_node(num_cpus=1)
        wait_for(lambda: late.node_id in at_work(), 300)
        (tmp_path / "go").touch()
        assert [value["value"] for value in values] == [0.0, 0.25, 0.5, 0.75]
    nodes.remove_node(late)
    (again,) = at_work()[node.node_id]
    assert sum(again in numbers for numbers in at_work().values()) == 2  # nothing else was done twice
    assert sum(map(len, at_work().values())) == 5
    assert [lab.cached("a", {"n": n}, dict)["value"] for n in range(4)] == [0.0, 0.25, 0.5, 0.75]


def test_what_an_experiment_reads_is_reached_by_every_machine(nodes: Any, tmp_path: Path) -> None:
    lab = Lab(tmp_path, data=tmp_path / "data")
    with trials(nodes.address, lab.paths) as work:
        values = replace(lab, far=work).cached("a", {}, dict)
        with pytest.raises(InputError, match=r"data: is not there, but every machine .* share \(on the machine"):
            dict(values)
