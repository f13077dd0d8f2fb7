"""Passive-aggressive updates; the equations are tested with those of the perceptron."""

import pytest

import hopefear as hf
from tests.trainers.pools import random_pool


def test_the_last_pass_is_returned_where_it_is_wanted() -> None:
    """In a loop around a decoder: the pass that looks best on the old lists may be the one before the first."""
    differ = 0
    for seed in range(10):
        pool = random_pool(seed)
        start = dict.fromkeys(pool.feature_names, 0.5)
        best, last = (hf.Pa(iterations=1, C=1.0, returned=which).fit(pool, start) for which in ("best", "last"))
        assert last.weights != start
        differ += best.weights != last.weights
        if best.weights != last.weights:
            assert best.weights == pytest.approx(start)
    assert differ > 0
    with pytest.raises(hf.InputError, match="best or last"):
        hf.Pa(returned="first").fit(pool)


def test_a_wrong_objective() -> None:
    with pytest.raises(hf.InputError, match="sentence_objective"):
        hf.Pa(sentence_objective="bleu").fit(random_pool(1))
