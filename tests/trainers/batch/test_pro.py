from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

import hopefear as hf
from hopefear import _core
from tests.reference import batch_trainers
from tests.trainers.pools import QUALITY, list_pool, matrices, planted_pool, random_pool, split


@pytest.mark.parametrize("keep", [5, 1000])
def test_pairs_are_sampled_as_the_paper_says(keep: Any) -> None:
    bleu = hf.Bleu()
    for seed in range(3):
        pool = random_pool(seed, sentences=8, candidates=7, sparse=3)
        stats = bleu.stats(pool)
        gains = split(pool, bleu.sentence_gains(stats))
        weighted = seed == 1
        ours = _core.sample_pairs(pool, stats, bleu.core, bleu.sentence_gains(stats), 60, 0.05, keep, weighted, seed, 1)
        x, differences = batch_trainers.pro_pairs(
            matrices(pool), gains, samples=60, threshold=0.05, keep=keep, seed=seed
        )
        assert len(ours) == len(x)
        assert ours.gain_difference == pytest.approx(differences)
        assert differences.min() >= 0.05
        w = np.random.default_rng(seed).normal(size=x.shape[1])
        value, gradient = ours.log_loss(w, jobs=1)
        share = (differences if weighted else np.ones(len(x))) / (differences.sum() if weighted else len(x))
        assert value == pytest.approx(share @ np.log1p(np.exp(-(x @ w))))
        assert gradient == pytest.approx(-share @ (x / (1 + np.exp(x @ w))[:, None]))


def test_the_classifier_is_fitted_to_the_end() -> None:
    pool = random_pool(2, sentences=12, candidates=8)
    options = {"samples": 200, "threshold": 0.05, "keep": 20}
    result = hf.Pro(metric=QUALITY, l2=0.01, seed=3, **options).fit(pool)
    pool = hf.merged([pool])
    x, _ = batch_trainers.pro_pairs(
        matrices(pool), split(pool, QUALITY.stats(pool)[:, 0]), seed=3 * 1_000_003 + 1, **options
    )
    expected = minimize(
        lambda w: np.log1p(np.exp(-(x @ w))).mean() + 0.005 * w @ w, np.zeros(3), method="BFGS", options={"gtol": 1e-9}
    )
    assert [result.weights[name] for name in pool.feature_names] == pytest.approx(expected.x, abs=1e-4)
    assert result.details["pairs"] == len(x)


def test_new_weights_are_mixed_with_the_old() -> None:
    pool, _ = planted_pool(1, 3, sentences=20)
    initial = {"f000": 1.0, "f001": -1.0, "f002": 0.5}
    whole = hf.Pro(metric=QUALITY).fit(pool, initial).weights
    mixed = hf.Pro(metric=QUALITY, interpolation=0.1).fit(pool, initial).weights
    assert mixed == pytest.approx({name: 0.9 * initial[name] + 0.1 * whole[name] for name in initial}, rel=1e-3)


def test_l1_leaves_features_out() -> None:
    pool, _ = planted_pool(1, 10, sentences=30)
    dense = hf.Pro(metric=QUALITY).fit(pool).weights
    lean = hf.Pro(metric=QUALITY, l1=0.05).fit(pool).weights
    assert all(dense.values())
    assert 0 < sum(value != 0 for value in lean.values()) < 10


def test_no_pair_differs_enough() -> None:
    pool = list_pool([np.eye(3)] * 2, numbers=[[0.50, 0.51, 0.52]] * 2)
    with pytest.raises(hf.InputError, match="Lower threshold"):
        hf.Pro(metric=QUALITY).fit(pool)
    assert hf.Pro(metric=QUALITY, threshold=0.0).fit(pool).score == pytest.approx(0.52)
