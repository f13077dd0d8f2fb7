from typing import Any

import numpy as np
import pytest
from hypothesis import given

import hopefear as hf
from hopefear.data import forests as synthetic_forests
from hopefear.metrics import OracleDocument
from tests.forest.test_hope_fear import cases, ids, texts
from tests.reference import enumeration as slow, forest_reranking as twin
from tests.strategies import build


def linear(words: Any, references: Any, document: Any) -> Any:
    """lambda.b with b counted on the words, without the term of rho."""
    return document.linear()[:-1] @ twin.unclipped(words, ids(references), document.max_order)


@given(cases())
def test_gains_of_edges_sum_to_linear_bleu_of_the_words_wherever_they_are_exact(case: Any) -> None:
    forest, w, references, document = case
    gains, exact = forest.linear_gains(w, texts(references), document)
    assert len(gains) == forest.edge_count
    if exact:
        for edges in slow.derivations(forest):
            expected = linear(slow.yielded(forest, edges), references, document)
            assert gains[list(edges)].sum() == pytest.approx(expected, abs=1e-9)
    best = forest.viterbi(w)  # always exact for the best derivation: its ends are the ones that were looked at
    assert gains[best.edges].sum() == pytest.approx(linear(best.words, references, document), abs=1e-9)


@given(cases())
def test_splitting_keeps_the_derivations_and_makes_gains_exact(case: Any) -> None:
    forest, w, references, document = case
    split, origin = forest.split_by_ngrams(texts(references), document.max_order)
    assert split.count_derivations() == forest.count_derivations()
    old = sorted(tuple(int(e) for e in d.edges) for d in forest.kbest(w, 10_000))
    new = sorted(tuple(int(origin[e]) for e in d.edges) for d in split.kbest(w, 10_000))
    assert old == new
    np.testing.assert_array_equal(split.scores(w), forest.scores(w)[origin])
    gains, exact = split.linear_gains(w, texts(references), document)
    assert exact
    total = 0.0
    everything = slow.derivations(split)
    p = np.exp(slow.scores(split, w, everything) - split.log_z(w))
    for edges, q in zip(everything, p, strict=True):
        expected = linear(slow.yielded(split, edges), references, document)
        assert gains[list(edges)].sum() == pytest.approx(expected, abs=1e-9)
        total += q * expected
    assert split.expectations(w, gains).gain == pytest.approx(total, abs=1e-9)


@given(cases())
def test_hope_by_linear_bleu_is_exact_on_a_split_forest(case: Any) -> None:
    forest, w, references, document = case
    split, _ = forest.split_by_ngrams(texts(references), document.max_order)
    hope = split.hope(w, texts(references), document, approximation="linear")
    everything = slow.derivations(split)
    B = [linear(slow.yielded(split, d), references, document) for d in everything]
    best = (slow.scores(split, w, everything) + np.array(B)).max()
    assert hope.score + linear(hope.words, references, document) == pytest.approx(best, abs=1e-9)


@given(cases(shape="list"))
def test_lists_need_no_splitting(case: Any) -> None:
    forest, w, references, document = case
    gains, exact = forest.linear_gains(w, texts(references), document)
    assert exact
    for e in range(forest.edge_count):
        assert gains[e] == pytest.approx(linear(slow.words(forest, e), references, document), abs=1e-9)
    split, origin = forest.split_by_ngrams(texts(references), document.max_order)
    assert split.is_list and origin.tolist() == list(range(forest.edge_count))


def test_a_decoders_nodes_fix_what_matters() -> None:
    # two nodes for "x a" and "y a" would be one to a bigram model: b follows either
    edges = [{"words": [0, 2]}, {"words": [1, 2]}]
    forest = build([edges, [{"tails": [0], "words": [-1, 3]}]], dense_names=["a"])
    bigrams, trigrams = OracleDocument(2), OracleDocument(3)
    assert forest.linear_gains([0.0], ["the countries that"], bigrams)[1]
    assert not forest.linear_gains([0.0], ["the countries that"], trigrams)[1]
    # the first word of either makes no difference where no reference goes on with it
    assert forest.linear_gains([0.0], ["countries that", "the few"], trigrams)[1]


def test_pool() -> None:
    pool = synthetic_forests.forest_pool(5, 200, source_length=5, seed=1)
    w = np.random.default_rng(1).normal(size=14)
    document = OracleDocument()
    gains, exact = pool.linear_gains(w, document)
    offsets = pool.edge_offsets()
    assert not exact and len(gains) == offsets[-1]
    for i in range(len(pool)):
        single, _ = pool[i].linear_gains(w, pool.references(i), document)
        assert gains[offsets[i] : offsets[i + 1]].tolist() == single.tolist()
    split = pool.split_by_ngrams()
    assert split.linear_gains(w, document)[1]
    assert [split[i].count_derivations() for i in range(5)] == [pool[i].count_derivations() for i in range(5)]
    with pytest.raises(hf.InputError, match=r"sentence 0: .*Prune it first"):
        pool.split_by_ngrams(max_edges=100)
