"""A Ray cluster of two nodes on loopback, for tests."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest


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
        patch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[1]), prepend=os.pathsep)
        patch.setenv("RAY_worker_niceness", "0")  # Ray's 15 starves them where a machine has other work
        # Nobody here needs the processes that watch over logs and over how many machines are wanted.
        head = {"num_cpus": 1, "include_dashboard": False, "include_log_monitor": False, "no_monitor": True}
        nodes = Cluster(initialize_head=True, head_node_args=head)
        nodes.add_node(num_cpus=1)
        yield nodes
    ray.shutdown()
    nodes.shutdown()
