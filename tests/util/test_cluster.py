"""Work on a Ray cluster of two nodes, on loopback: the same bytes as without, whatever is killed."""

from __future__ import annotations

import json
import os
import random
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from hopefear.commands.train import Train
from hopefear.commands.translate import Translate
from hopefear.commands.tune import Tune
from hopefear.data.language import SyntheticParallel
from hopefear.data.lists import Synthetic
from hopefear.decode.translation import translate
from hopefear.errors import InputError
from hopefear.model.builder import build
from hopefear.model.directory import write_model
from hopefear.model.options import BuildOptions
from hopefear.runs.events import Event, Progress
from hopefear.runs.session import SILENT, Session
from hopefear.util import cluster
from tests.clusters import kill_workers, two_nodes
from tests.decode.models import model_of, random_lm, random_rules
from tests.models import write_block_task
from tests.orphans import wait_for

pytest.importorskip("ray")


@pytest.fixture(scope="module")
def nodes() -> Iterator[Any]:
    with (
        two_nodes() as cluster_nodes,
        cluster.joined(cluster_nodes.address),
    ):  # once for all tests: workers are not shared between jobs
        yield cluster_nodes


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cluster")
    rng = random.Random(8)
    weights = {"lm": 0.5, "phrase_ef": 0.3, "rule": -0.1, "word": 0.7, "glue": -0.2, "unknown": -5.0}
    model = model_of(folder, random_rules(rng, 40), [random_lm(rng, 3)], weights=weights, counts={})
    write_model(folder / "model", model.info, model.grammar, model.language_models, [])
    lines = [" ".join(rng.choices(["a", "b", "c", "?"], k=rng.randint(0, 6))) for _ in range(23)]
    (folder / "source").write_text("".join(line + "\n" for line in lines))
    (folder / "weights").write_text("lm 0.4\nword 0.2\n")
    return folder


@pytest.fixture(scope="module")
def parallel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("parallel")
    pairs = SyntheticParallel(seed=2).pairs(120)
    (folder / "f").write_text("".join(pair.source + "\n" for pair in pairs))
    (folder / "e").write_text("".join(pair.target + "\n" for pair in pairs))
    return folder


def _squares() -> Callable[[int], int]:
    return lambda number: number * number


def test_results_come_in_order(nodes: Any) -> None:
    with cluster.joined(nodes.address):
        assert list(cluster.in_order(_squares, range(40))) == [number * number for number in range(40)]
        assert list(cluster.in_order(_squares, [])) == []


def test_only_some_items_are_taken_ahead(nodes: Any) -> None:
    taken: list[int] = []

    def items() -> Iterator[int]:
        for number in range(1000):
            taken.append(number)
            yield number

    with cluster.joined(nodes.address):
        results = cluster.in_order(_squares, items())
        next(results)
        results.close()  # type: ignore[attr-defined]
    assert len(taken) < 20


def _where() -> Callable[[int], str]:
    import ray

    return lambda number: str(ray.get_runtime_context().get_node_id())


def _parted() -> Callable[[int], tuple[str, list[str]]]:
    return lambda number: (_where()(number), [""])


def _alone() -> str:
    return str(cluster.first_ended([cluster.begun(lambda unpacked: unpacked()(0), _where())])[1])


@pytest.mark.parametrize(
    "place", [lambda: next(cluster.in_order(_where, [0])), lambda: next(cluster.scattered(_parted, [0], 1))[0], _alone]
)
def test_work_is_spread(nodes: Any, place: Callable[[], str]) -> None:
    """Ray alone would put each task on the node of the driver, which has nothing else to do."""
    with cluster.joined(nodes.address):
        seen = {place()}
        for _ in range(30):  # the node of a task is drawn: a few may be the same
            if len(seen) == 2:
                break
            seen.add(place())
        assert len(seen) == 2


def test_an_early_end_is_no_end_of_the_process(nodes: Any) -> None:
    """Ray itself dies if tasks are cancelled while they end."""
    with cluster.joined(nodes.address):
        for _ in range(50):
            assert next(cluster.in_order(lambda: lambda number: number, range(50))) == 0


def test_lost_workers_do_not_show(nodes: Any, tmp_path: Path) -> None:
    def prepare() -> Callable[[int], int]:
        def deadly(number: int) -> int:
            mark = tmp_path / f"{number}"
            if number % 3 == 0 and not mark.exists():
                mark.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            return -number

        return deadly

    with cluster.joined(nodes.address):
        assert list(cluster.in_order(prepare, range(7))) == [-number for number in range(7)]
    assert len(list(tmp_path.iterdir())) == 3


def test_a_fault_of_the_user_is_an_input_error(nodes: Any) -> None:
    def prepare() -> Callable[[int], int]:
        raise InputError("no such model")

    with cluster.joined(nodes.address), pytest.raises(InputError, match=r"no such model \(on the machine .* of the"):
        list(cluster.in_order(prepare, [1]))


@pytest.mark.parametrize("options", [{}, {"nbest": 3}, {"explain": True}, {"ship_model": True, "weights": "weights"}])
def test_translations_are_the_same(
    nodes: Any, path: Path, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hopefear.decode.translation.BLOCK", 4)
    if "weights" in options:
        pytest.importorskip("fsspec")
        options = {**options, "weights": f"file://{path}/weights"}
    far = "".join(translate(Translate(model=str(path / "model"), cluster=nodes.address, **options), path / "source"))
    here = {name: value for name, value in options.items() if name != "ship_model"}
    assert far == "".join(translate(Translate(model=str(path / "model"), **here), path / "source"))


def test_forests_are_the_same(nodes: Any, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hopefear.decode.translation.FOREST_BLOCK", 4)
    source = tmp_path / "source"
    source.write_text("new1\n" + (path / "source").read_text() + "new2 new1\n")  # words that the model does not have
    given: dict[str, Any] = {"model": path / "model", "nbest": 2, "max_edges": 30}
    far = "".join(translate(Translate(forests=str(tmp_path / "far"), cluster=nodes.address, **given), source))
    assert far == "".join(translate(Translate(forests=str(tmp_path / "here"), **given), source))
    assert (tmp_path / "far").read_bytes() == (tmp_path / "here").read_bytes()


def test_translations_while_workers_and_a_node_are_lost(
    nodes: Any, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hopefear.decode.translation.BLOCK", 1)
    here = list(translate(Translate(model=str(path / "model")), path / "source"))
    node, far, killed = nodes.add_node(num_cpus=1), [], 0
    for piece in translate(Translate(model=str(path / "model"), cluster=nodes.address), path / "source"):
        far.append(piece)
        if len(far) in (4, 8):
            killed += kill_workers(node) + kill_workers(nodes.head_node)
        if len(far) == 12:
            nodes.remove_node(node, allow_graceful=False)
    assert far == here and killed > 0


def test_another_model_under_the_same_path_is_refused(nodes: Any, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from hopefear.decode import translation

    honest = translation.partial  # type: ignore[attr-defined]

    def lie(work: Any, *args: Any) -> Any:
        return honest(work, *(("0" * 16 if k == 1 and work is translation._far else a) for k, a in enumerate(args)))

    monkeypatch.setattr(translation, "partial", lie)
    config = Translate(model=str(path / "model"), cluster=nodes.address)
    with pytest.raises(InputError, match="is not the model that the work began with"):
        list(translate(config, path / "source"))


def _lists(folder: Path) -> dict[str, Any]:
    """Generated lists, as options of tune."""
    Synthetic(sentences=30, candidates=8, references=2, dense=4, seed=3).write(folder)
    return {"nbest": [str(folder / "nbest.txt")], "refs": sorted(str(path) for path in folder.glob("ref.*"))}


def test_replicates_are_the_same(nodes: Any, tmp_path: Path) -> None:
    given: dict[str, Any] = {**_lists(tmp_path / "data"), "trainer": "kbmira", "replicates": 2}
    here = Tune(out=tmp_path / "here", **given).run(SILENT)
    far = Tune(out=tmp_path / "far", cluster=nodes.address, **given).run(SILENT)
    assert [replicate.weights for replicate in far.replicates] == [replicate.weights for replicate in here.replicates]
    assert (tmp_path / "far" / "weights.txt").read_bytes() == (tmp_path / "here" / "weights.txt").read_bytes()


def test_folds_and_bootstrapped_fits_are_the_same(nodes: Any, tmp_path: Path) -> None:
    given: dict[str, Any] = {
        **_lists(tmp_path / "data"),
        "trainer": "minrisk",
        "set": ["iterations=3"],
        "cv": 2,
        "bag": 2,
        "jobs": 1,
    }
    Tune(out=tmp_path / "here", **given).run(SILENT)
    Tune(out=tmp_path / "far", cluster=nodes.address, **given).run(SILENT)
    here, far = (json.loads((tmp_path / name / "run.json").read_text()) for name in ("here", "far"))
    assert far["final"] == here["final"] and len(far["final"]["cv"]["l2"]) == 5
    assert far["trainer"] == here["trainer"] and far["epochs"] == here["epochs"]
    assert (tmp_path / "far" / "weights.txt").read_bytes() == (tmp_path / "here" / "weights.txt").read_bytes()


def test_parts_stay_in_the_store(nodes: Any, tmp_path: Path) -> None:
    """Every worker dies at its first task, in both steps."""

    def die_once(name: str) -> None:
        if not (tmp_path / name).exists():
            (tmp_path / name).touch()
            os.kill(os.getpid(), signal.SIGKILL)

    def prepare() -> Callable[[int], tuple[int, list[str]]]:
        def parts(number: int) -> tuple[int, list[str]]:
            die_once(f"parts-{number}")
            return number, [f"{number}-{part}" for part in range(2)]

        return parts

    def join() -> Callable[[list[str]], str]:
        def joined(scattered: list[str]) -> str:
            die_once(f"join-{scattered[0]}")
            return " ".join(scattered)

        return joined

    with cluster.joined(nodes.address):
        scattered = list(cluster.scattered(prepare, range(2), 2))
        assert [number for number, _ in scattered] == [0, 1]
        items = [[parts[k] for _, parts in scattered] for k in range(2)]
        assert list(cluster.in_order(join, items, places=True)) == ["0-0 1-0", "0-1 1-1"]
    assert len(list(tmp_path.iterdir())) == 4


def test_parts_that_are_lost_with_a_node_are_made_again(nodes: Any, tmp_path: Path) -> None:
    """They are large enough to stay on the node that made them."""

    def prepare() -> Callable[[int], tuple[str, list[bytes]]]:
        import ray

        def work(number: int) -> tuple[str, list[bytes]]:
            (tmp_path / f"{number}").touch()
            wait_for(lambda: len(list(tmp_path.iterdir())) >= 3)  # so that each of the three nodes has one
            return str(ray.get_runtime_context().get_node_id()), [bytes([number]) * 500_000] * 2

        return work

    def join() -> Callable[[list[bytes]], list[int]]:
        return lambda parts: [part[-1] for part in parts]

    node = nodes.add_node(num_cpus=1)
    with cluster.joined(nodes.address):
        scattered = list(cluster.scattered(prepare, range(4), 2))
        assert node.node_id in {where for where, _ in scattered}
        nodes.remove_node(node, allow_graceful=False)
        items = [[parts[k] for _, parts in scattered] for k in range(2)]
        assert list(cluster.in_order(join, items, places=True)) == [[0, 1, 2, 3]] * 2


def test_a_fault_of_the_user_while_parts_are_made(nodes: Any) -> None:
    def prepare() -> Callable[[int], tuple[int, list[str]]]:
        raise InputError("no such text")

    with cluster.joined(nodes.address), pytest.raises(InputError, match="no such text"):
        list(cluster.scattered(prepare, [1], 3))


@pytest.mark.parametrize("kind", ["hiero", "blocks"])
def test_a_model_is_built_the_same(
    nodes: Any, parallel: Path, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hopefear.model.rules._TASK_WORDS", 300)
    monkeypatch.setattr("hopefear.model.language_model._TASK_WORDS", 300)
    options = BuildOptions(kind=kind, tokenizer="none")
    files = parallel / "f", parallel / "e"
    build(*files, tmp_path / "here", options, jobs=1)
    build(*files, tmp_path / "far", options, cluster=nodes.address, jobs=1)
    for path in (tmp_path / "here").iterdir():
        assert path.read_bytes() == (tmp_path / "far" / path.name).read_bytes(), path.name
    assert sorted(path.name for path in tmp_path.iterdir()) == ["far", "here"]


def test_a_model_is_built_the_same_while_workers_and_a_node_are_lost_and_one_joins(
    nodes: Any, parallel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hopefear.model.rules._TASK_WORDS", 100)
    node, steps, killed, late = nodes.add_node(num_cpus=1), 0, [], []

    def hear(event: Event) -> None:
        nonlocal steps
        if isinstance(event, Progress) and event.label == "extract":
            steps += 1
            if steps in (4, 30):  # of which the second is in the middle of the merging
                killed.append(sum(map(kill_workers, nodes.list_all_nodes())))
            if steps == 8:
                nodes.remove_node(node, allow_graceful=False)
                late.append(nodes.add_node(num_cpus=1))

    options = BuildOptions(tokenizer="none")
    files = parallel / "f", parallel / "e"
    build(*files, tmp_path / "here", options, jobs=1)
    build(*files, tmp_path / "far", options, cluster=nodes.address, jobs=1, run=Session(hear))
    nodes.remove_node(*late)
    for path in (tmp_path / "here").iterdir():
        assert path.read_bytes() == (tmp_path / "far" / path.name).read_bytes(), path.name
    assert len(killed) == 2 and min(killed) > 0


def test_the_decoders_loop_is_the_same(nodes: Any, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hopefear.trainers.in_loop.BLOCK", 5)
    (tmp_path / "refs").write_text(
        "".join(f"{line or 'a'}\n" for line in (path / "source").read_text().split("\n")[:-1])
    )
    given: dict[str, Any] = {
        "model": str(path / "model"),
        "source": str(path / "source"),
        "refs": [str(tmp_path / "refs")],
        "trainer": "kbmira",
        "set": ["passes=3"],
        "iterations": 2,
        "kbest": 10,
        "jobs": 1,
    }
    Train(out=str(tmp_path / "here"), **given).run(Session())
    Train(out=str(tmp_path / "far"), cluster=nodes.address, **given).run(Session())
    assert (tmp_path / "far" / "weights.txt").read_bytes() == (tmp_path / "here" / "weights.txt").read_bytes()


def test_costmargin_is_the_same(nodes: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hopefear.trainers.blocks.relevant_sets._BLOCK", 17)
    write_block_task(tmp_path, {"train": 60}, max_phrase=2)
    given: dict[str, Any] = {
        "model": str(tmp_path / "model"),
        "source": str(tmp_path / "train.de"),
        "refs": [str(tmp_path / "train.en")],
        "trainer": "costmargin",
        "set": ["iterations=2", "real=word"],
        "jobs": 1,
    }
    Train(out=str(tmp_path / "here"), **given).run(Session())
    Train(out=str(tmp_path / "far"), cluster=nodes.address, **given).run(Session())
    assert (tmp_path / "far" / "weights.txt").read_bytes() == (tmp_path / "here" / "weights.txt").read_bytes()


def test_a_worker_that_dies_again_and_again(nodes: Any, tmp_path: Path) -> None:
    def prepare() -> Callable[[int], int]:
        def deadly(number: int) -> int:
            mark = tmp_path / f"{number}"
            deaths = len(mark.read_text()) if mark.exists() else 0
            if number == 1 and deaths < 3:
                mark.write_text("x" * (deaths + 1))
                os.kill(os.getpid(), signal.SIGKILL)
            return number

        return deadly

    with cluster.joined(nodes.address):
        assert list(cluster.in_order(prepare, range(3))) == [0, 1, 2]
    assert [path.read_text() for path in tmp_path.iterdir()] == ["xxx"]


def test_a_node_that_joins_late_gets_work(nodes: Any, tmp_path: Path) -> None:
    def prepare() -> Callable[[int], str]:
        import time

        import ray

        def work(number: int) -> str:
            """Ends when three are at work at once, for which the two nodes are not enough."""
            (tmp_path / f"{number}").touch()
            while len(list(tmp_path.iterdir())) < 3:
                time.sleep(0.05)
            return str(ray.get_runtime_context().get_node_id())

        return work

    with cluster.joined(nodes.address), ThreadPoolExecutor(1) as thread:
        results = thread.submit(lambda: list(cluster.in_order(prepare, range(3))))
        wait_for(lambda: len(list(tmp_path.iterdir())) == 2, seconds=120)
        late = nodes.add_node(num_cpus=1)
        try:
            assert late.node_id in results.result()
        finally:
            nodes.remove_node(late)
