"""The expected gain of lists: values by enumeration, gradients by differences."""

from typing import Any

import numpy as np
import pytest

import hopefear as hf
from hopefear import _core
from tests.reference import batch_trainers
from tests.trainers.pools import QUALITY, matrices, split
from tests.trainers.twins import setting

METRICS = [hf.Bleu(), hf.Ter(), hf.Chrf(), hf.RougeS(), QUALITY]


@pytest.mark.parametrize("corpus", [True, False], ids=["corpus", "sentence"])
@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_value_entropy_and_gradient(metric: Any, corpus: Any) -> None:
    for seed, T in enumerate((1.0, 0.3, 4.0)):
        pool, stats, w, _, _ = setting(seed, metric, sparse=2)
        gains, lists, rows = metric.sentence_gains(stats), matrices(pool), split(pool, stats)

        def twin(w: Any, T: Any = T, lists: Any = lists, rows: Any = rows, gains: Any = gains, pool: Any = pool) -> Any:
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
    gain, entropy, _ = _core.expected_gain(
        pool, stats, bleu.core, bleu.sentence_gains(stats), w, 1e-6, True, 0.0, jobs=1
    )
    assert gain == pytest.approx(bleu.gain(_core.one_best(pool, stats, bleu.core, w, jobs=1, places=None)[1]))
    assert entropy == pytest.approx(0)
