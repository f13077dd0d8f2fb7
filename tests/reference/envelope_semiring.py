"""The convex-hull semiring in exact arithmetic: envelopes at every node, Minkowski sums at edges, unions at nodes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from hopefear import Forest
from tests.reference import enumeration as slow

Line = tuple[Fraction, Fraction]  # slope, intercept


def upper(lines: list[Line]) -> tuple[list[Line], list[Fraction]]:
    """The lines that are somewhere above all others, by slope, and where each takes over from the one before."""
    kept: list[Line] = []
    x: list[Fraction] = []
    for b, a in sorted(set(lines)):
        if kept and kept[-1][0] == b:  # parallel and below, since sorted
            kept.pop()
            x = x[: max(0, len(kept) - 1)]
        while kept:
            crossing = (kept[-1][1] - a) / (b - kept[-1][0])
            if not x or len(kept) == 1 or crossing > x[-1]:
                x = [*x[: len(kept) - 1], crossing]
                break
            kept.pop()
            x = x[: max(0, len(kept) - 1)]
        kept.append((b, a))
    return kept, x


def plus(first: list[Line], other: list[Line]) -> list[Line]:
    """Minkowski sum: all sums of pairs, of which `upper` keeps what counts."""
    return upper([(b + d, a + c) for b, a in first for d, c in other])[0]


def envelope(forest: Forest, w: np.ndarray, direction: np.ndarray) -> tuple[list[Line], list[Fraction]]:
    a = [Fraction(float(s)) for s in forest.scores(w)]
    b = [Fraction(float(s)) for s in forest.scores(direction)]
    nodes: list[list[Line]] = []
    for v in range(forest.node_count):
        lines: list[Line] = []
        for e in range(forest.edge_begin[v], forest.edge_begin[v + 1]):
            here = [(b[e], a[e])]
            for u in slow.tails(forest, e):
                here = plus(here, nodes[u])
            lines += here
        nodes.append(upper(lines)[0])
    return upper(nodes[-1])
