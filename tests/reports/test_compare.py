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
from hopefear.reports.examined import Examined, by_metric
from hopefear.reports.gather import Reader
from hopefear.reports.names import readable
from hopefear.reports.numbers import shares
from hopefear.reports.verdict import judged


@pytest.fixture
def found(runs: Path) -> list[Examined]:
    reader = Reader(jobs=1)
    return [Examined(reader.read(runs / name), k, 0, 1) for k, name in enumerate(("kbmira", "mert", "ter"))]


def test_every_run_is_scored_in_every_metric(found: list[Examined]) -> None:
    groups = by_metric(found)
    text = compare.metrics(groups, [judged(group, 1) for group in groups], 1)
    heads = re.findall(r'<th scope="col">(.*?)</th>', text)
    assert heads == ["run", "part", "BLEU ↑", "chrF ↑", "TER ↓"]
    rows = dict(re.findall(r'<th scope="row">(.*?)</th>(.*?)</tr>', text))
    assert set(rows) == {"kbmira", "mert", "ter"}
    for one in found:
        pool = one.run.parts["holdout"]
        chrf = np.mean([score_of(pool, Chrf(), each.weights, 1) for each in one.run.replicates])
        assert f"{chrf:.2f}" in rows[one.run.name]
    assert "<b>" in rows["ter"].split("<td>")[4] and "<b>" in rows["mert"].split("<td>")[2]  # what it was trained for


def test_translations_of_runs_on_the_same_sentences(found: list[Examined]) -> None:
    groups = by_metric(found)
    text, data = compare.versus([judged(group, 1) for group in groups])
    (pairs,) = data  # TER has one run only
    assert set(pairs["runs"]) == {"kbmira", "mert"} and "<h3>BLEU</h3>" in text
    said = {one.run.name: {each.after for part in one.told.values() for each in part} for one in found}
    for one in pairs["sentences"]:
        assert len(set(one["said"])) > 1 and one["part"] in ("dev", "held out")
        for name, which in zip(pairs["runs"], one["said"], strict=True):
            assert one["texts"][which] in said[name]
    spread = [max(one["gains"]) - min(one["gains"]) for one in pairs["sentences"]]
    assert spread == sorted(spread, reverse=True)
    found[1].scored["holdout"] = replace(found[1].scored["holdout"], of="others")
    assert compare.versus([judged(group, 1) for group in by_metric(found)]) == ("", [])


def test_weights_of_all_runs_are_in_one_plot(found: list[Examined]) -> None:
    text = compare.all_shares(by_metric(found)[0])
    names = list(found[0].run.weights)
    for one in found[:2]:
        share = 100 * shares(one.run.weights, names, one.deviations)[0]
        assert f"{one.run.name}: {names[0]} {share:.1f} %" in text
    assert "ter:" not in text and compare.all_shares(by_metric(found)[1]) == ""


def test_every_weight_is_in_the_table(found: list[Examined]) -> None:
    text, data = compare.weights_table(found)
    assert data["runs"] == ["kbmira", "mert", "ter"]
    assert {row[0] for row in data["rows"]} == set(found[0].run.weights)
    for row in data["rows"]:
        for one, cell in zip(found, row[2:], strict=True):
            assert cell[1] == pytest.approx(one.run.weights[row[0]], rel=1e-5)
    found[0].run.weights = {"<x>": 1.0, "lex(%2C,;)": 0.5}
    text, data = compare.weights_table(found[:1])
    assert "&lt;x&gt;" in text and "<x>" not in text and "lex(“,”, “;”)" in text
    assert {row[0] for row in data["rows"]} == {"<x>", "lex(%2C,;)"}


def test_options_that_differ(found: list[Examined]) -> None:
    text = compare.options(found)
    rows = {name: cells.split("<td>")[1:] for name, cells in re.findall(r'scope="row">(.*?)</th>(.*?)</tr>', text)}
    assert [cell.removesuffix("</td>") for cell in rows["trainer"]] == ["kbmira", "mert", "mert"]
    assert "passes" in rows and "5" in rows["passes"][0]  # given, and of one trainer only
    assert "holdout" not in rows and "nbest" not in rows  # the same for all
    assert "replicates" in rows and "metric" in rows
    assert "nothing" in compare.options([found[0], found[0]])


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
