"""The recursions of Chiang 2012, A.4, letter by letter: a vector at every node. The slow twin of core/expectations."""

from __future__ import annotations

import numpy as np

from hopefear import Forest
from tests.reference import enumeration as slow


def second_order(forest: Forest, scores: np.ndarray, gains: np.ndarray) -> tuple[float, float, np.ndarray, np.ndarray]:
    """log Z, E[B], E[h], E[Bh]."""
    inside, expect_B, expect_h, expect_Bh = [], [], [], []
    for v in range(forest.node_count):
        edges = range(forest.edge_begin[v], forest.edge_begin[v + 1])
        log_e, B_e, h_e, Bh_e = [], [], [], []
        for e in edges:
            tails = slow.tails(forest, e)
            log_e.append(scores[e] + sum(inside[u] for u in tails))
            B_e.append(gains[e] + sum(expect_B[u] for u in tails))  # (24)
            h_e.append(slow.edge_features(forest, e) + sum(expect_h[u] for u in tails))
            Bh_e.append(B_e[-1] * h_e[-1] + sum(expect_Bh[u] - expect_B[u] * expect_h[u] for u in tails))
        inside.append(np.logaddexp.reduce(log_e) if log_e else -np.inf)
        ratio = [np.exp(x - inside[v]) if np.isfinite(x) else 0.0 for x in log_e]
        zero = np.zeros(len(forest.features))
        expect_B.append(sum(r * x for r, x in zip(ratio, B_e, strict=True)))  # (23)
        expect_h.append(sum((r * x for r, x in zip(ratio, h_e, strict=True)), zero))
        expect_Bh.append(sum((r * x for r, x in zip(ratio, Bh_e, strict=True)), zero))
    return inside[-1], expect_B[-1], expect_h[-1], expect_Bh[-1]
