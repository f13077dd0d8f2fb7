"""Weights that run away: training stops, keeps the best so far and says which option to lower."""

import numpy as np
import pytest

import hopefear as hf
from hopefear.data.forests import forest_pool


def test_divergence_keeps_the_best_weights_so_far() -> None:
    pool = forest_pool(10, edges=100, source_length=5, dense=3, seed=2).kbest(np.ones(3), 30)
    result = hf.Rampion(eta=1e308, metric=hf.Bleu(max_order=2)).fit(pool)
    assert all(np.isfinite(list(result.weights.values())))
    assert len(result.warnings) == 1
    assert "diverged" in result.warnings[0] and "eta" in result.warnings[0]


@pytest.mark.parametrize("trainer", [hf.Kbmira(passes=2), hf.Pa(iterations=2)])
def test_a_good_run_has_no_warnings(trainer: hf.Kbmira) -> None:
    pool = forest_pool(10, edges=100, source_length=5, dense=3, seed=2).kbest(np.ones(3), 30)
    assert trainer.fit(pool).warnings == []
