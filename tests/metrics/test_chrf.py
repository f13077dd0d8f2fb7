from typing import Any

import numpy as np
import pytest
import sacrebleu
from hypothesis import given, settings, strategies as st

import hopefear as hf
from tests.metrics.strategies import as_sacrebleu_wants, corpora, lines, real_documents
from tests.reference.chrf import chrf_stats


@settings(max_examples=100, derandomize=True, deadline=None)
@given(corpora(lines(spaces=False)), st.integers(0, 6), st.integers(1, 3), st.sampled_from([0.5, 1, 2]))
def test_statistics_equal_the_definition(corpus: Any, char_order: Any, word_order: Any, beta: Any) -> None:
    hyps, refs = corpus
    stats = hf.Chrf(char_order, word_order, beta).corpus_stats(hyps, refs)
    for i, hyp in enumerate(hyps):
        here = [r[i] for r in refs if r[i].strip()] or [""]
        assert stats[i].tolist() == chrf_stats(hyp, here, char_order, word_order, beta)


@settings(max_examples=200, derandomize=True, deadline=None)
@given(
    corpora(max_references=16),
    st.booleans(),
    st.sampled_from([(6, 0), (6, 2), (0, 2), (3, 1)]),
    st.sampled_from([1, 2, 3]),
)
def test_corpus_score_equals_sacrebleu(corpus: Any, lowercase: Any, orders: Any, beta: Any) -> None:
    hyps, refs = corpus
    theirs = sacrebleu.CHRF(*orders, beta=beta, lowercase=lowercase).corpus_score(hyps, as_sacrebleu_wants(refs))
    ours = hf.Chrf(*orders, beta, lowercase=lowercase).corpus_score(hyps, refs)
    assert ours == pytest.approx(theirs.score, abs=1e-6)


@pytest.mark.parametrize("hyps,refs", real_documents(limit=200))
@pytest.mark.parametrize("word_order", [0, 2])
def test_real_documents_equal_sacrebleu(hyps: Any, refs: Any, word_order: Any) -> None:
    theirs = sacrebleu.CHRF(word_order=word_order).corpus_score(hyps, as_sacrebleu_wants(refs))
    assert hf.Chrf(word_order=word_order).corpus_score(hyps, refs) == pytest.approx(theirs.score, abs=1e-6)


def test_degenerate_documents() -> None:
    metric = hf.Chrf()
    assert metric.corpus_score([""], [["abc"]]) == 0
    assert metric.corpus_score(["a"], [["a"]]) == 100
    assert metric.corpus_score(["x"], [["abc"]]) == 0
    assert metric.corpus_score([], [[]]) == 0
    assert metric.gain(metric.corpus_stats(["日本語"], [["日本語"]])[0]) == 1
    # combining marks are characters of their own: e + acute is two of them, é one
    assert metric.corpus_stats(["e\u0301"], [["é"]])[0][:3].tolist() == [2, 1, 0]


def test_messages() -> None:
    for wrong in ((0, 0), (-1, 2), (6, 99)):
        with pytest.raises(hf.InputError, match="char_order and word_order"):
            hf.Chrf(*wrong)
    with pytest.raises(hf.InputError, match="beta"):
        hf.Chrf(beta=0)


def test_signature() -> None:
    assert "case:lc|eff:yes|nc:6|nw:2|space:no|" in hf.Chrf(word_order=2, lowercase=True).signature()
    assert "beta:1.5" in hf.Chrf(beta=1.5).signature()


def test_candidates_do_not_disturb_each_other() -> None:
    metric = hf.Chrf(word_order=2)
    hyps = ["a b c", "", "c b a a a", "a b c"]
    one_by_one = np.vstack([metric.corpus_stats([hyp], [["a b c a"], ["b"]]) for hyp in hyps])
    from tests.metrics.strategies import list_pool

    np.testing.assert_array_equal(metric.stats(list_pool([hyps], [["a b c a", "b"]])), one_by_one)
