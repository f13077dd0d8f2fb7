"""Och's line search by trying every interval between crossings, in exact fractions."""

import itertools
from fractions import Fraction
from typing import Any


def dot(w: Any, h: Any) -> Any:
    return sum((Fraction(float(x)) * Fraction(float(y)) for x, y in zip(w, h, strict=True)), Fraction(0))


def crossings(lines: Any) -> Any:
    """Every x where two of the lines (a, b) of one sentence cross."""
    return {(a - c) / (d - b) for a, b in lines for c, d in lines if b != d}


def best_at(lines: Any, x: Any) -> Any:
    """The first of the highest lines."""
    values = [a + x * b for a, b in lines]
    return values.index(max(values))


def intervals(lists: Any, stats: Any, gain: Any, w: Any, direction: Any) -> Any:
    """(left, right, gain) of every interval between neighbouring crossings of any sentence; None is infinity."""
    lines = [[(dot(w, h), dot(direction, h)) for h in rows] for rows in lists]
    points = sorted(set().union(*(crossings(sentence) for sentence in lines)))
    edges = [None, *points, None]
    out = []
    for left, right in itertools.pairwise(edges):
        middle = middle_of(left, right)
        total = sum(stats[i][best_at(sentence, middle)] for i, sentence in enumerate(lines) if sentence)
        out.append((left, right, gain(total)))
    return out


def middle_of(left: Any, right: Any) -> Any:
    if left is None and right is None:
        return Fraction(0)
    if left is None:
        return right - 1
    if right is None:
        return left + 1
    return (left + right) / 2
