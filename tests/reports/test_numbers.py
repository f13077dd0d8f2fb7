"""The numbers behind the pictures."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hopefear.evaluation.scores import score_of
from hopefear.metrics import Bleu
from hopefear.reports.gather import Kept, RunReader
from hopefear.reports.numbers import (
    averaged,
    before_after,
    epoch_scores,
    influence,
    kept_before_after,
    learning_curve,
    moved_weights,
    surfaces,
    thinned,
)


def test_scores_are_those_of_the_run(runs: Path) -> None:
    run = RunReader(jobs=1).read(runs / "kbmira")
    final = run.record.final
    for part in ("dev", "holdout"):
        scores = before_after(run, part, 1)
        assert scores.before == pytest.approx(final["before"][part]["bleu"])
        assert scores.after == pytest.approx([replicate[part]["bleu"] for replicate in final["replicates"]])
    mean = learning_curve(run)
    assert len(mean.x) == 5 and mean.error is not None
    first = [epoch_scores(replicate.history)[0][1] for replicate in run.replicates]
    assert mean.y[0] == pytest.approx(np.mean(first))


@pytest.mark.parametrize("name", ["mert", "ter", "forests"])
def test_surfaces_are_exact(runs: Path, name: str) -> None:
    """Against scoring the pool anew at points of the line."""
    run = RunReader(jobs=1).read(runs / name)
    pool = run.parts["dev"]
    feature = max(run.weights, key=lambda f: abs(run.weights[f]))
    (surface,) = surfaces(run, [feature], 1)
    assert surface.score == pytest.approx(score_of(pool, run.metric, run.weights, 1), abs=1e-6)
    better = max if run.metric.higher_is_better else min
    assert surface.best == pytest.approx(better([*surface.y, surface.best]))
    checked = 0
    for x0, x1, y0, y1 in zip(surface.x, surface.x[1:], surface.y, surface.y[1:], strict=False):
        if y0 == y1 and x1 - x0 > 1e-9 and checked < 20:
            moved = {**run.weights, feature: (x0 + x1) / 2}
            assert score_of(pool, run.metric, moved, 1) == pytest.approx(y0, abs=1e-6)
            checked += 1
    assert checked > 3


def test_thinning_keeps_the_extremes() -> None:
    random = np.random.default_rng(1)
    xs = np.sort(random.random(5000))
    ys = random.random(5000)
    x, y = thinned(xs, ys, 0.0, 1.0)
    assert len(x) == len(y) < 1000
    assert max(y) == ys.max() and min(y) == ys.min()
    assert all(a <= b for a, b in itertools.pairwise(x))
    short_x, short_y = thinned(np.array([0.0, 0.5]), np.array([1.0, 2.0]), 0.0, 1.0)
    assert short_x == [0.0, 0.5, 0.5, 1.0] and short_y == [1.0, 1.0, 2.0, 2.0]


def test_weights_are_compared_by_their_share(runs: Path) -> None:
    run = RunReader(jobs=1).read(runs / "mert")
    spread = influence(run.parts["dev"])
    moved, total = moved_weights(run, spread)
    assert total == len(run.weights)
    assert sum(abs(feature.share_after) for feature in moved) == pytest.approx(1.0)
    run.weights = {name: 7 * value for name, value in run.weights.items()}  # the scale does not matter
    again, _ = moved_weights(run, spread)
    assert [feature.share_after for feature in again] == pytest.approx([feature.share_after for feature in moved])


def test_a_curve_is_the_mean_of_the_replicates_that_got_there() -> None:
    curve = averaged("two", [[(1, 10.0), (2, 20.0)], [(1, 12.0)]])
    assert (curve.name, curve.x, curve.y) == ("two", [1, 2], [11.0, 20.0])
    assert curve.error == pytest.approx([2**0.5, 0.0])
    assert averaged("one", [[(2, 1.0), (1, 3.0)]]).error is None
    assert averaged("none", []).x == []


def test_a_score_that_was_not_finite_is_no_point() -> None:
    history: list[dict[str, Any]] = [
        {"epoch": 0, "score": 1.0},
        {"epoch": 1, "score": None},
        {"epoch": 2, "score": 3.0},
    ]
    assert epoch_scores(history) == [(0, 1.0), (2, 3.0)]


def test_what_a_run_kept_gives_the_scores_of_its_sentences() -> None:
    random = np.random.default_rng(2)
    matches = random.integers(1, 5, (30, 4))
    stats = np.hstack([matches, matches + random.integers(0, 4, (30, 4)), np.full((30, 1), 9)]).astype(float)
    scores = kept_before_after("dev", Kept(stats, stats, "these"), jobs=1)
    assert scores.sentences == 30 and scores.of == "these"
    assert scores.after == [pytest.approx(scores.before)] == [pytest.approx(Bleu().score(stats.sum(axis=0)))]
    assert scores.p == 1.0 and scores.interval == (0.0, 0.0)
    assert scores.bleu is not None and scores.bleu["before"] == scores.bleu["after"]
