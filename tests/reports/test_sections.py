"""Sections of the page."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from hopefear.cli.main import main
from hopefear.reports import scores, sections
from hopefear.reports.gather import RunData, RunReader
from hopefear.reports.run_view import RunView, by_metric
from hopefear.reports.verdict import judged


@pytest.fixture
def run(runs: Path) -> RunData:
    return RunReader(jobs=1).read(runs / "kbmira")


def test_warnings_are_text_with_their_code(run: RunData) -> None:
    run.record = replace(run.record, warnings=["a <b> is 0 [silent-feature]", "no code"])
    text = sections.warnings([run]).content
    assert "a &lt;b&gt; is 0 <code>silent-feature</code>" in text and "no code</div>" in text
    run.record = replace(run.record, warnings=[])
    assert "Nothing suspicious" in sections.warnings([run]).content


def test_how_it_was_made_is_the_record(run: RunData) -> None:
    run.record = replace(run.record, command=["hopefear", "<x>"], metric="bleu|case:mixed", seed=7)
    text = sections.made([run]).content
    for word in ("hopefear &lt;x&gt;", "bleu|case:mixed", "<dd>7</dd>", "passes=5", "dev 32, held out 8"):
        assert word in text
    assert all(file["sha256"][:12] in text for file in run.record.inputs)


def test_runs_are_compared_on_the_same_sentences_only(runs: Path, run: RunData) -> None:
    other = RunReader(jobs=1).read(runs / "mert")
    view = [
        RunView(each, number, 0, 1) for number, each in enumerate((run, other, RunReader(jobs=1).read(runs / "ter")))
    ]
    groups = by_metric(view)
    table = scores.scores(groups, 1).content
    headings = re.findall(r"<h3>(\w+)</h3>.*?<tbody>(.*?)</tbody>", table, re.S)
    assert [(title, "kbmira" in rows, "ter<" in rows) for title, rows in headings] == [
        ("BLEU", True, False), ("TER", False, True)
    ]  # fmt: skip
    compared = [ranking.compared for group in groups if (ranking := judged(group, 1)) is not None]
    assert [test is not None for test in compared] == [True, False]  # another metric
    assert compared[0] is not None and {compared[0].pairs[0].first, compared[0].pairs[0].second} == {"kbmira", "mert"}


def test_without_epochs_there_is_no_curve(run: RunData) -> None:
    run.replicates = [replace(replicate, history=[]) for replicate in run.replicates]
    assert "has no epochs" in sections.curves(by_metric([RunView(run, 0, 0, 1)])).content


def test_every_axis_has_one_metric_and_one_unit(runs: Path) -> None:
    """BLEU and TER, and epochs and MERT's starts, are in different charts."""
    view = [RunView(RunReader(jobs=1).read(runs / name), k, 0, 1) for k, name in enumerate(("kbmira", "mert", "ter"))]
    text = re.sub(r'<div class="narrow">.*?</div>', "", sections.curves(by_metric(view)).content)
    charts = [ElementTree.fromstring(chart) for chart in re.findall(r"<svg.*?</svg>", text, re.S)]
    labels = [chart.get("aria-label") for chart in charts if chart.get("aria-label")]
    assert labels == ["BLEU after each epoch", "where MERT's starts ended", "where MERT's starts ended"]
    series = [{each.get("data-series") for each in chart.iter() if each.get("data-series")} for chart in charts]
    assert [numbers for numbers in series if numbers] == [{"0"}, {"1"}, {"2"}]
    assert "TER on the data learnt from" in text and "BLEU on the data learnt from" in text


def test_the_verdict_is_on_top_and_the_held_out_mean_is_large(run: RunData) -> None:
    groups = by_metric([RunView(run, 0, 0, 1)])
    top = scores.top("one run", groups, [judged(group, 1) for group in groups], 1)
    final = run.record.final
    mean = final["mean"]["holdout"]["bleu"]
    assert mean != final["holdout"]["bleu"]  # which is that of the best seed
    assert f"from {final['before']['holdout']['bleu']:.2f} to {mean:.2f}" in top
    assert "mean of 2 seeds" in top and top.index("<h1>") < top.index("verdict") < top.index("<svg") < top.index("Next")
    assert f">{mean:.2f}</text>" in top  # in the chart


def test_forests_without_initial_weights_say_what_before_is(runs: Path) -> None:
    for name, unknown in (("forests", True), ("kbmira", False)):
        page = runs / f"{name}-alone.html"
        assert main(["report", str(runs / name), "--out", str(page), "--quiet"]) == 0
        assert ("before is what weights of 0 choose" in page.read_text()) == unknown


def test_a_fit_without_epochs_is_a_level_and_not_a_dot(runs: Path) -> None:
    view = [RunView(RunReader(jobs=1).read(runs / "kbmira"), k, 0, 1) for k in range(2)]
    view[1].run.name = "once"
    view[1].run.replicates = [replace(replicate, history=replicate.history[:1]) for replicate in view[1].run.replicates]
    made = sections.curves(by_metric(view))
    text = made.content
    levels = re.findall(r'<g class="series s1".*?</g>', text)
    assert len(levels) == 2 and all("<polyline" in level and "<circle" not in level for level in levels)
    assert "dotted line" in made.lead
    alone = sections.curves(by_metric(view[1:])).content
    assert "without epochs: once" in alone and "<svg" not in alone


def test_a_warning_has_no_test_of_its_own(run: RunData) -> None:
    text = "the gain may be due to chance: +0.30 bleu (p = 0.31). Use more sentences [gain-in-noise]"
    run.record = replace(run.record, warnings=[text])
    shown = sections.warnings([run]).content
    assert "+0.30 bleu. Use more" in shown and "0.31" not in shown
