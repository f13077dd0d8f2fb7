"""The frame of the experiments: registry, cache, output; and every experiment at a tiny size on generated data."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from hopefear.cli.main import main
from hopefear.errors import InputError
from hopefear.experiments import Lab, Outcome, find, load_all
from hopefear.experiments.base import Claim, Curve, Experiment, Figure, Table, beats, level, lines_of, write_outcome
from hopefear.experiments.chiang import Gap


def test_every_experiment_states_paper_and_claim() -> None:
    for name, one in load_all().items():
        assert re.fullmatch(r"[a-z]+-(table|fig)\d", name)
        assert one.paper and one.title and len(one.claim) > 40


def test_an_unknown_name_is_answered_with_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InputError, match="tan-table1"):
        find("tan-table9")
    assert main(["experiment", "tan-table9"]) == 2
    assert "tan-table1" in capsys.readouterr().err


def test_without_a_name_all_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["experiment"]) == 0
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert listed == list(load_all())


def test_a_size_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="small"):
        Lab(tmp_path, size="huge")


def test_results_are_kept_by_content(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    calls: list[int] = []

    def compute() -> dict[str, Any]:
        calls.append(1)
        return {"value": len(calls)}

    assert lab.cached("a", {"seed": 1}, compute) == {"value": 1}
    assert lab.cached("a", {"seed": 1}, compute) == {"value": 1}
    assert lab.cached("a", {"seed": 2}, compute) == {"value": 2}
    assert lab.cached("b", {"seed": 1}, compute) == {"value": 3}
    for path in (tmp_path / "cache").iterdir():
        path.write_text("{ cut off")
    assert lab.cached("a", {"seed": 1}, compute) == {"value": 4}  # damaged: computed again


def test_outcome_is_written_as_text_json_and_picture(tmp_path: Path) -> None:
    def run(lab: Lab) -> Outcome:
        """One is more than the other."""
        return Outcome(
            [Table("numbers", ["a", "b|c"], [["1", "<2>"]])],
            [Claim("one is more", True, "2 > 1"), Claim("by a lot", None, "p = 0.5")],
            ["small data"],
            [Figure("x-fig1", "a < b", "x", "y", [Curve("<b>", [1, 2, 3], [1.0, 4.0, 2.0], [0.5, 0.1, 0.0])])],
        )

    one = Experiment("x-table1", "title", "paper", run)
    lab = Lab(tmp_path, size="tiny")
    outcome = run(lab)
    written = {path.name: path for path in write_outcome(one, lab, outcome)}
    assert json.loads(written["x-table1.json"].read_text())["claims"][1]["verdict"] == "undecided"
    assert "| 1 | <2> |" in written["x-table1.md"].read_text()
    picture = ElementTree.fromstring(written["x-fig1.svg"].read_text())  # well-formed, names escaped
    assert len(picture.findall(".//{http://www.w3.org/2000/svg}circle")) == 3
    text = "\n".join(lines_of(one, lab, outcome))
    assert "HELD: one is more (2 > 1)" in text and "UNDECIDED: by a lot" in text


def test_a_verdict_needs_significance() -> None:
    assert [beats(1.0, 0.01), beats(-1.0, 0.01), beats(1.0, 0.05), beats(1.0, math.nan)] == [True, False, None, None]
    assert [level(0.4, 0.01), level(0.6, 0.01), level(0.6, 0.2)] == [True, False, None]


def test_replicates_are_told_apart_by_welch() -> None:
    gap = Gap.between([30.0, 31.0, 32.0], [33.0, 34.0, 35.0])
    assert gap.delta == pytest.approx(-3.0)
    assert gap.p == pytest.approx(0.0213, abs=1e-4)  # t = -3.674 with 4 degrees of freedom
    assert Gap.between([30.0], [31.0]).p == 1.0  # one replicate each says nothing
    assert Gap.between([30.0, 30.0], [31.0, 31.0]).p == 0.0
    assert Gap.between([30.0, 30.0], [30.0, 30.0]).p == 1.0


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("experiments")


@pytest.mark.parametrize("name", load_all())
def test_tiny(name: str, out: Path) -> None:
    outcome = find(name).run(Lab(out, size="tiny", jobs=2))
    assert outcome.claims and (outcome.tables or outcome.figures)
    for table in outcome.tables:
        assert all(len(row) == len(table.columns) for row in table.rows)
    again = find(name).run(Lab(out, size="tiny", jobs=1))  # from the cache, and not dependent on jobs
    assert again == outcome


def test_data_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["experiment", "tan-table1", "--data", str(tmp_path), "--out", str(tmp_path / "out")]) == 2
    assert "es-en-fisher" in capsys.readouterr().err
