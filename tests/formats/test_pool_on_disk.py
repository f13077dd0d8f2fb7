"""Pools larger than memory: their arrays live in mapped files without a name, and nothing else changes."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import hopefear as hf
from hopefear import _core
from hopefear.commands.tune import Tune
from hopefear.data.lists import Synthetic
from hopefear.metrics import Bleu
from hopefear.runs.session import SILENT
from hopefear.util.disk import on_disk
from tests.forest.pools import random_pool
from tests.trainers.every import BATCH, make

ARRAYS = ("edge_begin", "tail_begin", "tails", "word_begin", "words", "dense", "sparse_begin", "sparse_ids")
ARRAYS = (*ARRAYS, "sparse_values", "numbers")
MAPS = Path("/proc/self/maps")
shows_maps = pytest.mark.skipif(not MAPS.exists(), reason="the system does not show what is mapped")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lists")
    Synthetic(sentences=25, candidates=6, dense=5, sparse=8).write(folder)
    return folder


def lists(data: Path) -> hf.Pool:
    return hf.read_nbest(data / "nbest.txt", [data / f"ref.{i}" for i in range(4)])


def same(first: hf.Pool, other: hf.Pool) -> None:
    assert first.ids == other.ids and first.feature_names == other.feature_names
    for i, (a, b) in enumerate(zip(first, other, strict=True)):
        for name in ARRAYS:
            assert_array_equal(getattr(a, name), getattr(b, name), name)
        assert first.references(i) == other.references(i)


def made_of(pool: hf.Pool) -> list[hf.Pool]:
    """Pools that are made on the way from lists to weights."""
    canonical, _ = _core.canonical(pool)
    width = len(canonical.features)
    scaled = _core.reparameterized(
        canonical, np.arange(width, dtype=np.int32), np.full(width, 2.0), canonical.features, canonical.dense_width
    )
    return [canonical, _core.centred(canonical, 2), scaled, Bleu(lowercase=True).prepared(pool), pool.kbest({}, 2)]


@pytest.mark.parametrize("memory", [0.0, 2e-6, 1.0])
def test_the_same_pools(memory: float, data: Path, tmp_path: Path) -> None:
    here = lists(data)
    with on_disk(tmp_path, memory):
        there = lists(data)
        same(there, here)
        for first, other in zip(made_of(there), made_of(here), strict=True):
            same(first, other)
        assert_array_equal(Bleu().stats(there), Bleu().stats(here))
        assert list(tmp_path.iterdir()) == []
    same(there, here)  # also when nothing more goes to disk


def test_forests(tmp_path: Path) -> None:
    with on_disk(tmp_path):
        same(random_pool(5).pruned({"a": 1.0}, max_edges=12), random_pool(5).pruned({"a": 1.0}, max_edges=12))
        there = random_pool(5).kbest({"a": 1.0}, 4)
    same(there, random_pool(5).kbest({"a": 1.0}, 4))


def mapped() -> int:
    return MAPS.read_text().count("/.arrays.")


@shows_maps
def test_unused_files_are_deleted(data: Path, tmp_path: Path) -> None:
    with on_disk(tmp_path, 1.0):
        enough = lists(data)
        assert mapped() == 0
    del enough
    with on_disk(tmp_path):
        pool = lists(data)
        derived = made_of(pool)
        assert mapped() > 0
        del pool
        same(derived[0], _core.canonical(lists(data))[0])
    del derived
    gc.collect()
    assert mapped() == 0


@shows_maps
def test_memory_that_is_given_back_can_be_used_again(data: Path, tmp_path: Path) -> None:
    with on_disk(tmp_path, 30e-6):  # more than one of these lists needs, less than two
        for _ in range(3):
            pool = lists(data)
            assert mapped() == 0
            del pool
        both = lists(data), lists(data)
        assert mapped() > 0
        same(*both)


def test_no_folder(data: Path, tmp_path: Path) -> None:
    with on_disk(tmp_path / "none"), pytest.raises(hf.InputError, match="none: a temporary file cannot be made"):
        lists(data)


@pytest.mark.parametrize("trainer", BATCH, ids=lambda each: each.__name__)
def test_trainers_learn_the_same(trainer: Any, data: Path, tmp_path: Path) -> None:
    expected = make(trainer).fit(lists(data)).weights
    with on_disk(tmp_path, 5e-6):
        assert make(trainer).fit(lists(data)).weights == expected


def test_tune(data: Path, tmp_path: Path) -> None:
    """Replicates are children that write to files of their own."""
    refs = [str(data / f"ref.{i}") for i in range(4)]
    for name, memory in (("here", None), ("there", 0.0)):
        Tune(
            nbest=[str(data / "nbest.txt")],
            refs=refs,
            trainer="kbmira",
            set={"passes": 3, "scaling": "std"},
            replicates=3,
            memory=memory,
            out=str(tmp_path / "runs" / name),
        ).run(SILENT)
    runs = tmp_path / "runs"
    assert (runs / "here" / "weights.txt").read_bytes() == (runs / "there" / "weights.txt").read_bytes()
    assert sorted(entry.name for entry in runs.iterdir()) == ["here", "there"]
