"""Log loss: fits against a general optimiser."""

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

import hopefear as hf
from tests.reference.losses import LOSSES
from tests.trainers.pools import QUALITY, matrices, random_pool, split


@pytest.mark.parametrize("latent", [False, True])
def test_logloss_ends_at_the_optimum(latent: Any) -> None:
    pool = random_pool(6, sentences=10)
    result = hf.Logloss(metric=QUALITY, latent=latent, l2=0.01).fit(pool)
    lists, stats = matrices(pool), split(pool, QUALITY.stats(pool))
    loss = LOSSES["latentlog" if latent else "log"]

    def objective(w: Any) -> Any:
        return np.mean([loss(h @ w, 1 - s[:, 0]) for h, s in zip(lists, stats, strict=True)]) + 0.005 * w @ w

    expected = minimize(objective, np.zeros(3), method="BFGS", options={"gtol": 1e-9})
    assert [result.weights[name] for name in pool.feature_names] == pytest.approx(expected.x, abs=1e-3)
