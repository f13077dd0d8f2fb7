"""Learners on a Ray cluster of two nodes, on loopback."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hopefear.commands.train import Train
from hopefear.decode import Hiero
from hopefear.errors import InputError
from hopefear.train.model_trainers import team
from hopefear.trainers import Result, Task
from hopefear.trainers.online.mira import Mira
from hopefear.trainers.online.teams import Learners
from hopefear.util.processes import cores
from tests.clusters import two_nodes
from tests.models import corpus

ray = pytest.importorskip("ray")


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    with two_nodes() as nodes:
        yield nodes.address


@pytest.mark.parametrize("parallel", ["async", "mix"])
def test_learners_on_two_nodes(decoder: Hiero, task: Path, cluster: str, parallel: str) -> None:
    def run(where: str | None) -> Result:
        data = Task(decoder, corpus(task, "tune"), corpus(task, "dev"))
        return Mira(epochs=2, learners=Learners(parallel, 2, cluster=where)).fit(data)

    trained = run(cluster)
    assert [record["sentences"] for record in trained.history[1:]] == [24, 24]
    assert trained.score > trained.history[0]["score"]
    if parallel == "async":
        assert trained.history[1]["heard"] > 0
        assert trained.history[1]["message_bytes"] < 50_000
    else:  # deterministic: the same as in threads
        assert trained.weights == run(None).weights


def test_an_actor_that_is_killed_is_replaced(
    decoder: Hiero, task: Path, cluster: str, monkeypatch: pytest.MonkeyPatch
) -> None:

    from hopefear.trainers.online import cluster as module

    killed: list[Any] = []

    class Deadly(module.Actors):
        def ask(self, k: int, header: dict[str, Any], pieces: Any = ()) -> None:
            super().ask(k, header, pieces)
            if header["ask"] == "learn" and not killed:
                killed.append(k)
                self.ray.kill(self.actors[k])

    monkeypatch.setattr(module, "Actors", Deadly)
    learners = Learners("async", 2, cluster=cluster)
    trained = Mira(epochs=1, learners=learners).fit(Task(decoder, corpus(task, "tune")))
    assert trained.history[0]["sentences"] == 24
    died = [text.split(":")[0] for text in trained.warnings if "died" in text]  # a slow machine may warn of silence
    assert died == [f"learner {killed[0] + 1} died and was replaced"]


def test_there_are_as_many_learners_as_the_cluster_has_cpus(decoder: Hiero, task: Path, cluster: str) -> None:
    config = Train(model="m", source="s", refs=["r"], out="o", trainer="mira", cluster=cluster)
    assert team(config).count == 2
    with pytest.raises(InputError, match="the cluster has 2 CPUs, and 3 learners need one each"):
        Mira(learners=Learners("async", 3, cluster=cluster)).fit(Task(decoder, corpus(task, "tune")))


def test_another_model_under_the_same_path_is_refused(decoder: Hiero, task: Path, cluster: str) -> None:
    other = replace(decoder.model, info={**decoder.model.info, "checksum": "0123"})
    learners = Learners("async", 2, cluster=cluster)
    with pytest.raises(InputError, match=r": the model here is not the one that the run was started with"):
        Mira(epochs=1, learners=learners).fit(Task(replace(decoder, model=other), corpus(task, "tune")))


def test_a_missing_cluster_is_a_one_line_error(decoder: Hiero, task: Path) -> None:
    ray.shutdown()
    with pytest.raises(ValueError, match=r"no cluster at 127.0.0.1:1 .* ray start --head"):
        Mira(learners=Learners("async", 2, cluster="127.0.0.1:1")).fit(Task(decoder, corpus(task, "tune")))


def test_a_cluster_of_this_machine_has_no_more_cpus_than_it(decoder: Hiero, task: Path) -> None:
    ray.shutdown()  # it leaves the two nodes: this is the last test here
    learners = Learners("async", cores() + 1, cluster="local")
    try:
        with pytest.raises(InputError, match=r"the cluster has \d+ CPUs, and \d+ learners need one each"):
            Mira(learners=learners).fit(Task(decoder, corpus(task, "tune")))
    finally:
        ray.shutdown()
