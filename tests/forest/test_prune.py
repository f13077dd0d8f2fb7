from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import hopefear as hf
from hopefear.data import forests as synthetic_forests
from tests.reference import enumeration as slow
from tests.strategies import build, weighted_forests


def described(forest: Any, edges: Any) -> Any:
    """A derivation by what its edges are, not by their numbers."""
    return tuple(
        (tuple(slow.words(forest, e)), tuple(slow.edge_features(forest, e)), len(slow.tails(forest, e))) for e in edges
    )


def all_described(forest: Any) -> Any:
    return sorted(described(forest, d) for d in slow.derivations(forest))


@given(weighted_forests())
def test_reachable_drops_only_what_is_in_no_derivation(case: Any) -> None:
    forest, w = case
    clean = forest.reachable()
    everything = slow.derivations(forest)
    used = {e for d in everything for e in d}
    assert clean.edge_count == len(used)
    assert clean.node_count == len({slow.heads(forest)[e] for e in used})
    assert all_described(clean) == all_described(forest)
    assert clean.viterbi(w).score == forest.viterbi(w).score


@given(weighted_forests(), st.sampled_from([0.0, 0.25, 1.0, 3.0, 100.0]))
def test_beam_keeps_the_edges_of_all_derivations_within_it(case: Any, beam: Any) -> None:
    forest, w = case
    everything = slow.derivations(forest)
    scores = slow.scores(forest, w, everything)
    within = {e for d, s in zip(everything, scores, strict=True) if s >= scores.max() - beam for e in d}
    small = forest.pruned(w, beam=beam)
    assert small.edge_count == len(within)
    assert set(all_described(small)) >= {
        described(forest, d) for d, s in zip(everything, scores, strict=True) if s >= scores.max() - beam
    }
    assert described(small, small.viterbi(w).edges) == described(forest, forest.viterbi(w).edges)
    if len(forest.spans):
        assert small.source_length == forest.source_length


@given(weighted_forests(), st.sampled_from([0.0, 0.01, 0.2, 0.6, 2.0]))
def test_posterior(case: Any, threshold: Any) -> None:
    forest, w = case
    _, posterior = forest.posteriors(w)
    small = forest.pruned(w, posterior=threshold)
    best = forest.viterbi(w)
    assert described(small, small.viterbi(w).edges) == described(forest, best.edges)
    kept = {described(forest, (e,)) for e in range(forest.edge_count) if posterior[e] >= threshold or e in best.edges}
    assert {described(small, (e,)) for e in range(small.edge_count)} <= kept
    if threshold == 0.0:
        assert all_described(small) == all_described(forest)


@given(weighted_forests(), st.integers(0, 12))
def test_max_edges(case: Any, most: Any) -> None:
    forest, w = case
    best = forest.viterbi(w)
    small = forest.pruned(w, max_edges=most)
    assert small.edge_count <= max(most, len(set(best.edges.tolist())))
    assert described(small, small.viterbi(w).edges) == described(forest, best.edges)


def test_a_large_forest_and_a_pool() -> None:
    pool = synthetic_forests.forest_pool(3, 3000, seed=1)
    w = np.random.default_rng(1).normal(size=14)
    for small in (pool.pruned(w, beam=4.0), pool.pruned(w, posterior=1e-3), pool.pruned(w, max_edges=500, jobs=1)):
        for i in range(3):
            assert 50 < small[i].edge_count < 2500
            assert small[i].viterbi(w).text == pool[i].viterbi(w).text
            assert small.references(i) == pool.references(i)
    assert pool.pruned(w, max_edges=500)[0].edge_count > 450


def test_nothing_to_keep() -> None:
    dead = build([[], [{"tails": [0], "words": [-1]}]], dense_names=["a"])
    assert (dead.reachable().node_count, dead.reachable().edge_count) == (1, 0)
    with pytest.raises(hf.InputError, match="no derivation"):
        dead.pruned([1.0], beam=1.0)
    good = build([[{"words": [0]}]], dense_names=["a"])
    for wrong in ({"beam": -1.0}, {"beam": float("nan")}, {"posterior": -1.0}, {"max_edges": -1}, {"temperature": 0.0}):
        with pytest.raises(hf.InputError):
            good.pruned([1.0], **wrong)
