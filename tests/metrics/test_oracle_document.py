import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import hopefear as hf
from hopefear.metrics import OracleDocument
from tests.reference.bleu import bleu


@st.composite
def documents(draw: Any) -> Any:
    """An oracle document that has seen some sentences, and one more sentence."""
    K = draw(st.integers(1, 6))
    document = OracleDocument(K, draw(st.sampled_from([0.5, 0.9, 0.999, 1.0])))
    for _ in range(draw(st.integers(0, 4))):
        document.update(draw(sentences(K)))
    return document, draw(sentences(K))


@st.composite
def sentences(draw: Any, K: Any) -> Any:
    n1 = draw(st.integers(0, 30))
    n = [max(0, n1 - k) for k in range(K)]
    m = [draw(st.integers(0, x)) for x in n]
    return np.array([*m, *n, draw(st.integers(0, 40))], dtype=float)


@settings(max_examples=200, derandomize=True, deadline=None)
@given(documents())
def test_b_and_update_equal_the_formulas(case: Any) -> None:
    document, b = case
    K, bar = document.max_order, document.counts
    assert document.bleu() == pytest.approx(bleu(bar), abs=1e-12)
    assert document.bleu(b) == pytest.approx(bleu(bar + b), abs=1e-12)
    assert document.B(b) == pytest.approx(bar[K] * (bleu(bar + b) - bleu(bar)), abs=1e-9)  # eq. (3)
    np.testing.assert_array_equal(document.Bs(np.stack([b, b])), [document.B(b)] * 2)
    document.update(b)
    np.testing.assert_allclose(document.counts, document.decay * (bar + b), rtol=1e-15)
    document.counts = bar
    document.decay_and_add(b)
    np.testing.assert_allclose(document.counts, document.decay * bar + b, rtol=1e-15)


@settings(max_examples=200, derandomize=True, deadline=None)
@given(documents())
def test_linear_bleu_is_the_gradient(case: Any) -> None:
    document, _ = case
    K, bar, weights = document.max_order, document.counts, document.linear()
    if math.isclose(bar[K], bar[2 * K]):  # the corner of the brevity penalty: one-sided, towards a longer reference
        bar[2 * K] *= 1.0001
        document.counts = bar
        weights = document.linear()
    step = 1e-6 * np.maximum(bar, 1e-3)
    for i, h in enumerate(np.diag(step)):
        slope = (bleu(bar + h) - bleu(bar - h)) / (2 * step[i])
        assert weights[i] == pytest.approx(bar[K] * slope, rel=1e-4, abs=1e-7)


def test_linear_bleu_at_the_corner_counts_the_brevity_penalty() -> None:
    document = OracleDocument(2)  # n_1 = rho = 2, BLEU 1
    assert document.linear().tolist() == [0.5, 1.0, -0.5 + 1.0, -1.0, -1.0]


def test_start_and_messages() -> None:
    assert OracleDocument().counts.tolist() == [4, 3, 2, 1, 4, 3, 2, 1, 4]
    assert OracleDocument().bleu() == 1
    document = OracleDocument()
    for _ in range(20000):  # fades until nothing is left, and still no NaN
        document.update(np.zeros(9))
    assert document.bleu() >= 0 and document.B(hf.Bleu().corpus_stats(["a b c d"], [["a b c d"]])[0]) == 0
    for wrong in ({"decay": 0}, {"decay": 1.5}, {"decay": math.nan}, {"max_order": 0}):
        with pytest.raises(hf.InputError, match="oracle document"):
            OracleDocument(**wrong)
    with pytest.raises(hf.InputError, match="not negative"):
        document.counts = np.full(9, -1.0)
    with pytest.raises(ValueError, match="wrong number"):
        document.B(np.zeros(5))
