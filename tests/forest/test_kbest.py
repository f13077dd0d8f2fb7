from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import hopefear as hf
from tests.forest.pools import random_pool
from tests.reference import enumeration as slow
from tests.strategies import build, forests, values, weighted_forests


@given(weighted_forests(), st.integers(0, 500))
def test_is_the_head_of_the_sorted_enumeration(case: Any, k: Any) -> None:
    forest, w = case
    everything = slow.derivations(forest)
    translations = forest.kbest(w, k)
    expected = np.sort(slow.scores(forest, w, everything))[::-1][:k]
    assert [d.score for d in translations] == expected.tolist()
    edges = [tuple(int(e) for e in d.edges) for d in translations]
    assert len(set(edges)) == len(edges) and set(edges) <= set(everything)
    assert [slow.scores(forest, w, [e])[0] for e in edges] == expected.tolist()


@given(weighted_forests(), st.integers(0, 500))
def test_distinct_gives_each_string_its_best_derivation(case: Any, k: Any) -> None:
    forest, w = case
    everything = slow.derivations(forest)
    best: dict[tuple[int, ...], float] = {}
    for edges, score in zip(everything, slow.scores(forest, w, everything), strict=True):
        words = slow.yielded(forest, edges)
        best[words] = max(score, best.get(words, -np.inf))
    translations = forest.kbest(w, k, distinct=True)
    assert [d.score for d in translations] == sorted(best.values(), reverse=True)[:k]
    strings = [tuple(int(x) for x in d.words) for d in translations]
    assert len(set(strings)) == len(strings)
    assert [best[words] for words in strings] == [d.score for d in translations]


@given(weighted_forests())
def test_first_is_viterbi_and_the_iterator_agrees_with_the_list(case: Any) -> None:
    forest, w = case
    everything = forest.kbest(w, 10_000)
    assert tuple(everything[0].edges) == tuple(forest.viterbi(w).edges)
    assert len(everything) == forest.count_derivations()
    for distinct in (False, True):
        whole = [tuple(d.edges) for d in forest.kbest(w, 10_000, distinct)]
        assert [tuple(d.edges) for d in forest.iter_kbest(w, distinct)] == whole
        assert [tuple(d.edges) for d in islice(forest.iter_kbest(w, distinct), 3)] == whole[:3]


@given(weighted_forests(), st.sampled_from([-1.0, 0.5]), st.data())
def test_gains_are_added_to_the_scores(case: Any, scale: Any, data: Any) -> None:
    forest, w = case
    gains = np.array([data.draw(values) for _ in range(forest.edge_count)], dtype=np.float64)
    everything = slow.derivations(forest)
    scores = slow.scores(forest, w, everything) + scale * np.array([gains[list(d)].sum() for d in everything])
    expected = np.sort(scores)[::-1].tolist()
    assert [d.score for d in forest.kbest(w, 1000, gains=gains, scale=scale)] == expected
    assert next(forest.iter_kbest(w, gains=gains, scale=scale)).score == expected[0]
    assert forest.viterbi(w, gains, scale).score == expected[0]
    with pytest.raises(hf.InputError, match="gains for"):
        forest.kbest(w, 3, gains=np.append(gains, 1.0))


@given(forests(shape="list"))
def test_a_list_with_ties_stays_in_its_order(forest: Any) -> None:
    translations = forest.kbest(np.zeros(len(forest.features)), 100)
    assert [int(d.edges[0]) for d in translations] == list(range(forest.edge_count))


def test_iterator_of_a_huge_forest_stops_early() -> None:
    nodes = [[{"words": [i], "dense": [float(i)]} for i in range(3)]]
    for v in range(60):
        nodes.append([{"tails": [v, v], "words": [-1, -2]}, {"tails": [v], "words": [-1, 0], "dense": [-1.0]}])
    forest = build(nodes[:12], dense_names=["a"])
    assert forest.count_derivations() > 1e100
    scores = [d.score for d in islice(forest.iter_kbest([1.0]), 200)]
    assert scores == sorted(scores, reverse=True) and len(scores) == 200


def test_pool_becomes_a_pool_of_lists_whatever_the_jobs() -> None:
    pool = random_pool(20)
    w = np.array([1.0, -0.5, 0.25])
    for distinct in (False, True):
        lists = pool.kbest(w, 30, distinct=distinct, jobs=1)
        again = pool.kbest(w, 30, distinct=distinct, jobs=3)
        assert lists.is_lists and lists.ids == pool.ids and lists.dense_width == 2
        for i in range(len(pool)):
            assert lists.source(i) == pool.source(i) and lists.references(i) == pool.references(i)
            translations = pool[i].kbest(w, 30, distinct)
            assert lists[i].edge_count == len(translations)
            assert [lists.text(i, j) for j in range(len(translations))] == [d.text for d in translations]
            np.testing.assert_allclose(lists[i].scores(w), [d.score for d in translations], rtol=0, atol=1e-12)
            for d, listed in zip(translations, lists[i].kbest(w, 30), strict=True):
                np.testing.assert_allclose(np.sort(listed.h), np.sort(listed.h))
                np.testing.assert_allclose(listed.score, d.score, atol=1e-12)
            for name in ("dense", "words", "word_begin", "sparse_ids", "sparse_values"):
                np.testing.assert_array_equal(getattr(lists[i], name), getattr(again[i], name))


def test_numbers_of_a_list_follow_their_candidates() -> None:
    pool = hf.Pool()
    pool.features.add("a")
    pool.vocab.add("the")
    forest = hf.Forest.from_arrays(
        np.array([0, 3], np.int32),
        np.zeros(4, np.int32),
        np.zeros(0, np.int32),
        np.arange(4, dtype=np.int32),
        np.zeros(3, np.int32),
        np.array([[1.0], [3.0], [2.0]]),
        pool.vocab,
        pool.features,
        numbers=np.array([[10.0], [30.0], [20.0]]),
    )
    pool.append("0", forest)
    assert pool.kbest([1.0], 2)[0].numbers.tolist() == [[30.0], [20.0]]
    assert pool.kbest([1.0], 2, distinct=True)[0].numbers.tolist() == [[30.0]]
