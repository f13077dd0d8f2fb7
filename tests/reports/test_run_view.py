"""A run with everything that the page shows of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hopefear.reports.gather import RunReader
from hopefear.reports.run_view import RunView, by_metric


@pytest.mark.parametrize("name", ["kbmira", "ter", "forests"])
def test_every_part_is_scored_and_sentences_are_picked(runs: Path, name: str) -> None:
    run = RunReader(jobs=1).read(runs / name)
    view = RunView(run, 0, 3, 1)
    assert set(view.scored) == set(run.parts)
    assert set(view.deviations) == set(run.parts["dev"].feature_names)
    assert len(view.changes) == len(run.parts["dev"]) and len(view.clouds) == 3
    for part in run.parts:
        assert view.scored[part].after == pytest.approx(view.after(part))
        if name == "forests":  # what a decoder said first is not known of forests without initial weights
            assert view.before(part) is None
        else:
            assert view.scored[part].before == pytest.approx(view.before(part))
    assert view.before("test") is None and view.after("test") == []


def test_a_run_without_candidates_has_its_scores_only(runs: Path) -> None:
    run = RunReader(jobs=1).read(runs / "kbmira")
    run.parts = {}
    view = RunView(run, 0, 3, 1)
    assert not view.scored and not view.clouds and not view.changes
    assert view.after("dev") == [replicate["dev"]["bleu"] for replicate in run.record.final["replicates"]]


def test_runs_are_grouped_by_their_metric(runs: Path) -> None:
    view = [RunView(RunReader(jobs=1).read(runs / name), k, 0, 1) for k, name in enumerate(("kbmira", "ter", "mert"))]
    bleu, ter = by_metric(view)
    assert ([each.run.name for each in bleu.runs], bleu.title, bleu.alone) == (["kbmira", "mert"], "BLEU", False)
    assert ([each.run.name for each in ter.runs], ter.title, ter.higher) == (["ter"], "TER", False)
    lower = view[2].run
    lower.record = replace(lower.record, metric=lower.record.metric.replace("case:mixed", "case:lc"))
    titles = [group.title for group in by_metric([view[0], view[2]])]
    assert titles[0] != titles[1] and "case:lc" in titles[1]
    (alone,) = by_metric(view[:1])
    assert alone.alone


def test_runs_that_differ_in_their_seed_are_one_system(runs: Path) -> None:
    view = [RunView(RunReader(jobs=1).read(runs / "kbmira"), k, 0, 1) for k in range(3)]
    for k, each in enumerate(view):
        each.run.name = f"kbmira-{k + 1}"
        each.run.record = replace(each.run.record, seed=k + 1)
    (system,) = by_metric(view)[0].systems
    assert system.name == "kbmira" and len(system.after("dev")) == 6 and system.seeds("dev") == "mean of 6 seeds"
    assert system.score("holdout") == pytest.approx(np.mean(view[0].after("holdout")))
    stats = system.stats("holdout")
    assert stats is not None and stats.shape[:2] == (6, 8)
    view[2].run.record = replace(view[2].run.record, seed=1)  # the same run twice is no other seed
    assert [len(each.runs) for each in by_metric(view)[0].systems] == [2, 1]
    view[1].run.record.settings["replicates"] = 9
    assert len(by_metric(view)[0].systems) == 3


def test_seeds_that_were_tested_on_the_same_sentences_are_one_system(runs: Path) -> None:
    """Seeds draw their own held-out part; the test set is what they share."""
    view = [RunView(RunReader(jobs=1).read(runs / "mert"), k, 0, 1) for k in range(2)]
    for k, each in enumerate(view):
        each.run.record = replace(each.run.record, seed=k + 1)
        each.scored["dev"] = replace(each.scored["dev"], of=k)
        each.scored["test"] = each.scored.pop("holdout")
    assert len(by_metric(view)[0].systems) == 1
    view[1].scored["test"] = replace(view[1].scored["test"], of="others")
    assert len(by_metric(view)[0].systems) == 2
