import math
from typing import Any

import numpy as np
import pytest
import sacrebleu
from hypothesis import given, settings, strategies as st

import hopefear as hf
from hopefear.metrics import tokenizers
from tests.metrics.strategies import as_sacrebleu_wants, corpora, lines, list_pool, real_documents, shared_lines
from tests.reference.bleu import bleu, bleu_plus_one, bleu_stats
from tests.shared_data import SHARED

REFERENCE = "Australia is one of the few countries that have diplomatic relations with North Korea"  # (14)


def stats_of(text: Any, *references: Any, **options: Any) -> Any:
    return hf.Bleu(**options).corpus_stats([text], [[r] for r in references])[0]


def test_clipping_examples_of_chiang_2012() -> None:
    assert stats_of("the few", REFERENCE)[0] == 2  # (15)
    assert stats_of("the countries", REFERENCE)[0] == 2  # (16)
    assert stats_of("the few the countries", REFERENCE)[0] == 3  # (17)


def test_bleu2_counter_example_of_chiang_2012() -> None:
    # (20) as printed has "ties with", a fifth unigram match, where the text counts four; "ties to" is what it means.
    one_of = "one of the few nations which maintain ties to the DPRK has been"  # (20)
    north = "North Korea with relations diplomatic have that countries few the of one is"  # (21)
    assert list(stats_of(one_of.replace("to", "with"), REFERENCE, max_order=2)) == [5, 3, 13, 12, 14]
    b20, b21 = (stats_of(text, REFERENCE, max_order=2) for text in (one_of, north))
    assert list(b20) == [4, 3, 13, 12, 14]
    assert list(b21) == [13, 1, 13, 12, 14]
    e20, e21 = (stats_of("Australia " + text, REFERENCE, max_order=2) for text in (one_of, north))
    metric = hf.Bleu(max_order=2)
    assert metric.score(b20) < metric.score(b21)
    assert metric.score(e20) > metric.score(e21)


@settings(max_examples=150, derandomize=True, deadline=None)
@given(
    corpora(lines(spaces=False), max_references=16),
    st.integers(1, 6),
    st.sampled_from(["closest", "shortest", "average"]),
)
def test_statistics_equal_the_formulas(corpus: Any, K: Any, length: Any) -> None:
    hyps, refs = corpus
    metric = hf.Bleu(max_order=K, reference_length=length)
    expected = [bleu_stats(hyp.split(), [r[i].split() for r in refs], K, length) for i, hyp in enumerate(hyps)]
    stats = metric.corpus_stats(hyps, refs)
    np.testing.assert_array_equal(stats, expected)
    np.testing.assert_allclose(metric.sentence_gains(stats), [bleu_plus_one(b) for b in expected], atol=1e-12)
    total = stats.sum(axis=0)
    if total[:K].min() > 0:
        assert math.isclose(metric.gain(total), bleu(list(total)), abs_tol=1e-12)


@settings(max_examples=300, derandomize=True, deadline=None)
@given(corpora(), st.booleans(), st.sampled_from(["none", "13a", "intl", "char", "zh"]), st.integers(1, 5))
def test_corpus_score_equals_sacrebleu(corpus: Any, lowercase: Any, tokenize: Any, K: Any) -> None:
    hyps, refs = corpus
    theirs = sacrebleu.BLEU(lowercase=lowercase, tokenize=tokenize, max_ngram_order=K, force=True)
    expected = theirs.corpus_score(hyps, as_sacrebleu_wants(refs)).score
    assert hf.Bleu(lowercase=lowercase, tokenize=tokenize, max_order=K).corpus_score(hyps, refs) == pytest.approx(
        expected, abs=1e-6
    )


@settings(max_examples=300, derandomize=True, deadline=None)
@given(
    lines(st.text(st.characters(exclude_categories=["Cs"]), max_size=5)),
    st.booleans(),
    st.sampled_from(["none", "13a"]),
)
def test_word_by_word_is_the_same_as_whole_lines(line: Any, lowercase: Any, tokenize: Any) -> None:
    whole = line.lower() if lowercase else line
    whole = tokenizers.line_tokenizer("13a")(whole).split() if tokenize == "13a" else whole.split()
    pool = tokenizers.corpus_pool([line], [[line]], tokenizers.preparation(tokenize, lowercase))
    assert pool.references(0)[0].split(" ") == (whole or [""])


def test_list_and_corpus_agree_under_every_tokenizer() -> None:
    hyps = ["The U.S. (1,000) x", "", "中文 a b", "a\u00a0b c"]
    refs = ["the U.S. is 1,000 .", "a b", "中 文 a", "a b c"]
    pool = list_pool([[hyp, ref] for hyp, ref in zip(hyps, refs, strict=True)], [[ref] for ref in refs])
    for tokenize in ["none", "13a", "intl", "zh", "char"]:
        metric = hf.Bleu(tokenize=tokenize, lowercase=True)
        rows = metric.stats(pool)
        np.testing.assert_array_equal(rows[0::2], metric.corpus_stats(hyps, [refs]))
        np.testing.assert_array_equal(rows[1::2], metric.corpus_stats(refs, [refs]))


def test_jobs_do_not_change_statistics() -> None:
    pool = list_pool([["a b c", "b c", ""]] * 50, [["a b c d", "b"]] * 50)
    np.testing.assert_array_equal(hf.Bleu().stats(pool, jobs=1), hf.Bleu().stats(pool, jobs=3))


def test_degenerate_documents() -> None:
    metric = hf.Bleu()
    assert metric.corpus_score([""], [["a b c d e"]]) == 0
    assert metric.corpus_score(["a"], [["a"]]) == 0  # as sacreBLEU: there are no 4-grams
    assert metric.corpus_score(["x y z u v"], [["a b c d e"]]) == 0
    assert metric.corpus_score([], [[]]) == 0
    assert list(stats_of("a b", "", "a b c")) == [2, 1, 0, 0, 2, 1, 0, 0, 3]
    assert list(stats_of("a b", "", "")) == [0, 0, 0, 0, 2, 1, 0, 0, 0]
    assert stats_of("a b", *["a"] * 16)[0] == 1
    assert metric.sentence_gains(np.array([stats_of("", "a"), stats_of("x", "a"), stats_of("a", "a")])).tolist() == [
        0,
        0,
        1,
    ]


def test_messages() -> None:
    with pytest.raises(hf.InputError, match="reference 1 has 2 lines, but there are 1 hypotheses"):
        hf.Bleu().corpus_stats(["a"], [["a"], ["a", "b"]])
    with pytest.raises(hf.InputError, match="there are no references"):
        hf.Bleu().corpus_stats(["a"], [])
    for tokenize in ("none", "13a", "intl"):
        with pytest.raises(hf.InputError, match="sentence 2: there is no reference"):
            hf.Bleu(tokenize=tokenize).corpus_stats(["a", "b"], [["a", None], ["", None]])
    for bad in (["\ud800"], [1], [None]):
        with pytest.raises(hf.InputError, match="valid Unicode"):
            hf.Bleu().corpus_stats(bad, [["a"]])
    with pytest.raises(hf.InputError, match="list of lists"):
        hf.Bleu().corpus_stats(["a"], ["a"])
    with pytest.raises(hf.InputError, match="sentence 0: there is no reference"):
        hf.Bleu().stats(list_pool([["a"]], [[]]))
    with pytest.raises(hf.InputError, match="max_order"):
        hf.Bleu(max_order=0)
    with pytest.raises(hf.InputError, match="closest, shortest or average"):
        hf.Bleu(reference_length="longest")
    with pytest.raises(hf.InputError, match="there is no martian"):
        hf.Bleu(tokenize="martian").corpus_stats(["a"], [["a"]])
    with pytest.raises(hf.InputError, match="there is no metric blue"):
        hf.metrics.by_name("blue")
    with pytest.raises(hf.InputError, match=r"metric bleu: .*unexpected"):
        hf.metrics.by_name("bleu", color=1)


def test_signature() -> None:
    assert hf.Bleu().signature(4) == f"nrefs:4|case:mixed|eff:no|tok:none|smooth:exp|version:hopefear-{hf.__version__}"
    assert "order:2|length:shortest" in hf.Bleu(max_order=2, reference_length="shortest", lowercase=True).signature()


@pytest.mark.parametrize("hyps,refs", real_documents(limit=600))
@pytest.mark.parametrize("tokenize,lowercase", [("none", False), ("13a", True)])
def test_real_documents_equal_sacrebleu(hyps: Any, refs: Any, tokenize: Any, lowercase: Any) -> None:
    theirs = sacrebleu.BLEU(lowercase=lowercase, tokenize=tokenize, force=True)
    expected = theirs.corpus_score(hyps, as_sacrebleu_wants(refs)).score
    ours = hf.Bleu(lowercase=lowercase, tokenize=tokenize)
    assert ours.corpus_score(hyps, refs) == pytest.approx(expected, abs=1e-6)


@pytest.mark.skipif(SHARED is None, reason="shared data is not here")
def test_13a_word_by_word_on_real_text() -> None:
    line13a = tokenizers.line_tokenizer("13a")
    for data in ["es-en-fisher/dev.en.0", "ur-en-indian/raw/dev.en.0", "ur-en-indian/raw/dev.ur"]:
        text = shared_lines(data)
        pool = tokenizers.corpus_pool(text, [text], tokenizers.preparation("13a", False))
        assert [pool.references(i)[0] for i in range(len(text))] == [line13a(line) for line in text]
