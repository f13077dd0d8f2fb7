"""What a difference says of a claim."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hopefear.evaluation.significance import paired_bootstrap
from hopefear.metrics import External
from hopefear_papers import Claim, Experiment, Lab, Outcome
from hopefear_papers.base import better, levelled, write_outcome
from hopefear_papers.verdicts import (
    Gap,
    Pooled,
    all_beat,
    all_of,
    beats,
    controlled,
    level,
    level_p,
    no_better,
    no_better_p,
    opposite,
    rejected,
)


def gap(delta: float, p: float, low: float, high: float) -> Gap:
    return Gap(delta, p, (low, high))


def test_better_needs_significance() -> None:
    assert [beats(1.0, 0.01), beats(-1.0, 0.01), beats(1.0, 0.05), beats(1.0, math.nan)] == [True, False, None, None]


def test_level_needs_evidence() -> None:
    """A small difference that nobody knows well is not level: the old rule said so."""
    assert level(gap(0.1, 0.001, 0.05, 0.15)) is True  # significant, and too small to matter
    assert level(gap(0.1, 0.8, -0.9, 1.1)) is None
    assert level(gap(0.8, 0.01, 0.3, 1.3)) is False
    assert level(gap(0.4, 0.01, 0.2, 0.6)) is None  # it differs, perhaps by less than half a point
    assert level(gap(0.6, 0.2, -0.2, 1.4)) is None
    assert level(Gap(0.0, 1.0)) is None  # one replicate of each


def test_no_gain_needs_evidence() -> None:
    assert no_better(gap(-2.0, 0.01, -3.0, -1.0)) is True
    assert no_better(gap(0.1, 0.6, -0.2, 0.4)) is True
    assert no_better(gap(0.1, 0.9, -0.9, 1.1)) is None
    assert no_better(gap(1.0, 0.01, 0.4, 1.6)) is False
    assert no_better_p(gap(-2.0, 0.01, -3.0, -1.0)) < 0.001
    assert no_better_p(gap(0.1, 0.6, -0.2, 0.4)) < 0.05 < no_better_p(gap(0.1, 0.9, -0.9, 1.1))
    assert no_better_p(gap(0.5, 0.01, 0.4, 0.6)) == pytest.approx(0.5)
    assert no_better_p(gap(1.0, 0.01, 0.4, 1.6)) > 0.9


def test_equivalence_is_two_tests() -> None:
    """The interval lies within half a point just where the larger of the two p is below 0.05."""
    for delta in np.linspace(-0.613, 0.613, 25):  # no ties
        for wide in (0.05, 0.2, 0.4, 0.7):
            difference = gap(float(delta), 1.0, delta - wide, delta + wide)
            assert (level(difference) is True) == (level_p(difference) < 0.05)


def test_a_claim_of_several_parts_needs_each() -> None:
    """One part that is significantly worse rejects the claim, even if the p of another is larger."""
    ahead, behind, unsure = (Gap(*each) for each in ((0.3, 0.04), (-0.5, 0.001), (0.1, 0.6)))
    assert all_beat([ahead, ahead]) == (True, 0.04)
    assert all_beat([ahead, behind]) == (False, 0.002)
    assert all_beat([ahead, unsure]) == (None, 0.6)
    assert all_beat([ahead, Gap(-0.5, 0.03)]) == (None, 0.04)  # of two tests, one in twenty comes out by chance
    assert all_beat([opposite(behind)]) == (True, 0.001)
    assert opposite(gap(0.3, 0.2, -0.1, 0.7)) == gap(-0.3, 0.2, -0.7, 0.1)


def test_replicates_are_told_apart_by_welch() -> None:
    difference = Gap.between([30.0, 31.0, 32.0], [33.0, 34.0, 35.0])
    assert difference.delta == pytest.approx(-3.0)
    assert difference.p == pytest.approx(0.0213, abs=1e-4)  # t = -3.674 with 4 degrees of freedom
    assert difference.ci90 == pytest.approx((-4.7407, -1.2593), abs=1e-3)  # t(0.95, 4) = 2.1318
    assert Gap.between([30.0], [31.0]).p == 1.0  # one replicate each says nothing
    assert Gap.between([30.0, 30.0], [31.0, 31.0]).p == 0.0
    assert Gap.between([30.0, 30.0], [30.0, 30.0]).p == 1.0
    alone = Gap.between([30.0, 31.0, 32.0], [33.0])  # one that knows no chance
    assert 0 < alone.p < 1 and alone.ci90[0] < -2 < alone.ci90[1]


def test_the_interval_of_the_bootstrap() -> None:
    random = np.random.default_rng(1)
    values = random.normal(50, 10, (2, 400))
    a, b = (np.stack([row, np.ones(400)], axis=1) for row in values)
    test_result = paired_bootstrap(a, b, External("quality"))
    error = np.std(values[0] - values[1], ddof=1) / 20
    assert test_result.ci90 == pytest.approx(
        (test_result.delta - 1.645 * error, test_result.delta + 1.645 * error), abs=0.2
    )
    assert test_result.ci[0] < test_result.ci90[0] < test_result.ci90[1] < test_result.ci[1]


def test_differences_on_several_data_sets() -> None:
    pooled = Pooled.of([gap(1.0, 0.0, 1.0 - 1.645, 1.0 + 1.645), gap(2.0, 0.0, 2.0 - 1.645, 2.0 + 1.645)])
    assert pooled.delta == 1.5
    assert pooled.p == pytest.approx(0.0339, abs=1e-3)  # a standard error of 1 each: z = 1.5 sqrt 2
    assert pooled.ci90 == pytest.approx((1.5 - 1.163, 1.5 + 1.163), abs=1e-2)
    assert Pooled.of([Gap(1.0, 0.01), gap(1.0, 0.01, 0.5, 1.5)]).p == 1.0  # nothing is known of one of them


def test_a_claim_of_several_parts_holds_if_all_do() -> None:
    assert [all_of(parts) for parts in ([True, True], [True, None], [None, False], [])] == [True, None, False, True]


def test_false_discoveries_by_hand() -> None:
    """The example of Benjamini and Hochberg (1995), section 4: four of fifteen, where Bonferroni has three."""
    values = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528,
              0.7590, 1.0]  # fmt: skip
    order = np.random.default_rng(1).permutation(len(values))
    fallen = rejected([values[i] for i in order])
    assert sorted(values[i] for i, falls in zip(order, fallen, strict=True) if falls) == values[:4]
    assert rejected([]) == [] and rejected([0.5]) == [False]


def test_verdicts_of_a_paper_are_controlled() -> None:
    claims = [{"verdict": "held", "p": p} for p in (0.001, 0.04, 0.045, 0.6)]
    assert controlled(claims) == ["held", "undecided", "undecided", "undecided"]
    alone: list[dict[str, Any]] = [{"verdict": "held", "p": 0.04}, {"verdict": "did not hold", "p": None}]
    assert controlled(alone) == ["held", "did not hold"]


def test_the_p_is_that_of_the_test_behind_the_verdict() -> None:
    assert better("a", gap(1.0, 0.01, 0.3, 1.7)).p == 0.01
    assert levelled("a", gap(0.8, 0.01, 0.3, 1.3)).p == 0.01  # denied: they differ
    same = levelled("a", gap(0.0, 0.9, -0.1, 0.1), "one over other")
    assert same.p is not None and same.p < 0.001
    assert same.evidence == "one over other; +0.00 BLEU, 90 % interval -0.10 to +0.10"


def test_the_claims_of_a_paper_stand_together(tmp_path: Path) -> None:
    """Each experiment writes its own; the table has those of the paper that are there, under one rate."""
    lab = Lab(tmp_path, size="tiny")

    def outcome(p: float) -> Outcome:
        return Outcome([], [Claim("it holds", True, "seen", p), Claim("it counts", True, "counted")])

    experiment = Experiment("x-table1", "title", "Somebody 2012, table 1", lambda lab: outcome(0.04))
    for name, paper, p in (("x-table1", "Somebody 2012, table 1", 0.04), ("x-fig2", "Somebody 2012, figure 2", 0.9),
                           ("y-table1", "Another 2013, table 1", 0.5)):  # fmt: skip
        write_outcome(replace(experiment, name=name, paper=paper), lab, outcome(p))
    (tmp_path / "other.json").write_text("[1, 2]")
    write_outcome(experiment, lab, outcome(0.04))
    rows = [line.split(" | ") for line in (tmp_path / "x-claims.md").read_text().splitlines() if "tiny" in line]
    assert [row[0] for row in rows] == ["| x-fig2", "| x-fig2", "| x-table1", "| x-table1"]
    assert [row[5] for row in rows] == ["held"] * 4
    assert [row[6] for row in rows] == ["undecided |", "held |", "undecided |", "held |"]
    assert "0.04" in (tmp_path / "x-claims.md").read_text()
    assert json.loads((tmp_path / "x-table1.json").read_text())["claims"][0]["p"] == 0.04
