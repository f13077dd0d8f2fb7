"""Every public name has an example in its docstring, and examples do what they say.

They run in a folder with ``data``, the lists of ``hopefear example``, and ``translator``, a small translator from
German to English with the text that it was made from, ``train.de`` and ``train.en``.
"""

from __future__ import annotations

import doctest
import importlib
import shutil
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hopefear as hf
from hopefear.data.examples import write_lists
from tests.translator.conftest import make_translator

SOURCES = Path(hf.__file__).parent
#: Methods that users call most. What is inherited counts.
METHODS = [
    *(f"{kind}.{name}" for kind in ("Pool", "Forest") for name in ("viterbi", "kbest")),
    *(f"Pool.{name}" for name in ("hope_fear", "sample", "from_table", "append", "subset", "text", "to_arrow")),
    *(
        f"Reranker.{name}"
        for name in ("load", "save", "predict", "best", "rerank", "to_dict", "to_pandas", "plot", "to_onnx")
    ),
    *(f"Translator.{name}" for name in ("__call__", "translations", "alternatives", "explain", "learn", "undo")),
    *("Translator.document", "Pool.to_pandas", "Mert.fit", "Mert.bagged", "Arow.fit"),
    *("Bleu.corpus_score", "Bleu.signature"),
    *("Corpus.read", "Model.open", "LanguageModel.read", "TextPipeline.tokens", "Hiero.decode"),
]
RESULTS = ["predict", "rerank", "save", "to_dict", "to_pandas", "plot"]


def found(name: str) -> Any:
    value: Any = hf
    for part in name.split("."):
        value = getattr(value, part)
    return value


@pytest.mark.parametrize("name", [*hf._PUBLIC, *METHODS])  # type: ignore[attr-defined]
def test_public_names_have_an_example(name: str) -> None:
    assert ">>> " in (found(name).__doc__ or "")


@pytest.mark.parametrize("name", RESULTS)
def test_methods_of_results_have_an_example(name: str) -> None:
    from hopefear.reranker import Scoring

    assert ">>> " in (getattr(Scoring, name).__doc__ or "")


def modules() -> Iterator[str]:
    """The modules with examples, but those of commands, which are examples of their functions."""
    for path in sorted(SOURCES.rglob("*.py")):
        if ">>> " in path.read_text(encoding="utf-8") and path.parent.name != "commands":
            parts = path.relative_to(SOURCES).with_suffix("").parts
            yield ".".join(["hopefear", *(part for part in parts if part != "__init__")])


def elsewhere() -> Iterator[str]:
    """Public names whose docstring is not in the source of their module: they are compiled, or made from a command."""
    for name, module in hf._PUBLIC.items():  # type: ignore[attr-defined]
        if module == "hopefear._core" or found(name).__module__.startswith(("hopefear._core", "hopefear.commands.")):
            yield name


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("examples")
    write_lists(folder / "data")
    make_translator(folder).rename(folder / "translator")
    for side in ("de", "en"):
        (folder / side).rename(folder / f"train.{side}")
    return folder


@pytest.fixture
def here(shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(shared, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)


def examples(name: str) -> list[doctest.DocTest]:
    """Those of a module, or of a public name."""
    finder = doctest.DocTestFinder(exclude_empty=True)
    if name.startswith("hopefear."):
        return finder.find(importlib.import_module(name), extraglobs={"hf": hf})
    return finder.find(getattr(hf, name), name, module=False, globs={"hf": hf})  # type: ignore[arg-type]


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("name", [*modules(), *elsewhere()])
def test_examples(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    with np.printoptions(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for each in examples(name):
            runner.run(each)
    assert runner.tries and not runner.failures, capsys.readouterr().out
