"""Chiang 2012, 5.1 and 5.2, on strings: every node keeps one derivation, and b is counted on its words from scratch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from hopefear import Forest
from tests.reference import enumeration as slow


def ngrams(words: Sequence[int], k: int) -> list[tuple[int, ...]]:
    return [tuple(words[i : i + k]) for i in range(len(words) - k + 1)]


def unclipped(words: Sequence[int], references: list[list[int]], K: int) -> np.ndarray:
    """m_1 .. m_K as in (18), n_1 .. n_K."""
    b = []
    for k in range(1, K + 1):
        known = {g for reference in references for g in ngrams(reference, k)}
        b.append(sum(g in known for g in ngrams(words, k)))
    return np.array(b + [len(ngrams(words, k)) for k in range(1, K + 1)], dtype=np.float64)


def clipped(words: Sequence[int], references: list[list[int]], K: int) -> np.ndarray:
    """b as in (1) and (2)."""
    m = []
    for k in range(1, K + 1):
        most: Counter[tuple[int, ...]] = Counter()
        for reference in references:
            most |= Counter(ngrams(reference, k))
        m.append((Counter(ngrams(words, k)) & most).total())
    n = [max(0, len(words) - k) for k in range(K)]
    rho = min((abs(len(r) - len(words)), len(r)) for r in references)[1]
    return np.array([*m, *n, rho], dtype=np.float64)


def shares(forest: Forest, w: np.ndarray) -> np.ndarray:
    """Which part of the source a node has, (19).

    Without spans: which part of the words of the best derivation that uses it.
    """
    if forest.source_length > 0:
        return (forest.spans[1::2] - forest.spans[::2]) / forest.source_length
    share = np.ones(forest.node_count)
    best = np.full(forest.node_count, -np.inf)
    heads = slow.heads(forest)
    for edges in slow.derivations(forest):
        score = slow.scores(forest, w, [edges])[0]
        total = len(slow.yielded(forest, edges))
        for place, e in enumerate(edges):
            end = subtree_end(forest, edges, place)
            if score > best[heads[e]] and total:
                best[heads[e]] = score
                share[heads[e]] = len(slow.yielded(forest, edges[place:end])) / total
    return share


def subtree_end(forest: Forest, edges: tuple[int, ...], place: int) -> int:
    end = place + 1
    for _ in slow.tails(forest, edges[place]):
        end = subtree_end(forest, edges, end)
    return end


def search(
    forest: Forest,
    w: np.ndarray,
    references: list[list[int]],
    K: int,
    model: float,
    gain: float,
    B: Callable[[np.ndarray], float],
) -> tuple[int, ...]:
    """vderiv(goal) of 5.2 with phi = model * w.h + gain * B."""
    rho = sum(map(len, references)) / len(references)
    share = shares(forest, w)
    vderiv: list[tuple[int, ...] | None] = []
    for v in range(forest.node_count):
        best = None
        for e in range(forest.edge_begin[v], forest.edge_begin[v + 1]):
            parts = [vderiv[u] for u in slow.tails(forest, e)]
            if any(part is None for part in parts):
                continue
            edges = sum((part for part in parts if part is not None), (e,))
            score = slow.scores(forest, w, [edges])[0]
            b = np.append(unclipped(slow.yielded(forest, edges), references, K), rho * share[v])
            phi = model * score + gain * B(b)
            if best is None or (phi, score) > best[0]:
                best = (phi, score), edges
        vderiv.append(best[1] if best else None)
    assert vderiv[-1] is not None
    return vderiv[-1]
