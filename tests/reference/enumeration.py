"""All derivations of a small forest, one by one: the meaning of every forest algorithm."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np

from hopefear import Forest

Edges = tuple[int, ...]


def tails(forest: Forest, e: int) -> list[int]:
    return [int(v) for v in forest.tails[forest.tail_begin[e] : forest.tail_begin[e + 1]]]


def words(forest: Forest, e: int) -> list[int]:
    return [int(x) for x in forest.words[forest.word_begin[e] : forest.word_begin[e + 1]]]


def below(forest: Forest) -> list[list[Edges]]:
    """The derivations of each node, edges in pre-order."""
    trees: list[list[Edges]] = []
    for v in range(forest.node_count):
        here: list[Edges] = []
        for e in range(forest.edge_begin[v], forest.edge_begin[v + 1]):
            for parts in product(*(trees[u] for u in tails(forest, e))):
                here.append(sum(parts, (e,)))
        trees.append(here)
    return trees


def derivations(forest: Forest) -> list[Edges]:
    return below(forest)[-1]


def counts(forest: Forest) -> list[int]:
    """The number of derivations of each node."""
    numbers: list[int] = []
    for v in range(forest.node_count):
        total = 0
        for e in range(forest.edge_begin[v], forest.edge_begin[v + 1]):
            ways = 1
            for u in tails(forest, e):
                ways *= numbers[u]
            total += ways
        numbers.append(total)
    return numbers


def yielded(forest: Forest, edges: Edges) -> tuple[int, ...]:
    """e(d), by recursion over the pre-order."""

    def walk(i: int) -> tuple[list[int], int]:
        e, i = edges[i], i + 1
        parts = []
        for _ in tails(forest, e):
            part, i = walk(i)
            parts.append(part)
        out: list[int] = []
        for word in words(forest, e):
            out += [word] if word >= 0 else parts[-1 - word]
        return out, i

    return tuple(walk(0)[0])


def edge_features(forest: Forest, e: int) -> np.ndarray:
    h = np.zeros(len(forest.features))
    h[: forest.dense_width] = forest.dense[e]
    if len(forest.sparse_begin):
        for k in range(forest.sparse_begin[e], forest.sparse_begin[e + 1]):
            h[forest.sparse_ids[k]] += forest.sparse_values[k]
    return h


def features(forest: Forest, edges: Edges) -> np.ndarray:
    return np.sum([edge_features(forest, e) for e in edges], axis=0)


def scores(forest: Forest, w: np.ndarray, all_edges: list[Edges]) -> np.ndarray:
    edge = np.array([edge_features(forest, e) @ w for e in range(forest.edge_count)])
    return np.array([edge[list(d)].sum() for d in all_edges])


def uses(forest: Forest, edges: Edges) -> np.ndarray:
    """How often a derivation uses each edge."""
    out = np.zeros(forest.edge_count)
    for e, n in Counter(edges).items():
        out[e] = n
    return out


def heads(forest: Forest) -> np.ndarray:
    return np.repeat(np.arange(forest.node_count), np.diff(forest.edge_begin))
