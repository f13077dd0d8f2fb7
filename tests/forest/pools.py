"""Pools of random forests."""

import numpy as np

import hopefear as hf
from tests.strategies import build


def sentence(pool: hf.Pool, seed: int) -> hf.Forest:
    rng = np.random.default_rng(seed)
    nodes = []
    for v in range(8):
        edges = []
        for _ in range(3):
            tails = rng.integers(0, v, size=min(v, 2)).tolist()
            words = [-1 - t for t in range(len(tails))]
            words.insert(int(rng.integers(0, len(words) + 1)), int(rng.integers(0, 5)))
            sparse = [(2, 1.0)] if rng.random() < 0.3 else []
            edges.append({"tails": tails, "words": words, "dense": rng.normal(size=2), "sparse": sparse})
        nodes.append(edges)
    return build(nodes, dense_names=["a", "b"], vocab=pool.vocab, features=pool.features)


def random_pool(size: int) -> hf.Pool:
    pool = hf.Pool()
    for name in ("a", "b", "sparse"):
        pool.features.add(name)
    for word in ("the", "few", "countries", "that", "have"):
        pool.vocab.add(word)
    for i in range(size):
        pool.append(f"id{i}", sentence(pool, i), source=f"source {i}", references=[f"the few {i}"])
    return pool
