"""Minimum risk and log loss: values by enumeration, gradients by differences, fits against a general optimiser."""

import numpy as np
import pytest
from scipy.optimize import minimize

import hopefear as hf
from hopefear import _core
from tests.reference import batch_trainers
from tests.reference.losses import LOSSES
from tests.trainers.pools import QUALITY, matrices, random_pool, split
from tests.trainers.twins import setting

METRICS = [hf.Bleu(), hf.Ter(), hf.Chrf(), hf.RougeS(), QUALITY]


@pytest.mark.parametrize("corpus", [True, False], ids=["corpus", "sentence"])
@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_value_entropy_and_gradient(metric, corpus) -> None:
    for seed, T in enumerate((1.0, 0.3, 4.0)):
        pool, stats, w, _, _ = setting(seed, metric, sparse=2)
        gains, lists, rows = metric.sentence_gains(stats), matrices(pool), split(pool, stats)

        def twin(w, T=T, lists=lists, rows=rows, gains=gains, pool=pool):
            return batch_trainers.expected_gain(lists, rows, metric.gain, split(pool, gains), w, T, corpus)

        for theta in (0.0, 0.7):
            gain, entropy, gradient = _core.expected_gain(pool, stats, metric.core, gains, w, T, corpus, theta, 1)
            assert (gain, entropy) == pytest.approx(twin(w), abs=1e-12)
            slope = [
                (np.subtract(twin(w + step), twin(w - step)) @ (1, theta)) / 2e-5 for step in np.eye(w.size) * 1e-5
            ]
            assert gradient == pytest.approx(slope, abs=1e-6)


def test_cold_is_the_metric_of_the_best() -> None:
    bleu = hf.Bleu()
    pool, stats, w, _, _ = setting(1, bleu)
    gain, entropy, _ = _core.expected_gain(pool, stats, bleu.core, bleu.sentence_gains(stats), w, 1e-6, True, 0.0)
    assert gain == pytest.approx(bleu.gain(_core.one_best(pool, stats, bleu.core, w)[1]))
    assert entropy == pytest.approx(0)


@pytest.mark.parametrize("expectation", ["corpus", "sentence"])
def test_minrisk_ends_at_a_local_optimum(expectation) -> None:
    pool = random_pool(6, sentences=10)
    trainer = hf.Minrisk(metric=QUALITY, expectation=expectation, l2=0.05, iterations=300)
    found = trainer.fit(pool)
    lists, stats = matrices(pool), split(pool, QUALITY.stats(pool))

    def objective(w):
        gain, _ = batch_trainers.expected_gain(lists, stats, QUALITY.gain, [s[:, 0] for s in stats], w, 1.0, False)
        return -gain + 0.025 * w @ w

    w = np.array([found.weights[name] for name in pool.feature_names])
    better = minimize(objective, w, method="BFGS", options={"gtol": 1e-9})
    assert better.x == pytest.approx(w, abs=1e-3)
    assert found.details["expected"] > 0


def test_annealing_ends_colder_and_better() -> None:
    pool = random_pool(3, sentences=30, candidates=8)
    warm = hf.Minrisk(metric=QUALITY, l2=1e-3).fit(pool)
    cold = hf.Minrisk(metric=QUALITY, l2=1e-3, final_temperature=0.05, anneal=5).fit(pool)
    assert cold.details["expected"] > warm.details["expected"]
    temperatures = [record["temperature"] for record in cold.history if "temperature" in record]
    assert temperatures == sorted(temperatures, reverse=True)


@pytest.mark.parametrize("latent", [False, True])
def test_logloss_ends_at_the_optimum(latent) -> None:
    pool = random_pool(6, sentences=10)
    found = hf.Logloss(metric=QUALITY, latent=latent, l2=0.01).fit(pool)
    lists, stats = matrices(pool), split(pool, QUALITY.stats(pool))
    loss = LOSSES["latentlog" if latent else "log"]

    def objective(w):
        return np.mean([loss(h @ w, 1 - s[:, 0]) for h, s in zip(lists, stats, strict=True)]) + 0.005 * w @ w

    expected = minimize(objective, np.zeros(3), method="BFGS", options={"gtol": 1e-9})
    assert [found.weights[name] for name in pool.feature_names] == pytest.approx(expected.x, abs=1e-3)


def test_a_wrong_expectation() -> None:
    with pytest.raises(hf.InputError, match="corpus or sentence"):
        hf.Minrisk(expectation="list").fit(random_pool(1))
