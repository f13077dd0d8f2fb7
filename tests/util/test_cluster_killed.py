"""Killed commands on a cluster: started again, they end with the bytes of an uninterrupted one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hopefear.commands.translate import Translate
from hopefear.data.language import SyntheticParallel
from hopefear.decode.translation import translate
from hopefear.model.builder import build
from hopefear.model.options import BuildOptions
from hopefear.util.atomic import PART
from tests.clusters import done, killed_at, names, two_nodes

pytest.importorskip("ray")


@pytest.fixture(scope="module")
def nodes() -> Iterator[Any]:
    with two_nodes() as cluster_nodes:
        yield cluster_nodes


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Parallel text, and a model of it."""
    folder = tmp_path_factory.mktemp("task")
    pairs = SyntheticParallel(seed=2).pairs(60)
    (folder / "f").write_text("".join(pair.source + "\n" for pair in pairs))
    (folder / "e").write_text("".join(pair.target + "\n" for pair in pairs))
    build(folder / "f", folder / "e", folder / "model", BuildOptions(), jobs=1)
    return folder


def test_a_model_is_built_again(nodes: Any, task: Path, tmp_path: Path) -> None:
    command = ["build", "--source", str(task / "f"), "--target", str(task / "e"), "--out", "model"]
    command += ["--cluster", nodes.address, "--jobs", "1"]
    killed_at(nodes, tmp_path, command, "hopefear.model.rules._save", 5)  # the fifth of 64 parts that were merged
    assert not (tmp_path / "model").exists() and list(tmp_path.glob(f".model.*{PART}"))
    done(tmp_path, command)
    assert names(tmp_path) == ["model", *(f"model/{name}" for name in names(task / "model"))]
    for path in (task / "model").iterdir():
        assert path.read_bytes() == (tmp_path / "model" / path.name).read_bytes(), path.name


def test_a_text_is_translated_again(nodes: Any, task: Path, tmp_path: Path) -> None:
    source = tmp_path / "stdin"
    source.write_text("".join((task / "f").read_text().splitlines(keepends=True)[:12]))
    config = Translate(model=str(task / "model"), nbest=3, forests=str(tmp_path / "here"), jobs=1)
    here = "".join(translate(config, source))
    command = ["translate", str(task / "model"), "--nbest", "3", "--forests", "forests", "--cluster", nodes.address]
    killed_at(nodes, tmp_path, command, "hopefear.decode.translation._candidates", 3)
    assert not (tmp_path / "forests").exists() and list(tmp_path.glob(f".forests.*{PART}"))
    assert done(tmp_path, command) == here
    assert (tmp_path / "forests").read_bytes() == (tmp_path / "here").read_bytes()
    assert names(tmp_path) == ["forests", "here", "stdin"]
