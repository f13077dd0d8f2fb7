from typing import Any

import numpy as np
import pytest

import hopefear as hf


def pool_with_numbers(values: Any, name: str = "comet") -> Any:
    """One candidate list; NaN where a number is missing."""
    k = len(values)
    pool = hf.Pool()
    forest = hf.Forest.from_arrays(
        np.array([0, k], np.int32),
        np.zeros(k + 1, np.int32),
        np.zeros(0, np.int32),
        np.zeros(k + 1, np.int32),
        np.zeros(0, np.int32),
        np.zeros((k, 0)),
        pool.vocab,
        pool.features,
        numbers=np.array(values, dtype=float).reshape(k, 1),
    )
    pool.append("s1", forest)
    return pool


def test_messages() -> None:
    pool = pool_with_numbers([0.5, 0.7])
    with pytest.raises(hf.InputError, match="sentence s1: the candidates have no number called comet, nor any other"):
        hf.External("comet").stats(pool)
    with pytest.raises(hf.InputError, match="not computed from text"):
        hf.External("comet").corpus_stats(["a"], [["a"]])
    with pytest.raises(hf.InputError, match="scale"):
        hf.External("comet", scale=0)


def test_score_and_gain() -> None:
    stats = np.array([[0.5, 1], [0.7, 1]])
    assert hf.External("comet").score(stats.sum(axis=0)) == pytest.approx(0.6)
    assert hf.External("comet", scale=2).gain(stats.sum(axis=0)) == pytest.approx(0.3)
    assert hf.External("hter", higher_is_better=False).gain(stats.sum(axis=0)) == pytest.approx(-0.6)
    assert hf.External("hter", higher_is_better=False).sentence_gains(stats).tolist() == [-0.5, -0.7]
    assert "column:comet|higher:yes" in hf.External("comet").signature()
