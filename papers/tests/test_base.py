"""What all experiments share: cache, verdicts, output."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from hopefear.errors import InputError
from hopefear.runs.events import Decoded, Epoch, Event, Note, Progress, Warned
from hopefear.runs.session import Session
from hopefear.util.svg import Curve
from hopefear_papers import Lab, Outcome
from hopefear_papers.base import Claim, Experiment, Figure, Table, lines_of, with_spread, write_outcome


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

    experiment = Experiment("x-table1", "title", "paper", run)
    lab = Lab(tmp_path, size="tiny")
    outcome = run(lab)
    written = {path.name: path for path in write_outcome(experiment, lab, outcome)}
    assert json.loads(written["x-table1.json"].read_text())["claims"][1]["verdict"] == "undecided"
    assert "| 1 | <2> |" in written["x-table1.md"].read_text()
    picture = ElementTree.fromstring(written["x-fig1.svg"].read_text())  # well-formed, names escaped
    assert len(picture.findall(".//{http://www.w3.org/2000/svg}circle")) == 3
    assert set(written) == {"x-table1.md", "x-table1.json", "x-fig1.svg", "x-claims.md"}
    text = "\n".join(lines_of(experiment, outcome))
    assert "HELD: one is more (2 > 1)" in text and "UNDECIDED: by a lot" in text


def test_a_mean_has_its_spread_where_there_are_several() -> None:
    assert with_spread([1.0]) == "1.00" and with_spread([1.0, 3.0]) == "2.00 (1.41)"
    assert with_spread([math.nan]) == "-"


def test_the_session_of_a_lab_hears_a_damaged_result_and_no_more(tmp_path: Path) -> None:
    heard: list[Event] = []
    lab = Lab(tmp_path, run=Session(heard.append))
    lab.cached("a", {}, lambda: {"value": 1})
    assert heard == []
    next((tmp_path / "cache").iterdir()).write_text("{")
    lab.cached("a", {}, lambda: {"value": 1})
    assert [type(event) for event in heard] == [Warned]


def test_who_listens_does_not_tell_labs_apart(tmp_path: Path) -> None:
    assert Lab(tmp_path) == Lab(tmp_path, run=Session(print))
    assert hash(Lab(tmp_path)) == hash(Lab(tmp_path, run=Session(print)))


def test_epochs_of_a_training_move_a_bar(tmp_path: Path) -> None:
    heard: list[Event] = []
    session = Lab(tmp_path, run=Session(heard.append)).training("learn", 3, tmp_path / "folder")
    assert session.folder == tmp_path / "folder"
    for event in (
        Decoded(1, 20.0),
        Epoch(1, 19.0, context={"iteration": 1}),  # of the trainer inside the loop
        Epoch(2, 21.5),
        Note("not for the screen"),
    ):
        assert session.tell(event)
    assert heard == [Progress("learn", 1, 3, "bleu 20.00"), Progress("learn", 2, 3, "bleu 21.50")]


def test_a_step_keeps_its_folder_and_its_result_by_the_same_name(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    lab.cached("a step", {"seed": 1}, dict)
    (kept,) = (tmp_path / "cache").iterdir()
    assert kept.stem == lab.scratch("a step", {"seed": 1}).name != lab.scratch("a step", {"seed": 2}).name
