"""Runs that tests report on."""

from __future__ import annotations

from pathlib import Path

import pytest

import hopefear as hf
from hopefear.cli.main import main
from hopefear.data.forests import forest_pool
from hopefear.data.lists import Synthetic
from tests.reports.pages import HOSTILE


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Lists with a hostile sentence, and runs on them; a run on forests."""
    folder = tmp_path_factory.mktemp("runs")
    Synthetic(sentences=40, candidates=30, dense=6).write(folder)
    lines = (folder / "nbest.txt").read_text().split("\n")
    (folder / "nbest.txt").write_text(
        "\n".join(f"{a[0]} ||| {HOSTILE} {a[1]} ||| {' ||| '.join(a[2:])}" if a[0] == "3" else " ||| ".join(a)
                  for a in (line.split(" ||| ") for line in lines))
    )  # fmt: skip
    references = (folder / "ref.0").read_text().split("\n")
    references[3] = HOSTILE + " " + references[3]
    (folder / "ref.0").write_text("\n".join(references))
    lists = ["--nbest", str(folder / "nbest.txt"), "--refs", *(str(folder / f"ref.{r}") for r in range(4))]
    initial = ["--initial", str(folder / "initial.txt"), "--quiet", "--holdout", "0.2"]
    for name, more in (
        ("kbmira", ["--trainer", "kbmira", "--set", "passes=5", "--replicates", "2"]),
        ("mert", ["--trainer", "mert", "--set", "restarts=2", "kicks=0"]),
        ("ter", ["--trainer", "mert", "--set", "restarts=1", "kicks=0", "--metric", "ter"]),
    ):
        assert main(["tune", *lists, *initial, *more, "--out", str(folder / name)]) == 0
    pool = forest_pool(8, 300, seed=3)
    hf.write_forests(pool, folder / "dev.forests")
    forests = ["--forests", str(folder / "dev.forests"), "--trainer", "kbmira", "--set", "passes=3", "--quiet"]
    assert main(["tune", *forests, "--out", str(folder / "forests")]) == 0
    return folder


@pytest.fixture(scope="session")
def page(runs: Path) -> Path:
    out = runs / "report.html"
    assert main(["report", *(str(runs / name) for name in ("kbmira", "mert")), "--out", str(out)]) == 0
    return out
