"""Commands on a cluster that are killed: started again, they end with the bytes of one that was left in peace."""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from hopefear.data.language import SyntheticParallel
from hopefear.decode.translation import TranslateConfig, translate
from hopefear.experiments import Claim, Experiment, Lab, Outcome, Table
from hopefear.experiments.base import EXPERIMENTS, write_outcome
from hopefear.model.builder import BuildOptions, build
from hopefear.util.atomic import PART
from tests.clusters import busy_workers, two_nodes
from tests.orphans import wait_for

pytest.importorskip("ray")
LONG = 300.0  # seconds that a busy machine may need
SMALL = {"model.rules._TASK_WORDS": 100, "decode.translation.BLOCK": 2, "decode.translation.FOREST_BLOCK": 2}


@pytest.fixture(scope="module")
def nodes() -> Iterator[Any]:
    with two_nodes() as found:
        yield found


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Parallel text, and a model of it."""
    folder = tmp_path_factory.mktemp("task")
    pairs = SyntheticParallel(seed=2).pairs(60)
    (folder / "f").write_text("".join(pair.source + "\n" for pair in pairs))
    (folder / "e").write_text("".join(pair.target + "\n" for pair in pairs))
    build(folder / "f", folder / "e", folder / "model", BuildOptions(), jobs=1)
    return folder


def trial(folder: Path, number: int) -> dict[str, Any]:
    """A result of the experiment below, which counts how often it was asked for. The last one waits."""
    with (folder / f"count-{number}").open("a") as file:
        file.write("x")
    wait_for(lambda: number < 3 or (folder / "go").exists(), LONG)
    return {"value": number * 0.5}


def table(lab: Lab) -> Outcome:
    """The four are what they are."""
    found = [lab.cached("trial", {"n": n}, partial(trial, lab.out.absolute(), n)) for n in range(4)]
    rows = [[str(n), str(one["value"])] for n, one in enumerate(found)]
    return Outcome([Table("four", ["n", "value"], rows)], [Claim("they are", True, str(len(rows)))])


HALVES = Experiment("halves", "four numbers", "none", table)


def drive(at: str, often: int, mark: str, *arguments: str) -> None:
    """In a process of its own: a command that stays where it is after some calls of a function, and says so."""
    EXPERIMENTS[HALVES.name] = HALVES
    for name, value in SMALL.items():
        module, _, constant = name.rpartition(".")
        setattr(importlib.import_module(f"hopefear.{module}"), constant, value)
    module, _, function = f"hopefear.{at}".rpartition(".")
    home, calls = importlib.import_module(module), 0
    honest: Callable[..., Any] = getattr(home, function)

    def halting(*args: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        result = honest(*args, **named)
        if calls == often:
            Path(mark).touch()
            signal.pause()
        return result

    setattr(home, function, halting)
    from hopefear.cli.main import main

    sys.exit(main(arguments))


def started(folder: Path, arguments: Sequence[str], at: str = "cli.main.main", often: int = 0) -> subprocess.Popen[str]:
    code = f"from {__name__} import drive; import sys; drive(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])"
    command = [sys.executable, "-c", code, at, str(often), str(folder / "halted"), *arguments]
    path = os.pathsep.join([str(Path(__file__).resolve().parents[2]), os.environ.get("PYTHONPATH", "")])
    pipe = subprocess.PIPE
    given = (folder / "stdin").open() if (folder / "stdin").exists() else subprocess.DEVNULL
    return subprocess.Popen(
        command, cwd=folder, env={**os.environ, "PYTHONPATH": path}, text=True, stdin=given, stdout=pipe, stderr=pipe
    )


def killed_at(nodes: Any, folder: Path, arguments: Sequence[str], at: str, often: int, meanwhile: Any = bool) -> None:
    """Kill a command where it halts, and wait until nothing of it runs."""
    with started(folder, arguments, at, often) as process:
        try:
            wait_for(lambda: (folder / "halted").exists() or process.poll() is not None, LONG)
            meanwhile()
        finally:
            process.kill()
        _, errors = process.communicate()
    assert process.returncode == -signal.SIGKILL, errors
    (folder / "halted").unlink()
    wait_for(lambda: not any(busy_workers(node) for node in nodes.list_all_nodes()), LONG)


def done(folder: Path, arguments: Sequence[str]) -> str:
    with started(folder, arguments) as process:
        said, errors = process.communicate()
    assert process.returncode == 0, errors
    return said


def names(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def written_at(path: Path) -> tuple[int, int]:
    return path.stat().st_ino, path.stat().st_mtime_ns


def test_an_experiment_keeps_what_the_driver_never_looked_at(nodes: Any, tmp_path: Path) -> None:
    out, cache = tmp_path / "out", tmp_path / "out" / "cache"
    command = ["experiment", "halves", "--out", "out", "--cluster", nodes.address]
    came = partial(wait_for, lambda: len(list(cache.glob("*.json"))) == 3, LONG)
    killed_at(nodes, tmp_path, command, "experiments.base.begin_all", 1, came)
    kept = {path: written_at(path) for path in cache.iterdir()}
    (out / "go").touch()
    said = done(tmp_path, command)
    assert {path: written_at(path) for path in kept} == kept
    assert [(out / f"count-{n}").read_text() for n in range(4)] == ["x", "x", "x", "xx"]
    here = Lab(tmp_path / "here")
    here.out.mkdir()
    (here.out / "go").touch()
    written = write_outcome(HALVES, here, table(here))
    for path in [*written, *(here.out / "cache").iterdir()]:
        assert path.read_bytes() == (out / path.relative_to(here.out)).read_bytes()
    assert names(out) == names(here.out) and "3  1.5" in said


def test_a_model_is_built_again(nodes: Any, task: Path, tmp_path: Path) -> None:
    command = ["build", "--source", str(task / "f"), "--target", str(task / "e"), "--out", "model"]
    command += ["--cluster", nodes.address, "--jobs", "1"]
    killed_at(nodes, tmp_path, command, "model.rules._save", 5)  # the fifth of 64 parts that were merged
    assert not (tmp_path / "model").exists() and list(tmp_path.glob(f".model.*{PART}"))
    done(tmp_path, command)
    assert names(tmp_path) == ["model", *(f"model/{name}" for name in names(task / "model"))]
    for path in (task / "model").iterdir():
        assert path.read_bytes() == (tmp_path / "model" / path.name).read_bytes(), path.name


def test_a_text_is_translated_again(nodes: Any, task: Path, tmp_path: Path) -> None:
    source = tmp_path / "stdin"
    source.write_text("".join((task / "f").read_text().splitlines(keepends=True)[:12]))
    config = TranslateConfig(model=task / "model", nbest=3, forests=tmp_path / "here", jobs=1)
    here = "".join(translate(config, source))
    command = ["translate", str(task / "model"), "--nbest", "3", "--forests", "forests", "--cluster", nodes.address]
    killed_at(nodes, tmp_path, command, "decode.translation._candidates", 3)
    assert not (tmp_path / "forests").exists() and list(tmp_path.glob(f".forests.*{PART}"))
    assert done(tmp_path, command) == here
    assert (tmp_path / "forests").read_bytes() == (tmp_path / "here").read_bytes()
    assert names(tmp_path) == ["forests", "here", "stdin"]
