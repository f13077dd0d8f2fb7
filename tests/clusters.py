"""A Ray cluster of two nodes on loopback, for tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest


@contextmanager
def two_nodes() -> Iterator[Any]:
    """With one core each. Tests without Ray are skipped."""
    ray = pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as patch:  # workers import the tests' own modules from here
        patch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[1]), prepend=os.pathsep)
        patch.setenv("RAY_worker_niceness", "0")  # Ray's 15 starves them where a machine has other work
        nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
        nodes.add_node(num_cpus=1)
        yield nodes
    ray.shutdown()
    nodes.shutdown()
