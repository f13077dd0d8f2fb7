from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import hopefear as hf
from hopefear.data import forests as synthetic_forests
from hopefear.metrics import OracleDocument
from tests.reference import enumeration as slow, forest_reranking as twin
from tests.strategies import WORDS, build, weighted_forests

REFERENCE = "Australia is one of the few countries that have diplomatic relations with North Korea"  # (14)


@st.composite
def cases(draw: Any, **options: Any) -> Any:
    forest, w = draw(weighted_forests(max_derivations=150, **options))
    K = draw(st.sampled_from([1, 2, 3, 4, 4, 5]))
    references = draw(st.lists(st.lists(st.integers(0, len(WORDS)), min_size=1, max_size=7), min_size=1, max_size=3))
    document = OracleDocument(K)
    for _ in range(draw(st.integers(0, 2))):
        counts = [draw(st.integers(0, 9)) for _ in range(K)]
        document.update(np.array(counts + [10.0 - k for k in range(K)] + [10.0]))
    return forest, w, references, document


def texts(references: Any) -> Any:
    return [" ".join([*WORDS, "unheard"][i] for i in reference) for reference in references]


def ids(references: Any) -> Any:
    return [[i if i < len(WORDS) else -1 for i in reference] for reference in references]


@given(cases(with_spans=True), st.sampled_from([-2.0, -1.0, -0.5, 0.5, 1.0]))
def test_forest_reranking_equals_the_twin_that_works_on_strings(case: Any, mu: Any) -> None:
    forest, w, references, document = case
    if forest.is_list:
        return
    ask = forest.hope if mu < 0 else forest.fear
    choice = ask(w, texts(references), document, mu)
    expected = twin.search(forest, w, ids(references), document.max_order, 1.0, -mu, document.B)
    assert tuple(choice.edges) == expected
    choice = forest.max_bleu(w, texts(references), document)
    expected = twin.search(forest, w, ids(references), document.max_order, 0.0, 1.0, document.B)
    assert tuple(choice.edges) == expected


@given(cases(with_spans=False))
def test_without_spans_a_node_has_the_share_of_its_words(case: Any) -> None:
    forest, w, references, document = case
    if forest.is_list:
        return
    # The share rests on the best derivation through a node: ask only where that is unique.
    everything = slow.derivations(forest)
    scores = slow.scores(forest, w, everything)
    if len(set(scores)) < len(scores):
        return
    choice = forest.hope(w, texts(references), document)
    expected = twin.search(forest, w, ids(references), document.max_order, 1.0, 1.0, document.B)
    assert tuple(choice.edges) == expected


@given(cases())
def test_what_is_found_is_rated_by_its_exact_statistics(case: Any) -> None:
    forest, w, references, document = case
    for approximation in ("forest", "linear", "kbest"):
        for choice in (
            forest.hope(w, texts(references), document, approximation=approximation),
            forest.fear(w, texts(references), document, approximation=approximation),
            forest.max_bleu(w, texts(references), document, approximation=approximation),
        ):
            b = twin.clipped(choice.words, ids(references), document.max_order)
            assert choice.stats.tolist() == b.tolist()
            assert choice.gain == document.B(b)
            assert choice.score == slow.scores(forest, w, [tuple(choice.edges)])[0]


def exact(forest: Any, w: Any, references: Any, document: Any, model: Any, gain: Any) -> Any:
    """The highest phi over all derivations, with the exact b."""
    everything = slow.derivations(forest)
    B = [document.B(twin.clipped(slow.yielded(forest, d), ids(references), document.max_order)) for d in everything]
    return (model * slow.scores(forest, w, everything) + gain * np.array(B)).max()


@given(cases(), st.sampled_from([-1.0, -0.25, 1.0]))
def test_kbest_with_k_large_enough_is_exact(case: Any, mu: Any) -> None:
    forest, w, references, document = case
    choice = forest.hope(w, texts(references), document, mu, approximation="kbest", k=10_000)
    assert choice.score - mu * choice.gain == pytest.approx(exact(*case, 1.0, -mu), abs=1e-9)
    choice = forest.max_bleu(w, texts(references), document, approximation="kbest", k=10_000)
    assert choice.gain == pytest.approx(exact(*case, 0.0, 1.0), abs=1e-9)
    one = forest.hope(w, texts(references), document, mu, approximation="kbest", k=1)
    assert tuple(one.edges) == tuple(forest.viterbi(w).edges)


@given(cases(shape="list"), st.sampled_from([-1.0, -0.25, 1.0]))
def test_a_list_is_searched_exactly(case: Any, mu: Any) -> None:
    forest, w, references, document = case
    choice = forest.hope(w, texts(references), document, mu)
    assert choice.score - mu * choice.gain == pytest.approx(exact(*case, 1.0, -mu), abs=1e-9)
    assert forest.max_bleu(w, texts(references), document).gain == pytest.approx(exact(*case, 0.0, 1.0), abs=1e-9)


@given(cases())
def test_mu_of_zero_is_viterbi(case: Any) -> None:
    forest, w, references, document = case
    assert tuple(forest.hope(w, texts(references), document, 0.0).edges) == tuple(forest.viterbi(w).edges)


def small_document(K: int) -> OracleDocument:
    """Hardly there: BLEU(b-bar + b) is BLEU(b)."""
    document = OracleDocument(K)
    document.counts = np.full(2 * K + 1, 1e-9)
    return document


def words_forest(nodes: list[list[tuple[list[int], str]]], lengths: list[int]) -> hf.Forest:
    """Edges as (tails, words), slots written [0] and [1]."""
    vocab = hf.Vocab()
    for text in REFERENCE.split():
        vocab.add(text)

    def word(text: str) -> int:
        return -1 - int(text[1:-1]) if text.startswith("[") else vocab.add(text)

    edges = [[{"tails": tails, "words": [word(t) for t in text.split()]} for tails, text in node] for node in nodes]
    return build(edges, dense_names=["a"], vocab=vocab, spans=[(0, n) for n in lengths])


def test_clipping_is_seen_only_after_the_search() -> None:
    forest = words_forest(
        [[([], "the few")], [([], "the countries")], [([0, 1], "[0] [1]"), ([0], "[0] is")]], [1, 1, 2]
    )
    document = small_document(1)
    # Unclipped, "the few the countries" (17) matches 4 of 4 words, "the few is" 3 of 3, and longer is better for the
    # brevity penalty. Clipped, it has 3 of 4.
    choice = forest.max_bleu([0.0], [REFERENCE], document)
    assert choice.text == "the few the countries"
    assert choice.stats.tolist() == [3, 4, 14]


def test_forest_reranking_misses_the_optimum_as_in_the_paper() -> None:
    # (20), with "to a" for the printed "with the": the paper counts four matches; and (21)
    twenty = "one of the few nations which maintain ties to a DPRK has been"
    twenty_one = "North Korea with relations diplomatic have that countries few the of one is"
    forest = words_forest([[([], twenty), ([], twenty_one)], [([0], "Australia [0]")]], [13, 14])
    document = small_document(2)
    by_forest = forest.max_bleu([0.0], [REFERENCE], document)
    by_list = forest.max_bleu([0.0], [REFERENCE], document, approximation="kbest")
    assert by_forest.text == f"Australia {twenty_one}"
    assert by_list.text == f"Australia {twenty}"
    assert by_list.gain > by_forest.gain


@pytest.mark.parametrize("K", [1, 2, 4, 9, 16])
def test_statistics_have_the_size_of_the_document(K: Any) -> None:
    forest = synthetic_forests.forest(300, source_length=6, seed=2)
    reference = forest.viterbi(np.ones(14)).text
    document = OracleDocument(K)
    for approximation in ("forest", "linear", "kbest"):
        choice = forest.hope(np.ones(14), [reference], document, approximation=approximation)
        assert len(choice.stats) == 2 * K + 1
        assert np.isfinite(choice.stats).all() and 0 <= document.bleu(choice.stats) <= 1


def test_pool_in_parallel_and_hope_above_best_above_fear() -> None:
    pool = synthetic_forests.forest_pool(12, 400, source_length=8, references=2, seed=5)
    w = np.random.default_rng(6).normal(size=14) * 0.1
    document = OracleDocument()
    document.counts = np.array([40.0, 20, 10, 5, 60, 50, 40, 30, 60])
    for approximation in ("forest", "linear", "kbest"):
        serial = pool.hope_fear(w, document, approximation=approximation, jobs=1)
        many = pool.hope_fear(w, document, approximation=approximation, jobs=3)
        for i, (a, b) in enumerate(zip(serial, many, strict=True)):
            refs = pool.references(i)
            single = pool[i].hope(w, refs, document, approximation=approximation)
            assert a.hope.edges.tolist() == b.hope.edges.tolist() == single.edges.tolist()
            single = pool[i].fear(w, refs, document, approximation=approximation)
            assert a.fear.edges.tolist() == b.fear.edges.tolist() == single.edges.tolist()
            assert a.best.edges.tolist() == pool[i].viterbi(w).edges.tolist()
            triple = pool[i].hope_fear(w, refs, document, approximation=approximation)
            for name in ("hope", "best", "fear"):
                assert getattr(a, name).edges.tolist() == getattr(triple, name).edges.tolist()
                assert getattr(a, name).stats.tolist() == getattr(triple, name).stats.tolist()
        gains = np.array([[t.hope.gain, t.best.gain, t.fear.gain] for t in serial]).mean(axis=0)
        assert gains[0] > gains[1] > gains[2]
    best = pool.max_bleu(w, document)
    assert np.mean([b.gain for b in best]) > np.mean([t.hope.gain for t in serial])


def test_forests_find_better_hope_and_fear_than_lists() -> None:
    """Figure 1: on average phi of what is found in the forest is above that of the 100-best list."""
    pool = synthetic_forests.forest_pool(20, 3000, source_length=15, references=2, seed=7)
    w = np.random.default_rng(8).normal(size=14) * 0.1
    document = OracleDocument()
    document.counts = np.array([40.0, 20, 10, 5, 60, 50, 40, 30, 60])
    by_forest = pool.hope_fear(w, document)
    by_list = pool.hope_fear(w, document, approximation="kbest", k=100)
    for sign, name in ((1, "hope"), (-1, "fear")):
        searched, listed = (
            np.mean([getattr(t, name).score + sign * getattr(t, name).gain for t in all_of])
            for all_of in (by_forest, by_list)
        )
        assert searched > listed


def test_errors() -> None:
    forest = words_forest([[([], "the few")]], [2])
    document = OracleDocument()
    with pytest.raises(hf.InputError, match="approximation must be forest, linear or kbest, not x"):
        forest.hope([1.0], [REFERENCE], document, approximation="x")
    with pytest.raises(hf.InputError, match="no reference"):
        forest.hope([1.0], [], document)
    with pytest.raises(hf.InputError, match="mu must be a finite number"):
        forest.hope([1.0], [REFERENCE], document, float("nan"))
    with pytest.raises(hf.InputError, match="at least 1"):
        forest.hope([1.0], [REFERENCE], document, k=0)
    dead = words_forest([[], [([0], "[0]")]], [1, 1])
    for approximation in ("forest", "linear", "kbest"):
        with pytest.raises(hf.InputError, match="no derivation"):
            dead.hope([1.0], [REFERENCE], document, approximation=approximation)
    with pytest.raises(hf.InputError, match="no candidate"):
        words_forest([[]], [1]).fear([1.0], [REFERENCE], document)
    pool = hf.Pool()
    pool.append("17", build([[]], dense_names=[], vocab=pool.vocab, features=pool.features), references=["a"])
    with pytest.raises(hf.InputError, match="sentence 17: the list has no candidate"):
        pool.hope_fear({}, document)
