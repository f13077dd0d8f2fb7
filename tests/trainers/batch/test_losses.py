"""Each declared loss is its formula, each gradient is the slope."""

from typing import Any

import numpy as np
import pytest

import hopefear as hf
from hopefear import _core
from tests.reference.losses import LOSSES
from tests.trainers.pools import list_pool, matrices, random_pool, split
from tests.trainers.twins import setting

SMOOTH = {name for name in LOSSES if name.startswith("soft")} | {"log", "latentlog", "risk", "jensen"}


def test_every_loss_is_declared() -> None:
    assert {name for name, _ in _core.loss_names()} == set(LOSSES)
    with pytest.raises(hf.InputError, match="there is no loss 'ramp4'"):
        hf.Rampion(loss="ramp4").fit(random_pool(1))


@pytest.mark.parametrize("loss", LOSSES)
def test_the_value_by_enumeration_and_the_slope_by_differences(loss: Any) -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        pool = list_pool([rng.normal(size=(rng.integers(1, 8), 3))])
        costs = rng.integers(0, 4, pool[0].edge_count) / 2  # several of lowest cost
        h, w = matrices(pool)[0], rng.normal(size=3)
        value, gradient = _core.forest_loss(pool[0], loss, w, costs)
        assert value == pytest.approx(LOSSES[loss](h @ w, costs), abs=1e-12)
        slope = [
            (LOSSES[loss](h @ (w + step), costs) - LOSSES[loss](h @ (w - step), costs)) / 2e-6
            for step in np.eye(3) * 1e-6
        ]
        assert gradient == pytest.approx(slope, abs=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_subgradient_where_the_loss_has_a_corner(loss: Any) -> None:
    """At w = 0 with equal costs everything ties; convex losses lie above their tangent."""
    pool = list_pool([np.array([[0.0, 1.0], [1.0, 0.0], [-1.0, -1.0]])])
    costs, zero = np.ones(3), np.zeros(2)
    value, gradient = _core.forest_loss(pool[0], loss, zero, costs)
    assert value == pytest.approx(LOSSES[loss](np.zeros(3), costs))
    if loss in ("perceptron", "hinge", "log"):
        for w in np.random.default_rng(1).normal(size=(50, 2)):
            assert LOSSES[loss](matrices(pool)[0] @ w, costs) >= value + gradient @ w - 1e-12


def test_large_scores_do_not_overflow() -> None:
    pool = list_pool([np.array([[800.0], [-800.0], [799.0]])])
    for loss in LOSSES:
        value, gradient = _core.forest_loss(pool[0], loss, np.array([10.0]), np.array([0.0, 1.0, 2.0]))
        assert np.isfinite(value)
        assert np.isfinite(gradient).all()


@pytest.mark.parametrize("loss", LOSSES)
def test_the_loss_of_a_pool_is_the_sum_over_its_lists(loss: Any) -> None:
    bleu = hf.Bleu()
    pool, stats, w, _, _ = setting(4, bleu, sparse=2)
    costs = 10 * (1 - bleu.sentence_gains(stats))
    parts = [_core.forest_loss(pool[i], loss, w, c) for i, c in enumerate(split(pool, costs))]
    for jobs in (1, 2):
        value, gradient = _core.pool_loss(pool, stats, bleu.core, costs, w, loss, jobs)
        assert value == pytest.approx(sum(v for v, _ in parts))
        assert gradient == pytest.approx(sum(g for _, g in parts))
