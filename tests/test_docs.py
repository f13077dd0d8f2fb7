"""Every Python block of the docs runs as it is printed, and prints what the comment of a ``print`` says.

A page is run from its first block to its last, in one namespace and an empty folder. ``NEEDS`` makes what a page says
that the reader has; ``ELSEWHERE`` are pages whose blocks other tests run, because they look at the results as well.
tests/test_shell_docs.py has the blocks for the shell.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.models import write_task

ROOT = Path(__file__).parents[1]
PAGES = {
    page.name: page for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
}
ELSEWHERE = {
    "README.md": "tests/test_readme.py",
    "blocks.md": "tests/decode/test_docs.py",
    "decoder.md": "tests/decode/test_docs.py",
    "forests.md": "tests/forest/test_docs.py",
    "formats.md": "tests/formats/test_docs.py",
    "trainers.md": "tests/trainers/test_docs.py",
}


def blocks(name: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", PAGES[name].read_text(encoding="utf-8"), re.DOTALL)


def a_model(folder: Path) -> dict[str, Any]:
    """``model``, and text to learn from and to choose on."""
    write_task(folder, pairs=120, sentences=12)
    for part in ("tune", "dev"):
        shutil.copy(folder / f"{part}.source", folder / f"{part}.es")
        shutil.copy(folder / f"{part}.ref.0", folder / f"{part}.en")
        for k in range(2):
            shutil.copy(folder / f"{part}.ref.{k}", folder / f"{part}.en.{k}")
    return {}


def a_text(folder: Path) -> dict[str, Any]:
    """Parallel text to build a model from."""
    words = [("casa", "house"), ("calle", "street"), ("puerta", "door"), ("ciudad", "city"), ("mesa", "table")]
    pairs = [(f"¿dónde está la {f}?", f"where is the {e} ?") for f, e in words]
    pairs += [(f"aquí está la {f}.", f"here is the {e} .") for f, e in words]
    for side, name in enumerate(("train.es", "train.en")):
        (folder / name).write_text("".join(pair[side] + "\n" for pair in pairs * 4), encoding="utf-8")
    (folder / "dev.en").write_text("where is the street ?\n")
    return {}


def a_table(folder: Path) -> dict[str, Any]:
    """``frame``, and the same for scikit-learn."""
    pytest.importorskip("sklearn")
    random = np.random.default_rng(1)
    groups = np.repeat(np.arange(40), 5)
    X = random.normal(size=(200, 3))
    y = X @ [1.0, 0.5, 0.0] + random.normal(size=200)
    frame = {"prompt": groups.astype(str).tolist(), "a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "reward": y}
    return {"frame": frame, "X": X, "y": y, "groups": groups, "X_with_groups": np.column_stack([groups, X])}


def a_decoder(folder: Path) -> dict[str, Any]:
    """The toy decoder with its data, as the commands at the top of the page make them."""
    (folder / "examples").symlink_to(ROOT / "examples")
    subprocess.run([sys.executable, "examples/toy_decoder.py", "make", "toy"], cwd=folder, check=True)
    (folder / "toy" / "initial.txt").write_text("tm 0.5\nlm 0.5\nwords 0.2\n")
    return {}


def lists(folder: Path) -> dict[str, Any]:
    """``dev.nbest`` and two references."""
    from hopefear.data.lists import Synthetic

    Synthetic(sentences=40, candidates=6, dense=4).write(folder)
    (folder / "nbest.txt").rename(folder / "dev.nbest")
    return {}


def a_translator(folder: Path) -> dict[str, Any]:
    """A folder ``translator``, and a page."""
    from tests.translator.conftest import make_translator

    make_translator(folder)
    (folder / "model").rename(folder / "translator")
    (folder / "page.html").write_text("<p>Ein <b>rotes</b> Haus steht hier.</p>")
    return {}


NEEDS: dict[str, Callable[[Path], dict[str, Any]]] = {
    "build.md": a_text,
    "compare.md": lists,
    "corrections.md": a_translator,
    "plugins.md": lists,
    "production.md": lists,
    "outer-loop.md": a_decoder,
    "runs.md": a_model,
    "training.md": a_model,
    "translator.md": a_translator,
    "weigh.md": a_table,
}


@pytest.mark.parametrize("name", [name for name in PAGES if name not in ELSEWHERE and blocks(name)])
def test_the_python_of_a_page_runs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given = NEEDS[name](tmp_path) if name in NEEDS else {}
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")  # python is this one
    for number, block in enumerate(blocks(name), 1):
        exec(compile(block, f"{name}, block {number}", "exec"), given)
        printed = capsys.readouterr().out.splitlines()
        for text in re.findall(r"^print\(.*\)  # (.*)$", block, re.MULTILINE):
            shown = re.escape(text).replace(r"\.\.\.", ".*")
            assert any(re.fullmatch(shown, line) for line in printed), text


def test_all_python_is_in_blocks_that_are_run() -> None:
    """A block is called python; none hides under another name, or as indented text."""
    for name, page in PAGES.items():
        text = page.read_text(encoding="utf-8")
        assert not re.findall(r"^```(?:py|python3|pycon)\n", text, re.MULTILINE), name
        outside = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
        assert not re.findall(r"^    (?:import|from) \w+", outside, re.MULTILINE), name


def test_other_tests_run_the_rest() -> None:
    for name, test in ELSEWHERE.items():
        assert blocks(name) and name in (ROOT / test).read_text(encoding="utf-8"), name


def contents() -> dict[str, list[str]]:
    """The navigation of the site."""
    assigned = re.search(r"^CONTENTS = (\{.*?^\})", (ROOT / "docs" / "conf.py").read_text(), re.DOTALL | re.MULTILINE)
    assert assigned is not None
    sections: dict[str, list[str]] = ast.literal_eval(assigned[1])
    return sections


def test_every_page_is_in_the_navigation() -> None:
    pages = [page for section in contents().values() for page in section]
    assert sorted([*pages, "index"]) == sorted(path.stem for path in (ROOT / "docs").glob("*.md"))


#: What people ask, the page that answers, reached from the front page, and words of the answer.
QUESTIONS = {
    "I have a CSV of reward scores": ("weigh.md", "one row per candidate"),
    "I have a TMX": ("create.md", "TMX"),
    "which trainer": ("which-trainer.md", "--trainer auto"),
    "my weights look odd": ("diagnosis.md", "runaway-weight"),
    "how do I cite": ("faq.md", "CITATION.cff"),
    "is it faster than Moses": ("why.md", "Moses"),
    "can I run it on a cluster": ("cluster.md", "--cluster"),
    "how do I add a metric": ("plugins.md", "hopefear.metrics"),
    "what does this warning mean": ("diagnosis.md", "same-candidates"),
    "what files are in a run": ("runs.md", "log.jsonl"),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_is_answered_a_click_from_the_front_page(question: str) -> None:
    page, words = QUESTIONS[question]
    assert f"]({page})" in PAGES["index.md"].read_text(encoding="utf-8")
    assert words in PAGES[page].read_text(encoding="utf-8")


def test_the_citation_names_this_version() -> None:
    from hopefear import __version__

    assert f"\nversion: {__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_pages_are_short() -> None:
    assert len(PAGES["README.md"].read_text(encoding="utf-8").splitlines()) < 120
    long = {*contents()["Reference"], *contents()["Research notes"]}
    for name, page in PAGES.items():
        assert page.stem in long or len(page.read_text(encoding="utf-8").splitlines()) <= 250, name
