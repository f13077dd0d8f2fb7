"""Minimum risk: fits against a general optimiser."""

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

import hopefear as hf
from tests.reference import batch_trainers
from tests.trainers.pools import QUALITY, matrices, random_pool, split


@pytest.mark.parametrize("expectation", ["corpus", "sentence"])
def test_minrisk_ends_at_a_local_optimum(expectation: Any) -> None:
    pool = random_pool(6, sentences=10)
    trainer = hf.Minrisk(metric=QUALITY, expectation=expectation, l2=0.05, iterations=300)
    result = trainer.fit(pool)
    lists, stats = matrices(pool), split(pool, QUALITY.stats(pool))

    def objective(w: Any) -> Any:
        gain, _ = batch_trainers.expected_gain(lists, stats, QUALITY.gain, [s[:, 0] for s in stats], w, 1.0, False)
        return -gain + 0.025 * w @ w

    w = np.array([result.weights[name] for name in pool.feature_names])
    better = minimize(objective, w, method="BFGS", options={"gtol": 1e-9})
    assert better.x == pytest.approx(w, abs=1e-3)
    assert result.details["expected"] > 0


def test_annealing_ends_colder_and_better() -> None:
    pool = random_pool(3, sentences=30, candidates=8)
    warm = hf.Minrisk(metric=QUALITY, l2=1e-3).fit(pool)
    cold = hf.Minrisk(metric=QUALITY, l2=1e-3, final_temperature=0.05, anneal=5).fit(pool)
    assert cold.details["expected"] > warm.details["expected"]
    temperatures = [record["temperature"] for record in cold.history if "temperature" in record]
    assert temperatures == sorted(temperatures, reverse=True)


def test_a_wrong_expectation() -> None:
    with pytest.raises(hf.InputError, match="corpus or sentence"):
        hf.Minrisk(expectation="list").fit(random_pool(1))
