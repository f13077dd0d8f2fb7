from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import hopefear as hf
from tests.metrics.strategies import corpora, lines
from tests.reference.rouge import rouge_s


@settings(max_examples=150, derandomize=True, deadline=None)
@given(corpora(lines(spaces=False)), st.integers(0, 5), st.sampled_from([0.5, 1, 1.5]))
def test_f_equals_the_definition(corpus: Any, skip: Any, beta: Any) -> None:
    hyps, refs = corpus
    metric = hf.RougeS(skip, beta)
    stats = metric.corpus_stats(hyps, refs)
    expected = []
    for i, hyp in enumerate(hyps):
        here = [r[i].split() for r in refs if r[i].strip()] or [[]]
        expected.append(rouge_s(hyp.split(), here, skip, beta))
    assert metric.sentence_gains(stats) == pytest.approx(expected, abs=1e-12)
    assert metric.score(stats.sum(axis=0)) == pytest.approx(100 * sum(expected) / len(expected))


def test_by_hand() -> None:
    # Lin and Och 2004, section 4: three of six pairs, two of six
    reference = "police killed the gunman"
    metric = hf.RougeS(skip=4)
    for text, matches in [
        ("police kill the gunman", 3),
        ("the gunman kill police", 1),
        ("the gunman police killed", 2),
    ]:
        (stats,) = metric.corpus_stats([text], [[reference]])
        assert stats[:3].tolist() == [matches, 6, 6]
        assert metric.score(stats) == pytest.approx(100 * matches / 6)
    assert metric.corpus_score(["a", "a", ""], [["a", "b", "b"]]) == pytest.approx(100 / 3)


def test_messages() -> None:
    with pytest.raises(hf.InputError, match="skip"):
        hf.RougeS(skip=-1)
    with pytest.raises(hf.InputError, match="beta"):
        hf.RougeS(beta=float("nan"))
