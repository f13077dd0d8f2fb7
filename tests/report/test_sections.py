"""Sections of the page."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hopefear.report import sections
from hopefear.report.examined import Examined
from hopefear.report.gather import Reader, RunData


@pytest.fixture
def run(runs: Path) -> RunData:
    return Reader(jobs=1).read(runs / "kbmira")


def test_warnings_are_text_with_their_code(run: RunData) -> None:
    run.record = replace(run.record, warnings=["a <b> is 0 [silent-feature]", "no code"])
    found = sections.warnings([run])
    assert "a &lt;b&gt; is 0 <code>silent-feature</code>" in found and "no code</div>" in found
    run.record = replace(run.record, warnings=[])
    assert "Nothing suspicious" in sections.warnings([run])


def test_how_it_was_made_is_the_record(run: RunData) -> None:
    run.record = replace(run.record, command=["hopefear", "<x>"], metric="bleu|case:mixed", seed=7)
    found = sections.made([run])
    for text in ("hopefear &lt;x&gt;", "bleu|case:mixed", "<dd>7</dd>", "passes=5", "dev 32, kept aside 8"):
        assert text in found
    assert all(one["sha256"][:12] in found for one in run.record.inputs)


def test_runs_are_compared_on_the_same_sentences_only(runs: Path, run: RunData) -> None:
    other = Reader(jobs=1).read(runs / "mert")
    found = [Examined(one, number, 0, 1) for number, one in enumerate((run, other, Reader(jobs=1).read(runs / "ter")))]
    table = sections.scores(found, 1)
    rows = table[table.index("<tbody>") :].split("<tr>")[1:]
    compared = {("mert" in row, "ter<" in row): row.count("(p = ") for row in rows}
    assert compared[False, False] == 1  # with what was before
    assert compared[True, False] == 2  # and with the first run
    assert compared[False, True] == 1  # another metric


def test_without_epochs_there_is_no_curve(run: RunData) -> None:
    run.replicates = [replace(one, history=[]) for one in run.replicates]
    assert "has no epochs" in sections.curves([run])
