"""Runs beside each other: metrics, translations, weights, options."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hopefear.evaluation.scores import score_of
from hopefear.metrics import Chrf
from hopefear.reports import compare
from hopefear.reports.feature_names import readable
from hopefear.reports.gather import RunReader
from hopefear.reports.numbers import shares
from hopefear.reports.run_view import RunView, by_metric
from hopefear.reports.sentence_list import BEFORE, listing, sentences
from hopefear.reports.verdict import judged


@pytest.fixture
def view(runs: Path) -> list[RunView]:
    reader = RunReader(jobs=1)
    return [RunView(reader.read(runs / name), k, 0, 1) for k, name in enumerate(("kbmira", "mert", "ter"))]


def test_every_run_is_scored_in_every_metric(view: list[RunView]) -> None:
    groups = by_metric(view)
    made = compare.metrics(groups, [judged(group, 1) for group in groups], 1)
    assert made is not None
    text = made.content
    heads = re.findall(r'<th scope="col">(.*?)</th>', text)
    assert heads == ["run", "part", "BLEU ↑", "chrF ↑", "TER ↓"]
    rows = dict(re.findall(r'<th scope="row">(.*?)</th>(.*?)</tr>', text))
    assert set(rows) == {"kbmira", "mert", "ter"}
    for each in view:
        pool = each.run.parts["holdout"]
        chrf = np.mean([score_of(pool, Chrf(), replicate.weights, 1) for replicate in each.run.replicates])
        assert f"{chrf:.2f}" in rows[each.run.name]
    assert "<b>" in rows["ter"].split("<td>")[4] and "<b>" in rows["mert"].split("<td>")[2]  # what it was trained for


def test_every_sentence_is_listed_with_what_every_run_says(view: list[RunView]) -> None:
    groups = by_metric(view)
    listings = [listing(ranking) for group in groups if (ranking := judged(group, 1)) is not None]
    both, alone = (listed.record() for listed in listings if listed is not None)
    assert set(both["systems"]) == {"kbmira", "mert", BEFORE} and set(alone["systems"]) == {"ter", BEFORE}
    assert both["parts"] == [["held out", 8], ["dev", 32]]
    told = {each.run.name: [*each.sentences["holdout"], *each.sentences["dev"]] for each in view}
    assert both["ids"] == [sentence.id for sentence in told["mert"]] and len(both["ids"]) == 40  # none is left out
    for place, name in enumerate(both["systems"]):
        for i, sentence in enumerate(told["mert" if name == BEFORE else name]):
            text, gain = (
                (sentence.before, sentence.gain_before) if name == BEFORE else (sentence.after, sentence.gain_after)
            )
            k = both["said"][i][place]
            assert both["texts"][i][k] == text and both["gains"][i][k] == pytest.approx(gain, abs=1e-4)
            assert (both["sources"][i], both["references"][i]) == (sentence.source, sentence.references)
    assert all(len(set(texts)) == len(texts) for texts in both["texts"])
    assert {both["systems"][k] for k in both["pair"]} == {"kbmira", "mert"}
    section = sentences([listed for listed in listings if listed is not None])
    assert section is not None and section.content.count("data-listing=") == 2 and "<h3>TER</h3>" in section.content


def test_runs_on_other_sentences_are_not_in_one_list(view: list[RunView]) -> None:
    view[1].scored["holdout"] = replace(view[1].scored["holdout"], of="others")
    judgement = judged(by_metric(view)[0], 1)
    assert judgement is not None
    made = listing(judgement)
    assert made is not None and len(made.systems) == 2


def test_weights_of_all_runs_are_in_one_plot(view: list[RunView]) -> None:
    text = compare.all_shares(by_metric(view)[0])
    names = list(view[0].run.weights)
    for each in view[:2]:
        share = 100 * shares(each.run.weights, names, each.deviations)[0]
        assert f"{each.run.name}: {names[0]} {share:.1f} %" in text
    assert "ter:" not in text and compare.all_shares(by_metric(view)[1]) == ""


def test_every_weight_is_in_the_table(view: list[RunView]) -> None:
    _, data = compare.weights_table(view)
    assert data["runs"] == ["kbmira", "mert", "ter"]
    assert {row[0] for row in data["rows"]} == set(view[0].run.weights)
    for row in data["rows"]:
        for each, cell in zip(view, row[2:], strict=True):
            assert cell[1] == pytest.approx(each.run.weights[row[0]], rel=1e-5)
    view[0].run.weights = {"<x>": 1.0, "lex(%2C,;)": 0.5}
    section, data = compare.weights_table(view[:1])
    assert section is not None
    text = section.content
    assert "&lt;x&gt;" in text and "<x>" not in text and "lex(“,”, “;”)" in text
    assert {row[0] for row in data["rows"]} == {"<x>", "lex(%2C,;)"}


def test_options_that_differ(view: list[RunView]) -> None:
    text = compare.options(view).content
    rows = {name: cells.split("<td>")[1:] for name, cells in re.findall(r'scope="row">(.*?)</th>(.*?)</tr>', text)}
    assert [cell.removesuffix("</td>") for cell in rows["trainer"]] == ["kbmira", "mert", "mert"]
    assert "passes" in rows and "5" in rows["passes"][0]  # given, and of one trainer only
    assert "holdout" not in rows and "nbest" not in rows  # the same for all
    assert "replicates" in rows and "metric" in rows
    assert "nothing" in compare.options([view[0], view[0]]).content


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("lex(%2C,;)", "lex(“,”, “;”)"),
        ("lex(%2C)", "lex(“,”)"),
        ("block(das,%2C|the)", "block(das, “,” | the)"),
        ("jump(2|%2C|)", "jump(2 | “,” | )"),
        ("lex(casa,house)", "lex(casa,house)"),
        ("lm", "lm"),
        ("100%", "100%"),
        ("a(%28b,c", "a(%28b,c"),
    ],
)
def test_names_of_features_are_readable(name: str, shown: str) -> None:
    assert readable(name) == shown
