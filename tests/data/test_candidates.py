"""The candidates that a run learnt from, found again by its record."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hopefear.data.candidates import CandidateFiles
from hopefear.metrics import External
from hopefear.runs.record import RunRecord, record_inputs
from hopefear.util.values import plain

COLUMNS = {"group": "q", "features": ["a", "b"], "outcome": ["reward"], "missing": "drop"}


@pytest.mark.parametrize("settings", [COLUMNS, {"table": COLUMNS}], ids=["now", "0.2"])
def test_the_columns_of_a_table(settings: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("q,a,b,reward\n1,2,3,1\n1,3,2,0\n")
    record = RunRecord(kind="tune", command=[], directory=str(tmp_path), settings=settings)
    record.inputs = record_inputs({"table": str(tmp_path / "table.csv")})
    record.measure = plain(External("reward").record())
    files = CandidateFiles.recorded(record)
    assert files.spec is not None
    assert (files.spec.group, files.spec.features, files.spec.missing) == ("q", ("a", "b"), "drop")
    assert files.read().feature_names == ["a", "b"]
