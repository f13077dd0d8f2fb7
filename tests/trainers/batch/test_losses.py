"""Each declared loss is its formula, each gradient is the slope, and RAMPION is its algorithm."""

import numpy as np
import pytest

import hopefear as hf
from hopefear import _core
from tests.reference import batch_trainers
from tests.reference.losses import LOSSES
from tests.reference.splitmix import SplitMix64
from tests.trainers.pools import list_pool, matrices, random_pool, split
from tests.trainers.twins import epochs, same, setting

SMOOTH = {name for name in LOSSES if name.startswith("soft")} | {"log", "latentlog", "risk", "jensen"}


def test_every_loss_is_declared() -> None:
    assert {name for name, _ in _core.loss_names()} == set(LOSSES)
    with pytest.raises(hf.InputError, match="there is no loss 'ramp4'"):
        hf.Rampion(loss="ramp4").fit(random_pool(1))


@pytest.mark.parametrize("loss", LOSSES)
def test_the_value_by_enumeration_and_the_slope_by_differences(loss) -> None:
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
def test_a_subgradient_where_the_loss_has_a_corner(loss) -> None:
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
def test_the_loss_of_a_pool_is_the_sum_over_its_lists(loss) -> None:
    bleu = hf.Bleu()
    pool, stats, w, _, _ = setting(4, bleu, sparse=2)
    costs = 10 * (1 - bleu.sentence_gains(stats))
    parts = [_core.forest_loss(pool[i], loss, w, c) for i, c in enumerate(split(pool, costs))]
    for jobs in (1, 2):
        value, gradient = _core.pool_loss(pool, stats, bleu.core, costs, w, loss, jobs)
        assert value == pytest.approx(sum(v for v, _ in parts))
        assert gradient == pytest.approx(sum(g for _, g in parts))


def settings(pool, stats, metric, loss, seed=1, shuffle=False, **changed):
    options = {"loss": loss, "eta": 0.01, "C": 1.0, "cccp": 3, "passes": 2} | changed
    costs = 10 * (1 - metric.sentence_gains(stats))
    return costs, options, {"l1": 0.0, "seed": seed, "shuffle": shuffle, "jobs": 1}


@pytest.mark.parametrize("loss", LOSSES)
def test_rampion_as_the_algorithm_is_printed(loss) -> None:
    bleu = hf.Bleu()
    for seed in range(3):
        pool, stats, w, lower, upper = setting(seed, bleu)
        costs, options, rest = settings(pool, stats, bleu, loss)
        ours, last = epochs(_core.rampion, pool, stats, bleu.core, costs, w, lower, upper, **options, **rest)
        lists, rows = matrices(pool), split(pool, stats)
        twin = batch_trainers.rampion(lists, rows, bleu.score, split(pool, costs), w, **options)
        # A weight is shrunk when it is next used: within a pass some lag by a sentence's share of eta C.
        same(ours, twin, tolerance=1e-9 if loss not in SMOOTH else 1e-5)
        assert last.tolist() == ours[-1][1].tolist()


def test_rampion_in_random_order() -> None:
    bleu = hf.Bleu()
    pool, stats, w, lower, upper = setting(3, bleu)
    costs, options, rest = settings(pool, stats, bleu, "ramp3", seed=7, shuffle=True)
    ours, _ = epochs(_core.rampion, pool, stats, bleu.core, costs, w, lower, upper, **options, **rest)
    random, sentences = SplitMix64(7), list(range(len(pool)))

    def order():
        random.shuffle(sentences)
        return list(sentences)

    lists, rows = matrices(pool), split(pool, stats)
    same(ours, batch_trainers.rampion(lists, rows, bleu.score, split(pool, costs), w, **options, order=order), 1e-9)


def test_rampion_with_sparse_features_and_a_strong_pull() -> None:
    bleu = hf.Bleu()
    pool, stats, w, lower, upper = setting(5, bleu, sparse=3)
    costs, options, rest = settings(pool, stats, bleu, "ramp3", C=20.0)
    ours, _ = epochs(_core.rampion, pool, stats, bleu.core, costs, w, lower, upper, **options, **rest)
    twin = batch_trainers.rampion(matrices(pool), split(pool, stats), bleu.score, split(pool, costs), w, **options)
    same(ours, twin, tolerance=1e-9)


def test_rampion_stays_within_bounds_and_l1_keeps_weights_where_they_were() -> None:
    bleu = hf.Bleu()
    pool, stats, _, _, _ = setting(3, bleu)
    costs, options, rest = settings(pool, stats, bleu, "ramp3", eta=0.1)
    w, lower, upper = np.array([0.1, 0.0, 0.3]), np.array([0.1, -0.05, 0.0]), np.array([0.1, 0.05, np.inf])
    ours, _ = epochs(_core.rampion, pool, stats, bleu.core, costs, w, lower, upper, **options, **rest)
    for _, theta in ours:
        assert (lower <= theta).all()
        assert (theta <= upper).all()
    free = np.full(3, np.inf)
    held = _core.rampion(pool, stats, bleu.core, costs, w, -free, free, **options, **(rest | {"l1": 1e4}))
    assert held.tolist() == w.tolist()
