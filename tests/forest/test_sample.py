from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import hopefear as hf
from tests.forest.pools import random_pool
from tests.reference import enumeration as slow
from tests.strategies import build, weighted_forests


@given(weighted_forests(max_derivations=30))
@settings(max_examples=20)
def test_frequencies_are_those_of_the_model(case: Any) -> None:
    forest, w = case
    everything = slow.derivations(forest)
    for temperature in (1.0, 3.0):
        p = np.exp(slow.scores(forest, w, everything) / temperature - forest.log_z(w, temperature))
        n = 3000
        drawn = forest.sample(w, n, seed=1, temperature=temperature)
        counts = Counter(tuple(int(e) for e in d.edges) for d in drawn)
        assert set(counts) <= set(everything)
        for edges, q in zip(everything, p, strict=True):
            assert abs(counts[edges] - n * q) <= 6 * np.sqrt(n * q * max(0.0, 1 - q)) + 1
        assert all(d.score == slow.scores(forest, w, [tuple(d.edges)])[0] for d in drawn[:20])


def test_seeds_and_streams() -> None:
    pool = random_pool(6)
    w = np.array([0.3, 0.2, -0.1])
    serial, again, other = (pool.sample(w, 50, seed=seed, jobs=jobs) for seed, jobs in ((1, 1), (1, 3), (2, 1)))
    for i in range(len(pool)):
        assert serial[i].edge_count == 50
        assert serial[i].words.tolist() == again[i].words.tolist()
        assert serial[i].words.tolist() != other[i].words.tolist()
    assert [d.text for d in pool[0].sample(w, 50, seed=1)] == [serial.text(0, j) for j in range(50)]


def test_errors() -> None:
    forest = build([[{"words": [0]}]], dense_names=["a"])
    assert forest.sample([1.0], 0, seed=1) == []
    for wrong in ({"count": -1}, {"count": 1, "temperature": 0.0}):
        with pytest.raises(hf.InputError):
            forest.sample([1.0], seed=1, **wrong)
    with pytest.raises(hf.InputError, match="no derivation"):
        build([[]], dense_names=["a"]).sample([1.0], 1, seed=1)
