"""The examples in docstrings do what they say, and every function and class that users begin with has one."""

from __future__ import annotations

import doctest
import importlib
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import hopefear as hf

SOURCES = Path(hf.__file__).parent


def modules() -> Iterator[str]:
    """The modules with examples."""
    for path in sorted(SOURCES.rglob("*.py")):
        if ">>> " in path.read_text(encoding="utf-8"):
            parts = path.relative_to(SOURCES).with_suffix("").parts
            yield ".".join(["hopefear", *(part for part in parts if part != "__init__")])


@pytest.mark.parametrize(
    "name",
    [
        *("tune", "weigh", "compare", "rerank", "score", "features", "combine", "with_functions", "Reranker", "load"),
        *("read_nbest", "iter_nbest", "write_nbest", "read_weights", "write_weights", "Mert.fit", "Bleu.corpus_score"),
    ],
)
def test_what_users_begin_with_has_an_example(name: str) -> None:
    value: Any = hf
    for part in name.split("."):
        value = getattr(value, part)
    assert ">>> " in (value.__doc__ or "")


@pytest.mark.parametrize("name", list(modules()))
def test_examples(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    module: ModuleType = importlib.import_module(name)
    with np.printoptions(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = doctest.testmod(module, extraglobs={"hf": hf}, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert results.attempted and not results.failed
