"""Trainers on forests: equal to the same thing on the list of all derivations, wherever that is defined."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

import hopefear as hf
from hopefear import Forest, Pool, _core
from hopefear.data.forests import forest_pool
from hopefear.trainers import find
from tests.reference import enumeration
from tests.strategies import weighted_forests
from tests.trainers.every import BATCH

LOSSES = [name for name, _ in _core.loss_names()]


@pytest.fixture(scope="module")
def pool() -> Pool:
    """Small enough to list all derivations."""
    small = forest_pool(6, edges=50, source_length=5, dense=3, references=2, seed=5)
    assert all(small[i].count_derivations() < 3000 for i in range(len(small)))
    return small


@pytest.fixture(scope="module")
def everything(pool: Pool) -> Pool:
    return pool.kbest(np.ones(3), 5000)


def test_error_surface_of_forests_is_that_of_all_derivations(pool: Pool, everything: Pool) -> None:
    bleu = hf.Bleu(max_order=2)
    rng = np.random.default_rng(1)
    stats = bleu.stats(everything)
    for _ in range(10):
        w, d = rng.normal(size=3), rng.normal(size=3)
        x, gain = _core.error_surface(pool, None, bleu.core, w, d, axis=False)
        x2, gain2 = _core.error_surface(everything, stats, bleu.core, w, d, axis=False)
        for at in rng.normal(scale=3, size=50):
            one = gain[np.searchsorted(x, at, side="right") - 1]
            two = gain2[np.searchsorted(x2, at, side="right") - 1]
            near = min(np.abs(x[1:] - at).min(initial=9), np.abs(x2[1:] - at).min(initial=9))
            assert near < 1e-9 or one == pytest.approx(two, abs=1e-12)


def test_mert_on_forests_is_mert_on_all_derivations(pool: Pool, everything: Pool) -> None:
    bleu = hf.Bleu(max_order=2)
    inf = np.full(3, np.inf)
    options = {
        "restarts": 4,
        "random_directions": 2,
        "max_passes": 20,
        "min_gain": 1e-6,
        "kick_rounds": 1,
        "kick_share": 0.3,
        "thorough": False,
        "seed": 7,
        "jobs": 0,
        "on_ascent": None,
    }
    rest = (np.full(3, 0.5), np.eye(3), -inf, inf)
    forests = _core.mert(pool, None, bleu.core, *rest, **options)
    lists = _core.mert(everything, bleu.stats(everything), bleu.core, *rest, **options)
    for (gain, w, lines), (gain2, w2, lines2) in zip(forests, lists, strict=True):
        assert (gain, lines) == (pytest.approx(gain2, abs=1e-9), lines2)
        assert w == pytest.approx(w2, rel=1e-6, abs=1e-9)
    start = bleu.gain(_core.one_best(pool, None, bleu.core, rest[0], jobs=1, places=None)[1])
    assert max(gain for gain, _, _ in forests) > start


@pytest.mark.parametrize("name", LOSSES)
@settings(max_examples=40, deadline=None, derandomize=True)
@given(case=weighted_forests())
def test_loss_on_a_forest_is_its_formula_on_all_derivations(name: str, case: tuple[Forest, np.ndarray]) -> None:
    forest, w = case
    all_edges = enumeration.derivations(forest)
    if not all_edges or len(all_edges) > 400:
        return
    costs = np.random.default_rng(forest.edge_count).integers(0, 3, size=forest.edge_count).astype(float)
    score = enumeration.scores(forest, w, all_edges)
    cost = np.array([costs[list(edges)].sum() for edges in all_edges])
    value, gradient = _core.forest_loss(forest, name, w, costs)
    assert value == pytest.approx(_loss(name, score, cost), rel=1e-9, abs=1e-7 * max(1.0, np.abs(score).max()))
    if name in ("softramp1", "softramp2", "softramp3", "risk", "jensen", "latentlog") and np.abs(score).max() < 50:
        step = np.random.default_rng(1).normal(size=w.size) * 1e-6
        rise = _core.forest_loss(forest, name, w + step, costs)[0] - _core.forest_loss(forest, name, w - step, costs)[0]
        assert rise / 2 == pytest.approx(float(gradient @ step), rel=1e-3, abs=1e-8)


def _loss(name: str, score: np.ndarray, cost: np.ndarray) -> float:
    """Gimpel and Smith (2012), figure 2, written out."""

    def soft(values: np.ndarray) -> float:
        return float(values.max() + np.log(np.exp(values - values.max()).sum()))

    best = score[cost == cost.min()]
    if name == "risk":
        p = np.exp(score - soft(score))
        return float(p @ cost)
    table = {
        "ramp1": (score.max(), (score + cost).max()),
        "ramp2": ((score - cost).max(), score.max()),
        "ramp3": ((score - cost).max(), (score + cost).max()),
        "softramp1": (soft(score), soft(score + cost)),
        "softramp2": (soft(score - cost), soft(score)),
        "softramp3": (soft(score - cost), soft(score + cost)),
        "latentperceptron": (best.max(), score.max()),
        "latentlog": (soft(best), soft(score)),
        "jensen": (soft(score), soft(score + cost)),
    }
    if name in table:
        up, down = table[name]
        return float(down - up)
    # One oracle, of equal ones the derivation that Viterbi on the cost meets first: any of them is right.
    down = {"perceptron": score.max(), "hinge": (score + cost).max(), "log": soft(score)}[name]
    return float(down - _first_oracle(score, cost))


def _first_oracle(score: np.ndarray, cost: np.ndarray) -> float:
    return float(score[int(np.argmin(cost))])


def test_every_trainer_learns_from_forests() -> None:
    pool = forest_pool(30, edges=600, source_length=8, dense=5, references=2, seed=3)
    options = {
        "mert": {"restarts": 2, "kicks": 0},
        "kbmira": {"passes": 10},
        "rampion": {"eta": 0.01},
        "pro": {"threshold": 0.01},
    }
    for trainer in BATCH:
        name = trainer.name
        start = dict.fromkeys(pool.feature_names, trainer.start_at)
        result = trainer(**options.get(name, {})).fit(pool, start)
        assert result.score > result.initial_score + 1, name
        assert set(result.weights) == set(pool.feature_names)
        again = trainer(**options.get(name, {}), jobs=1).fit(pool, start)
        assert again.weights == result.weights, name


@pytest.mark.parametrize("name", ["minrisk", "rampion"])
def test_approximate_shares_of_bleu_are_admitted(name: str) -> None:
    pool = forest_pool(10, edges=100, source_length=5, dense=4, references=2, seed=3)
    trainer = find(name, "candidates")(rounds=2)
    assert any("BLEU are approximate" in warning for warning in trainer.fit(pool).warnings)
    split = pool.split_by_ngrams(4)
    assert not trainer.fit(split).warnings
