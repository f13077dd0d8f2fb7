"""Sections of the page."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from hopefear.cli.main import main
from hopefear.reports import sections
from hopefear.reports.examined import Examined, by_metric
from hopefear.reports.gather import Reader, RunData
from hopefear.reports.verdict import judged


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
    for text in ("hopefear &lt;x&gt;", "bleu|case:mixed", "<dd>7</dd>", "passes=5", "dev 32, held out 8"):
        assert text in found
    assert all(one["sha256"][:12] in found for one in run.record.inputs)


def test_runs_are_compared_on_the_same_sentences_only(runs: Path, run: RunData) -> None:
    other = Reader(jobs=1).read(runs / "mert")
    found = [Examined(one, number, 0, 1) for number, one in enumerate((run, other, Reader(jobs=1).read(runs / "ter")))]
    table = sections.scores(by_metric(found), 1)
    rows = table[table.index("<tbody>") :].split("<tr>")[1:]
    compared = {("mert" in row, "ter<" in row): row.count("(p = ") for row in rows if "<td>" in row}
    headings = re.findall(r"<h3>(\w+)</h3>.*?<tbody>(.*?)</tbody>", table, re.S)
    assert [(title, "kbmira" in rows, "ter<" in rows) for title, rows in headings] == [
        ("BLEU", True, False), ("TER", False, True)
    ]  # fmt: skip
    assert compared[False, False] == 1  # with what was before
    assert compared[True, False] == 2  # and with the first run
    assert compared[False, True] == 1  # another metric


def test_without_epochs_there_is_no_curve(run: RunData) -> None:
    run.replicates = [replace(one, history=[]) for one in run.replicates]
    assert "has no epochs" in sections.curves(by_metric([Examined(run, 0, 0, 1)]))


def test_every_axis_has_one_metric_and_one_unit(runs: Path) -> None:
    """BLEU and TER, and epochs and MERT's starts, are in different charts."""
    found = [Examined(Reader(jobs=1).read(runs / name), k, 0, 1) for k, name in enumerate(("kbmira", "mert", "ter"))]
    text = sections.curves(by_metric(found))
    charts = [ElementTree.fromstring(one) for one in re.findall(r"<svg.*?</svg>", text, re.S)]
    labels = [chart.get("aria-label") for chart in charts if chart.get("aria-label")]
    assert labels == ["BLEU after each epoch", "where MERT's starts ended", "where MERT's starts ended"]
    series = [{each.get("data-series") for each in chart.iter() if each.get("data-series")} for chart in charts]
    assert [one for one in series if one] == [{"0"}, {"1"}, {"2"}]
    assert "TER on the data learnt from" in text and "BLEU on the data learnt from" in text


def test_the_verdict_is_on_top_and_the_held_out_mean_is_large(run: RunData) -> None:
    groups = by_metric([Examined(run, 0, 0, 1)])
    top = sections.top(groups, [judged(group, 1) for group in groups])
    final = run.record.final
    mean = final["mean"]["holdout"]["bleu"]
    assert mean != final["holdout"]["bleu"]  # which is that of the best seed
    large = re.search(r"<b><span class=\"was\">([\d.]+) →</span> ([\d.]+)</b>", top)
    assert large and large[1] == f"{final['before']['holdout']['bleu']:.2f}" and large[2] == f"{mean:.2f}"
    assert "mean of 2 seeds" in top and top.index("verdict") < top.index("Next") < top.index("summary")


def test_forests_without_initial_weights_say_what_before_is(runs: Path) -> None:
    for name, unknown in (("forests", True), ("kbmira", False)):
        page = runs / f"{name}-alone.html"
        assert main(["report", str(runs / name), "--out", str(page), "--quiet"]) == 0
        assert ("before is what weights of 0 choose" in page.read_text()) == unknown
