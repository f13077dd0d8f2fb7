"""``hopefear.testing`` and ``hopefear new-plugin``: our own trainers pass, bad ones do not, the package works."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

import hopefear as hf
from hopefear import testing
from hopefear.cli.main import main
from hopefear.metrics import PythonMetric
from hopefear.trainers.batch.base import BatchTrainer, Problem


@pytest.mark.parametrize("check", testing.TRAINER_CHECKS, ids=lambda check: check.__name__)
def test_a_trainer_of_ours(check: testing.Check) -> None:
    check(hf.Kbmira(passes=5))


@pytest.mark.parametrize("check", testing.METRIC_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("metric", [hf.Bleu(), hf.Ter()], ids=lambda metric: metric.name)
def test_metrics_of_ours(check: testing.Check, metric: Any) -> None:
    check(metric)


@dataclass(frozen=True, kw_only=True)
class Bad(BatchTrainer):
    """Does everything wrong that can be done wrong in a few lines."""

    name: ClassVar[str] = "bad"
    paper: ClassVar[str] = ""
    what: ClassVar[str] = "nothing"

    note: Any = 3j

    def learn(self, problem: Problem) -> tuple[Any, dict[str, Any]]:
        w = problem.initial * 0 - 1 + (time.perf_counter_ns() % 1000) / 1e6
        for epoch in (1, 2):
            problem.report(epoch, 0.0, w, {})
        return w, {}


@pytest.mark.parametrize(
    ("check", "said"),
    [
        (testing.it_improves, "before"),
        (testing.the_seed_decides, "different weights"),
        (testing.the_order_of_lines_does_not_matter, "mattered"),
        (testing.options_are_plain, "plain|serializable"),
    ],
)
def test_a_bad_trainer_is_found_out(check: testing.Check, said: str) -> None:
    with pytest.raises((AssertionError, TypeError), match=said):
        check(Bad())


@dataclass(frozen=True)
class Backwards(PythonMetric):
    """More common words, lower score."""

    name: ClassVar[str] = "backwards"

    def statistics(self, text: str, references: list[str]) -> list[float]:
        return [float(len(set(text.split()) & set(references[0].split()))), 1.0]

    def score_of(self, sums: Any) -> float:
        return -float(sums[0])


def test_a_bad_metric_is_found_out() -> None:
    with pytest.raises(AssertionError, match="the references themselves"):
        testing.references_score_best(Backwards())


def test_the_package_of_new_plugin_passes_its_tests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Installed as an installer leaves it: modules and entry points on the path."""
    monkeypatch.chdir(tmp_path)
    assert main(["new-plugin", "random-walk"]) == 0
    assert "pip install -e 'hopefear-random-walk[test]'" in capsys.readouterr().out
    folder = tmp_path / "hopefear-random-walk"
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    metadata = folder / "hopefear_random_walk-0.1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: 0.1.0\n")
    groups = project["entry-points"].items()
    points = ("\n".join([f"[{group}]", *(f"{k} = {v}" for k, v in each.items()), ""]) for group, each in groups)
    (metadata / "entry_points.txt").write_text("\n".join(points))
    paths = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", ""), str(Path(hf.__file__).parents[1])])
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"]
    ended = subprocess.run(command, cwd=folder, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout[-3000:]
    help_text = [sys.executable, "-m", "hopefear.cli.main", "trainers", "random-walk"]
    ended = subprocess.run(help_text, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True)
    assert "rounds of the search" in ended.stdout


@pytest.mark.parametrize("name", ["Mine", "a_b", "9lives", "-x", "tune", ""])
def test_names_that_are_none(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["new-plugin", "--", name]) == 2
    assert list(tmp_path.iterdir()) == []
