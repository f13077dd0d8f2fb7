"""RAMPION is its algorithm, for every loss."""

from typing import Any

import numpy as np
import pytest

import hopefear as hf
from hopefear import _core
from tests.reference import batch_trainers
from tests.reference.losses import LOSSES
from tests.reference.splitmix import SplitMix64
from tests.trainers.pools import matrices, split
from tests.trainers.twins import epochs, same, setting

SMOOTH = {name for name in LOSSES if name.startswith("soft")} | {"log", "latentlog", "risk", "jensen"}


def settings(
    pool: Any, stats: Any, metric: Any, loss: Any, seed: Any = 1, shuffle: bool = False, **changed: Any
) -> Any:
    options = {"loss": loss, "eta": 0.01, "C": 1.0, "cccp": 3, "passes": 2} | changed
    costs = 10 * (1 - metric.sentence_gains(stats))
    rest = {"gain": "plus1", "decay": 0.999, "alpha": 10.0}
    return costs, options, rest | {"l1": 0.0, "seed": seed, "shuffle": shuffle, "jobs": 1}


@pytest.mark.parametrize("loss", LOSSES)
def test_rampion_as_the_algorithm_is_printed(loss: Any) -> None:
    bleu = hf.Bleu()
    for seed in range(3):
        pool, stats, w, lower, upper = setting(seed, bleu)
        costs, options, rest = settings(pool, stats, bleu, loss)
        ours, last = epochs(_core.rampion, pool, stats, bleu.core, costs, w, w, lower, upper, **options, **rest)
        lists, rows = matrices(pool), split(pool, stats)
        fixed = split(pool, costs)
        twin = batch_trainers.rampion(lists, rows, bleu.score, lambda _, fixed=fixed: fixed, w, **options)
        # A weight is shrunk when it is next used: within a pass some lag by a sentence's share of eta C.
        same(ours, twin, tolerance=1e-9 if loss not in SMOOTH else 1e-5)
        assert last.tolist() == ours[-1][1].tolist()


@pytest.mark.parametrize("metric", [hf.Bleu(), hf.Ter()], ids=lambda metric: metric.name)
@pytest.mark.parametrize("gain", ["plus1", "linear", "background"])
def test_costs_are_those_around_the_beginning_of_an_iteration(gain: Any, metric: Any) -> None:
    for seed in range(3):
        pool, stats, w, lower, upper = setting(seed, metric)
        _, options, rest = settings(pool, stats, metric, "ramp3")
        ours, _ = epochs(
            _core.rampion,
            pool,
            stats,
            metric.core,
            None,
            w,
            w,
            lower,
            upper,
            **options,
            **(rest | {"gain": gain, "alpha": 5.0}),
        )
        lists, rows = matrices(pool), split(pool, stats)
        gains_at = batch_trainers.GAINS[gain](lists, rows, metric)

        def costs_at(w: Any, gains_at: Any = gains_at) -> Any:
            return [5 * (1 - each) for each in gains_at(w)]

        same(ours, batch_trainers.rampion(lists, rows, metric.score, costs_at, w, **options), 1e-9)


def test_theta_0_is_not_where_it_starts() -> None:
    """Line 11 pulls towards the weights of line 1, in every decoding: theta goes on from the decoding before."""
    bleu = hf.Bleu()
    for seed in range(3):
        pool, stats, w, lower, upper = setting(seed, bleu)
        theta_0 = w + np.array([0.5, -1.0, 2.0])
        costs, options, rest = settings(pool, stats, bleu, "ramp3", C=20.0)
        ours, _ = epochs(_core.rampion, pool, stats, bleu.core, costs, w, theta_0, lower, upper, **options, **rest)
        lists, rows, fixed = matrices(pool), split(pool, stats), split(pool, costs)
        twin = batch_trainers.rampion(
            lists, rows, bleu.score, lambda _, fixed=fixed: fixed, theta_0, start=w, **options
        )
        same(ours, twin, tolerance=1e-9)


def test_an_anchor_is_in_the_units_of_the_weights() -> None:
    """With so strong a pull, theta_0 is what is learnt, scaled features or not."""
    pool, _, _, _, _ = setting(1, hf.Bleu())
    names = pool.feature_names
    anchor, start = dict(zip(names, (0.5, -0.25, 1.0), strict=True)), dict.fromkeys(names, 0.1)
    for scaling in ("none", "dense"):
        learner = hf.Rampion(scaling=scaling, eta=1e-6, C=1e5, cccp=40)
        result = learner.fit_towards(anchor, pool, start).weights
        assert [result[name] for name in names] == pytest.approx([0.5, -0.25, 1.0], abs=0.01)
        assert [learner.fit(pool, start).weights[name] for name in names] == pytest.approx([0.1] * 3, abs=0.01)


def test_rampion_in_random_order() -> None:
    bleu = hf.Bleu()
    pool, stats, w, lower, upper = setting(3, bleu)
    costs, options, rest = settings(pool, stats, bleu, "ramp3", seed=7, shuffle=True)
    ours, _ = epochs(_core.rampion, pool, stats, bleu.core, costs, w, w, lower, upper, **options, **rest)
    random, sentences = SplitMix64(7), list(range(len(pool)))

    def order() -> Any:
        random.shuffle(sentences)
        return list(sentences)

    lists, rows = matrices(pool), split(pool, stats)
    same(
        ours,
        batch_trainers.rampion(lists, rows, bleu.score, lambda _: split(pool, costs), w, **options, order=order),
        1e-9,
    )


def test_rampion_with_sparse_features_and_a_strong_pull() -> None:
    bleu = hf.Bleu()
    pool, stats, w, lower, upper = setting(5, bleu, sparse=3)
    costs, options, rest = settings(pool, stats, bleu, "ramp3", C=20.0)
    ours, _ = epochs(_core.rampion, pool, stats, bleu.core, costs, w, w, lower, upper, **options, **rest)
    twin = batch_trainers.rampion(
        matrices(pool), split(pool, stats), bleu.score, lambda _: split(pool, costs), w, **options
    )
    same(ours, twin, tolerance=1e-9)


def test_rampion_stays_within_bounds_and_l1_keeps_weights_where_they_were() -> None:
    bleu = hf.Bleu()
    pool, stats, _, _, _ = setting(3, bleu)
    costs, options, rest = settings(pool, stats, bleu, "ramp3", eta=0.1)
    w, lower, upper = np.array([0.1, 0.0, 0.3]), np.array([0.1, -0.05, 0.0]), np.array([0.1, 0.05, np.inf])
    ours, _ = epochs(_core.rampion, pool, stats, bleu.core, costs, w, w, lower, upper, **options, **rest)
    for _, theta in ours:
        assert (lower <= theta).all()
        assert (theta <= upper).all()
    free = np.full(3, np.inf)
    _, held = epochs(_core.rampion, pool, stats, bleu.core, costs, w, w, -free, free, **options, **(rest | {"l1": 1e4}))
    assert held.tolist() == w.tolist()
