"""Generated forests: what was asked for, by a seed."""

from __future__ import annotations

import numpy as np
import pytest

from hopefear.data.forests import forest, forest_pool


@pytest.mark.parametrize("edges", [200, 2000])
@pytest.mark.parametrize("sparse", [0, 50])
def test_size_and_features(edges: int, sparse: int) -> None:
    found = forest(edges, source_length=8, dense=5, sparse=sparse, seed=2)
    assert edges / 2 < found.edge_count < 2 * edges
    assert found.features.names() == [f"f{j}" for j in range(5)] + [f"s{j}" for j in range(sparse)]
    assert np.isfinite(found.viterbi(np.ones(len(found.features))).score)
    if sparse:
        assert found.sparse_ids.min() >= 5


def test_the_seed_decides() -> None:
    one, same, other = (forest(300, seed=seed) for seed in (1, 1, 2))
    assert np.array_equal(one.dense, same.dense) and np.array_equal(one.words, same.words)
    assert not np.array_equal(one.dense, other.dense)


def test_a_pool_has_references_near_its_forests() -> None:
    pool = forest_pool(3, 300, references=2, seed=5)
    assert pool.ids == ["0", "1", "2"]
    for i in range(3):
        assert len(pool.references(i)) == 2
        assert len(pool.source(i).split()) == pool[i].source_length
