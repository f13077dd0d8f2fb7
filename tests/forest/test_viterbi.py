from typing import Any

import numpy as np
import pytest
from hypothesis import given

import hopefear as hf
from tests.reference import enumeration as slow
from tests.strategies import build, forests, weighted_forests


@given(weighted_forests())
def test_is_the_best_of_all_derivations(case: Any) -> None:
    forest, w = case
    everything = slow.derivations(forest)
    best = forest.viterbi(w)
    assert best.score == slow.scores(forest, w, everything).max()
    assert tuple(best.edges) in everything
    assert slow.scores(forest, w, [tuple(best.edges)])[0] == best.score


@given(weighted_forests())
def test_a_derivation_knows_its_words_features_and_tree(case: Any) -> None:
    forest, w = case
    for derivation in forest.kbest(w, 20):
        edges = tuple(int(e) for e in derivation.edges)
        assert tuple(derivation.words) == slow.yielded(forest, edges)
        assert derivation.text == " ".join(forest.vocab[i] for i in slow.yielded(forest, edges))
        h = slow.features(forest, edges)
        np.testing.assert_array_equal(derivation.h, h)
        assert derivation.features == {forest.features[j]: h[j] for j in np.flatnonzero(h)}
        ids, values = derivation.sparse
        assert (np.diff(ids) > 0).all()
        sparse = np.zeros_like(h)
        sparse[ids] = values
        sparse[: forest.dense_width] = h[: forest.dense_width]
        np.testing.assert_array_equal(sparse, h)
        heads, parents = slow.heads(forest)[derivation.edges], derivation.parents
        assert derivation.nodes.tolist() == heads.tolist()
        assert parents[0] == -1 and len(derivation) == len(edges)
        for place, edge in enumerate(edges):
            children = [i for i in range(len(edges)) if parents[i] == place]
            assert [heads[i] for i in children] == slow.tails(forest, edge)


@given(forests())
def test_ties_go_to_the_lowest_edge_index_at_every_node(forest: Any) -> None:
    best = forest.viterbi(np.zeros(len(forest.features)))
    alive = [bool(trees) for trees in slow.below(forest)]
    for edge in best.edges:
        head = slow.heads(forest)[edge]
        candidates = [
            e
            for e in range(forest.edge_begin[head], forest.edge_begin[head + 1])
            if all(alive[u] for u in slow.tails(forest, e))
        ]
        assert edge == min(candidates)


def test_weights_by_name_or_by_id() -> None:
    forest = build([[{"words": [0], "dense": [1, 0]}, {"words": [1], "dense": [0, 1]}]], dense_names=["a", "b"])
    assert forest.viterbi({"b": 2.0, "a": 1.0, "unknown": 9.0}).text == "few"
    assert forest.viterbi([1.0, 2.0]).text == "few"
    assert forest.viterbi(np.array([2, 1])).text == "the"
    with pytest.raises(hf.InputError, match="2 features"):
        forest.viterbi([1.0])
    with pytest.raises(hf.InputError, match="weight of b is not a finite number"):
        forest.viterbi({"b": float("nan")})
    with pytest.raises(TypeError):
        forest.viterbi("weights")


def test_a_forest_without_a_derivation_says_so() -> None:
    dead = build([[], [{"tails": [0], "words": [-1]}]], dense_names=["a"])
    with pytest.raises(hf.InputError, match="no derivation"):
        dead.viterbi([1.0])
    assert dead.kbest([1.0], 5) == [] and dead.kbest([1.0], 5, distinct=True) == []
    assert dead.count_derivations() == 0
    assert dead.inside([1.0]).tolist() == [-np.inf, -np.inf]
    with pytest.raises(hf.InputError, match="no derivation"):
        dead.expectations([1.0])


def doubling(steps: int) -> hf.Forest:
    """Each node uses the one below it twice: 2^steps words."""
    nodes = [[{"words": [0], "dense": [1.0]}]]
    nodes += [[{"tails": [v, v], "words": [-1, -2], "dense": [0.0]}] for v in range(steps)]
    return build(nodes, dense_names=["a"])


def test_a_derivation_that_would_fill_the_memory_is_refused() -> None:
    assert len(doubling(10).viterbi([1.0]).words) == 1024
    for ask in (doubling(80).viterbi, lambda w: doubling(80).kbest(w, 1)):
        with pytest.raises(hf.InputError, match="Prune"):
            ask([1.0])
    assert doubling(2000).count_derivations() == 1


def test_scores_beyond_the_range_of_numbers_are_refused() -> None:
    with pytest.raises(hf.InputError, match="scale the weights down"):
        doubling(1030).viterbi([2.0])


def chain(length: int) -> hf.Forest:
    nodes = [[{"words": [0], "dense": [1.0]}]]
    for v in range(length):
        nodes.append([{"tails": [v], "words": [-1, i], "dense": [-float(i)]} for i in range(2)])
    return build(nodes, dense_names=["a"])


def test_a_lattice_of_many_nodes_needs_no_deep_recursion() -> None:
    forest = chain(50_000)
    assert len(forest.viterbi([1.0]).edges) == 50_001
    third = forest.kbest([1.0], 3, distinct=True)[2]
    assert third.score == 0.0 and len(third.words) == 50_001
    assert forest.log_z([0.0]) == pytest.approx(50_000 * np.log(2))


def test_pool_gives_each_sentence_its_best_and_names_the_one_that_has_none() -> None:
    pool = hf.Pool()
    pool.vocab.add("the")
    for name in "ab":
        pool.features.add(name)
    good = build([[{"words": [0], "dense": [1, 0]}]], dense_names=["a", "b"], vocab=pool.vocab, features=pool.features)
    dead = build([[]], dense_names=["a", "b"], vocab=pool.vocab, features=pool.features)
    pool.append("7", good)
    assert [d.score for d in pool.viterbi({"a": 2.0})] == [2.0]
    pool.append("8", dead)
    with pytest.raises(hf.InputError, match="sentence 8: the forest has no derivation"):
        pool.viterbi({"a": 2.0})
