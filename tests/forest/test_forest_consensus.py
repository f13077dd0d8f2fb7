"""Consensus over whole forests against all derivations, one by one."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from hopefear._core import forest_consensus
from hopefear.decode.consensus import best_by_consensus
from tests.forest.pools import random_pool
from tests.forest.test_hope_fear import cases
from tests.reference import enumeration as slow
from tests.reference.consensus import expected_gains, linear_bleu


@given(cases())
def test_expected_counts_are_those_of_all_derivations(case: Any) -> None:
    forest, w, _, _ = case
    for scale in (0.0, 0.7):
        w_of = {name: float(value) for name, value in zip(forest.features.names(), w, strict=True)}
        texts, scores = [], []
        for derivation in forest.kbest(w_of, 100_000):
            texts.append(" ".join(forest.vocab[word] for word in slow.yielded(forest, derivation.edges.tolist())))
            scores.append(scale * derivation.score)
        top = max(scores)
        weights = [math.exp(score - top) for score in scores]
        p = [weight / sum(weights) for weight in weights]
        wanted = dict(zip(texts, linear_bleu(texts, p), strict=True))
        (got,) = forest_consensus([forest], np.asarray(w, np.float64), scale, 100_000)
        assert len(got) == len(wanted)
        for text, gain in got:
            assert gain == pytest.approx(wanted[text], abs=1e-9)


def test_the_best_of_forests() -> None:
    pool = random_pool(5)
    weights = {"a": 0.4, "b": -0.3, "sparse": 0.2}
    w = np.array([weights[name] for name in pool.feature_names])
    translations = forest_consensus(list(pool), w, 0.5, 100)
    for best, own in zip(best_by_consensus(pool, weights, "bleu", 0.5), translations, strict=True):
        assert dict(own)[best] == max(gain for _, gain in own)
    for metric in ("chrf", "ter"):  # of the k best strings
        for forest, best in zip(pool, best_by_consensus(pool, weights, metric, 0.5, candidates=9), strict=True):
            translations = forest.kbest(weights, 9, True)
            p = [math.exp(0.5 * (translation.score - translations[0].score)) for translation in translations]  # type: ignore[attr-defined]
            texts = [translation.text for translation in translations]  # type: ignore[attr-defined]
            gains = dict(zip(texts, expected_gains(metric, texts, p), strict=True))
            assert gains[best] == pytest.approx(max(gains.values()), abs=1e-9)
