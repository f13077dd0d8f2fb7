"""A Ray cluster of two nodes on loopback, for tests."""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.orphans import wait_for

LONG = 300.0  # seconds that a busy machine may need
SMALL = {
    "hopefear.model.rules._TASK_WORDS": 100,
    "hopefear.decode.translation.BLOCK": 2,
    "hopefear.decode.translation.FOREST_BLOCK": 2,
}


def _workers(node: Any, *names: bytes) -> Iterator[int]:
    """Workers of a node by the beginnings of their names. Ray's own agents are children of the node too."""
    raylets = [one.process.pid for one in node.all_processes.get("raylet", [])]
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # gone by itself
            parent = (process / "stat").read_text().rpartition(")")[2].split()[1]
            if int(parent) in raylets and (process / "cmdline").read_bytes().startswith(names):
                yield int(process.name)


def busy_workers(node: Any) -> list[int]:
    """Processes that work on a task of ours."""
    return list(_workers(node, b"ray::_"))


def kill_workers(node: Any) -> int:
    """Kill all workers of a node, busy or idle; how many."""
    killed = 0
    for process in _workers(node, b"ray::_", b"ray::IDLE"):
        with suppress(OSError):
            os.kill(process, signal.SIGKILL)
            killed += 1
    return killed


@contextmanager
def two_nodes() -> Iterator[Any]:
    """With one core each. Tests without Ray are skipped."""
    ray = pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as patch:  # workers import the tests' own modules from here
        root = Path(__file__).resolve().parents[1]
        for folder in (root / "papers", root):
            patch.setenv("PYTHONPATH", str(folder), prepend=os.pathsep)
        patch.setenv("RAY_worker_niceness", "0")  # Ray's 15 starves them where a machine has other work
        # Nobody here needs the processes that watch over logs and over how many machines are wanted.
        head = {"num_cpus": 1, "include_dashboard": False, "include_log_monitor": False, "no_monitor": True}
        nodes = Cluster(initialize_head=True, head_node_args=head)
        nodes.add_node(num_cpus=1)
        yield nodes
    ray.shutdown()
    nodes.shutdown()


def drive(at: str, often: int, mark: str, *arguments: str) -> None:
    """In a process of its own: a command that stays where it is after some calls of a function, and says so."""
    for name, value in SMALL.items():
        module, _, constant = name.rpartition(".")
        setattr(importlib.import_module(module), constant, value)
    module, _, function = at.rpartition(".")
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


def started(
    folder: Path, arguments: Sequence[str], at: str = "hopefear.cli.main.main", often: int = 0, driver: str = __name__
) -> subprocess.Popen[str]:
    """A command in a process of its own; the module of the driver has ``drive``."""
    code = f"from {driver} import drive; import sys; drive(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])"
    command = [sys.executable, "-c", code, at, str(often), str(folder / "halted"), *arguments]
    path = os.pathsep.join([str(Path(__file__).resolve().parents[1]), os.environ.get("PYTHONPATH", "")])
    pipe = subprocess.PIPE
    stdin = folder / "stdin" if (folder / "stdin").exists() else Path(os.devnull)
    with stdin.open() as given:
        return subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": path},
            text=True,
            stdin=given,
            stdout=pipe,
            stderr=pipe,
        )


def killed_at(
    nodes: Any,
    folder: Path,
    arguments: Sequence[str],
    at: str,
    often: int,
    meanwhile: Any = bool,
    driver: str = __name__,
) -> None:
    """Kill a command where it halts, and wait until nothing of it runs."""
    with started(folder, arguments, at, often, driver) as process:
        try:
            wait_for(lambda: (folder / "halted").exists() or process.poll() is not None, LONG)
            meanwhile()
        finally:
            process.kill()
        _, errors = process.communicate()
    assert process.returncode == -signal.SIGKILL, errors
    (folder / "halted").unlink()
    wait_for(lambda: not any(busy_workers(node) for node in nodes.list_all_nodes()), LONG)


def done(folder: Path, arguments: Sequence[str], driver: str = __name__) -> str:
    with started(folder, arguments, driver=driver) as process:
        output, errors = process.communicate()
    assert process.returncode == 0, errors
    return output


def names(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))
