"""``score_at`` is the inverse of ``gain`` for every kind of metric."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hopefear as hf
from hopefear.metrics import Metric

TEXTS = [["the cat sat on the mat", "a dog ran"], ["the cat sat on a mat", "the dog ran off"]]


@pytest.mark.parametrize(
    ("metric", "stats"),
    [
        (hf.Bleu(), None),
        (hf.Chrf(), None),
        (hf.Ter(), None),
        (hf.External("comet"), [1.7, 2.0]),
        (hf.External("cost", False, 10.0), [17.0, 2.0]),
        (hf.Wer(), None),
        (hf.Rate("errors", "length"), [3.0, 20.0]),
        (hf.Precision("hits", "found"), [3.0, 20.0]),
        (hf.Ndcg("grade"), [1.3, 2.0]),
    ],
)
def test_the_score_of_a_gain(metric: Metric, stats: Any) -> None:
    sums = np.array(stats) if stats else metric.corpus_stats(TEXTS[0], [TEXTS[1]]).sum(axis=0)
    assert metric.score_at(metric.gain(sums)) == pytest.approx(metric.score(sums))
    assert 0 < metric.score(sums) < 100
