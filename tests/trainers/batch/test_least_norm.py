"""Of all weights with the same scores, the smallest."""

from __future__ import annotations

import numpy as np
import pytest

import hopefear as hf
from hopefear.data.forests import forest_pool
from hopefear.trainers.batch.base import BatchTrainer
from hopefear.trainers.batch.least_norm import least_norm, null_space
from tests.trainers.every import every_batch_trainer, make
from tests.trainers.pools import list_pool

NAMES = ["a", "b", "copy_a", "sum_ab", "c", "scaled_c", "constant"]


def planted(seed: int, sentences: int = 40, candidates: int = 12, sparse: bool = False) -> hf.Pool:
    """Lists with a copy, a sum, a multiple with another offset in each list, and a feature that never differs."""
    rng = np.random.default_rng(seed)
    dense, numbers, more = [], [], []
    for i in range(sentences):
        a, b, c = rng.normal(size=(3, candidates)) - 20
        offset = np.full(candidates, float(i))
        dense.append(np.stack([a, b, a, a + b, c, 100 * c + offset, offset], axis=1))
        numbers.append(50 + a - 0.5 * b + 0.2 * c + 0.3 * rng.normal(size=candidates))
        more.append([{"s": float(x), "copy_s": float(x)} for x in rng.normal(size=candidates)])
    return list_pool(dense, numbers=numbers, names=NAMES, sparse=more if sparse else None)


def differences(pool: hf.Pool) -> np.ndarray:
    """Rows: candidates, relative to the first one of their list."""
    rows = []
    for forest in pool:
        row = np.zeros((forest.edge_count, len(pool.features)))
        row[:, : forest.dense.shape[1]] = forest.dense
        for e in range(forest.edge_count if len(forest.sparse_begin) else 0):
            among = slice(forest.sparse_begin[e], forest.sparse_begin[e + 1])
            row[e, forest.sparse_ids[among]] = forest.sparse_values[among]
        rows.append(row - row[0])
    return np.concatenate(rows)


def smallest(pool: hf.Pool, w: np.ndarray) -> np.ndarray:
    """By the pseudo-inverse; a feature that never differs keeps its weight."""
    x = differences(pool)
    moving = x.std(axis=0) > 0
    unit = x[:, moving].std(axis=0)
    _, values, vectors = np.linalg.svd(x[:, moving] / unit, full_matrices=False)
    null = (vectors[values < 1e-9 * values.max()] / unit).T
    out = w.copy()
    out[moving] -= null @ np.linalg.lstsq(null, w[moving], rcond=None)[0]
    return out


def test_a_null_space_by_hand() -> None:
    x = np.array([[1.0, 0, 1, 1], [0, 1, 0, 1]])  # a, b, a again, a + b
    unit = np.linalg.norm(x, axis=0)
    solution = null_space((x.T @ x) / np.outer(unit, unit)) / unit
    assert len(solution) == 2
    assert np.linalg.matrix_rank(solution) == 2
    assert x @ solution.T == pytest.approx(np.zeros((2, 2)), abs=1e-14)
    assert len(null_space(np.eye(3))) == 0


@pytest.mark.parametrize("sparse", [False, True])
def test_any_weights_become_the_smallest(sparse: bool) -> None:
    for seed in range(5):
        pool = planted(seed, sparse=sparse)
        w = np.random.default_rng(seed).normal(size=len(pool.features))
        everything = np.ones(len(w), bool)
        solution = least_norm(pool, w, everything, everything, np.ones(len(w)))
        assert solution == pytest.approx(smallest(pool, w), abs=1e-9)
        assert differences(pool) @ solution == pytest.approx(differences(pool) @ w, abs=1e-9)
        assert (solution**2).sum() < (w**2).sum()
        assert solution[6] == w[6]  # nothing is known of it
        again = least_norm(pool, solution, everything, everything, np.ones(len(w)))
        assert again == pytest.approx(solution, abs=1e-14)


def test_weights_that_are_the_smallest_keep_their_bits() -> None:
    rng = np.random.default_rng(3)
    pool = list_pool([rng.normal(size=(9, 4)) for _ in range(20)], numbers=[rng.normal(size=9) for _ in range(20)])
    w, everything = rng.normal(size=4), np.ones(4, bool)
    assert least_norm(pool, w, everything, everything, np.ones(4)) is w


def test_weights_that_are_not_free_stay() -> None:
    pool = planted(1)
    w = np.random.default_rng(1).normal(size=len(pool.features))
    free, everything = np.ones(len(w), bool), np.ones(len(w), bool)
    free[NAMES.index("copy_a")] = False
    solution = least_norm(pool, w, free, everything, np.ones(len(w)))
    assert solution[2] == w[2]
    assert (solution[:2] != w[:2]).all()  # a, b and their sum are free
    assert differences(pool) @ solution == pytest.approx(differences(pool) @ w, abs=1e-9)


def test_a_dependency_of_some_sentences_is_none() -> None:
    """Two features are equal in the sentences that are looked at first, and differ in one other."""
    rng = np.random.default_rng(5)
    dense = []
    for i in range(301):
        a = rng.normal(size=6)
        dense.append(np.stack([a, a + (rng.normal(size=6) if i == 1 else 0)], axis=1))
    pool = list_pool(dense, numbers=[rng.normal(size=6) for _ in dense])
    w, everything = np.array([1.0, -1.0]), np.ones(2, bool)
    assert least_norm(pool, w, everything, everything, np.ones(2)) is w


@every_batch_trainer
def test_every_trainer_returns_the_smallest(trainer: type[BatchTrainer]) -> None:
    """Copies share a weight; the score is that of the weights that were learnt."""
    pool = planted(2)
    start = {"a": 0.9, "copy_a": -0.8, "b": 0.1, "sum_ab": 0.3, "constant": 0.25}
    result = make(trainer, metric=hf.External("quality")).fit(pool, start)
    w = np.array([result.weights[name] for name in pool.feature_names])
    assert w == pytest.approx(smallest(pool, w), abs=1e-9 * np.abs(w).max())
    assert result.weights["a"] == pytest.approx(result.weights["copy_a"], rel=1e-9)
    assert result.score > result.initial_score


@every_batch_trainer
def test_bounds_and_frozen_weights_are_the_users(trainer: type[BatchTrainer]) -> None:
    pool = planted(4)
    start = {"a": 0.7, "copy_a": -0.4, "b": 0.2}
    options = {"frozen": "copy_a", "bounds": "sum_ab:0.1:0.2"}
    result = make(trainer, metric=hf.External("quality"), **options).fit(pool, start)
    assert result.weights["copy_a"] == -0.4
    assert 0.1 <= result.weights["sum_ab"] <= 0.2


def test_units_are_the_users() -> None:
    """The norm is that of the weights that are returned, whatever units a trainer learnt in."""
    pool = planted(6)
    for scaling in ("none", "std"):
        result = hf.Kbmira(metric=hf.External("quality"), passes=5, scaling=scaling).fit(pool)
        w = np.array([result.weights[name] for name in pool.feature_names])
        assert w == pytest.approx(smallest(pool, w), abs=1e-9)


def with_copy(pool: hf.Pool) -> hf.Pool:
    """The same forests with their first feature once more on every edge."""
    copied = hf.Pool()
    for word in pool.vocab:  # type: ignore[attr-defined]
        copied.vocab.add(word)
    for name in [*pool.feature_names, "copy"]:
        copied.features.add(name)
    for i, f in enumerate(pool):
        dense = np.ascontiguousarray(np.hstack([f.dense, f.dense[:, :1]]))
        same = (f.edge_begin, f.tail_begin, f.tails, f.word_begin, f.words)
        forest = hf.Forest.from_arrays(*same, dense, copied.vocab, copied.features)
        copied.append(str(i), forest, references=pool.references(i))
    return copied


def test_forests() -> None:
    """A copy on every edge counts; a constant on every edge does not, for derivations differ in their edges."""
    pool = forest_pool(20, edges=200, source_length=6, dense=3, references=1, seed=3)
    w, everything = np.array([0.5, -0.5, 0.1]), np.ones(3, bool)
    assert least_norm(pool, w, everything, everything, np.ones(3)) is w
    copied = with_copy(pool)
    w, everything = np.array([0.5, -0.5, 0.1, 0.3]), np.ones(4, bool)
    assert least_norm(copied, w, everything, everything, np.ones(4)) == pytest.approx([0.4, -0.5, 0.1, 0.4])
    result = hf.Mert(restarts=1, kicks=0).fit(copied, {"copy": 0.3})
    assert result.weights["copy"] == pytest.approx(result.weights[pool.feature_names[0]], rel=1e-9)
