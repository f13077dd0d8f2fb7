"""Weights of least norm among those that score the candidates alike.

Where features depend on each other within every list (a copy, a sum of others), a whole space of weights gives the
same differences of scores, and a trainer returns some point of it: +0.318 and -0.318 for two copies, which is 0 on
these lists and ruin on one where a copy is missing. So what was learnt is projected: of all weights with the same
scores, up to what a list has in common, those whose sum of squares is least. Copies share their weight.

Dense features are looked at, up to 500 of them, and sparse ones with them as long as there are no more than that in
all and their weights were moved. Weights that the user bounded or froze stay where they are, and so do those of
features that are the same in all candidates of every list: nothing was learnt of these. On lattices and forests a
dependency must hold on every edge.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from hopefear import _core
from hopefear._core import Pool
from hopefear.formats.pool import evenly_spaced
from hopefear.trainers.base import Vector

#: Features of more than that are left alone: the Gram matrix would take longer than training.
FEATURES = 500
#: What is left of a feature's variance, as a share, when the others explain all of it but rounding errors.
NEGLIGIBLE = 1e-12
#: Independent on so many sentences is independent.
SENTENCES = 100
#: Numbers in the lists if all features are kept as dense ones: 400 MB.
NUMBERS = 50_000_000


def least_norm(pool: Pool, w: Vector, free: NDArray[np.bool_], moved: NDArray[np.bool_], cost: Vector) -> Vector:
    """The weights with the least sum of cost * w^2 among those with the scores of ``w``; ``w`` itself if it has it.

    ``free``: which weights may change; ``moved``: which sparse ones a trainer touched.
    """
    dense, total = pool.dense_width, len(pool.features)
    if dense > FEATURES:
        return w
    width = total if total <= FEATURES and pool.is_lists and moved[dense:].any() else dense
    allowed = free.copy()
    allowed[dense:] &= moved[dense:]
    if not len(_dependencies(evenly_spaced(pool, SENTENCES), width, allowed)):
        return w
    if width > dense and int(pool.row_begin()[-1]) * width > NUMBERS:
        width = dense
    directions = _dependencies(pool, width, allowed)
    return _projected(w, directions, cost) if len(directions) else w


def _dependencies(pool: Pool, width: int, allowed: NDArray[np.bool_]) -> Vector:
    """Rows over all features that the first ``width`` span the null space of: no score changes along them."""
    total = len(pool.features)
    gram = _gram(pool, width)
    if not np.isfinite(gram).all():  # of numbers too large to square, nothing is known
        return np.zeros((0, total))
    moving = np.flatnonzero(allowed[:width] & (np.diagonal(gram) > 0))
    scale = np.sqrt(np.diagonal(gram)[moving])
    kernel = null_space(gram[np.ix_(moving, moving)] / np.outer(scale, scale)) / scale
    directions = np.zeros((len(kernel), total))
    for row, values in zip(directions, kernel, strict=True):
        values = values / np.abs(values).max()
        # A copy is 1 to 1, a sum 1 to 1 to 1: without the last digits, which depend on the order of summation.
        row[moving] = [float(f"{value:.12g}") if abs(value) > NEGLIGIBLE else 0.0 for value in values]
    return directions


def _gram(pool: Pool, width: int) -> Vector:
    """Products of features, summed: of the differences within lists, or of the edges of forests."""
    if pool.is_lists:
        if width > pool.dense_width:
            ids = np.arange(len(pool.features), dtype=np.int32)
            vocab = _core.Vocab()
            for name in pool.feature_names:
                vocab.add(name)
            pool = _core.reparameterized(pool, ids, np.ones(len(ids)), vocab, width)
        return np.asarray(_core.within_covariance(pool, jobs=0))
    total = np.zeros((width, width))
    for forest in pool:
        rows = np.asarray(forest.dense).reshape(-1, width)
        total += rows.T @ rows
    return total


def null_space(correlation: Vector) -> Vector:
    """Rows that span the null space of a positive semidefinite matrix with ones on its diagonal.

    By Cholesky with pivots: each feature that the ones before it explain gives a row.
    """
    left = np.array(correlation, dtype=np.float64)
    size = len(left)
    order: list[int] = []
    factor = np.zeros((size, size))
    while len(order) < size:
        variance = np.diagonal(left).copy()
        variance[order] = -1.0
        pivot = int(variance.argmax())
        if variance[pivot] <= NEGLIGIBLE:
            break
        column = left[:, pivot] / math.sqrt(variance[pivot])
        left -= np.outer(column, column)
        factor[len(order)] = column
        order.append(pivot)
    rest = [j for j in range(size) if j not in set(order)]
    kernel = np.zeros((len(rest), size))
    if rest:
        factor = factor[: len(order)]
        kernel[:, rest] = np.eye(len(rest))
        kernel[:, order] = -np.linalg.solve(factor[:, order], factor[:, rest]).T
    return kernel


def _projected(w: Vector, directions: Vector, cost: Vector) -> Vector:
    """The projection of w onto the complement of the directions, which are orthogonalised under the cost."""
    basis: list[Vector] = []
    for direction in directions:
        for _ in range(2):  # twice is enough
            for other in basis:
                direction = direction - math.fsum(cost * direction * other) * other
        basis.append(direction / math.sqrt(math.fsum(cost * direction * direction)))
    for _ in range(2):
        for direction in basis:
            w = w - math.fsum(cost * w * direction) * direction
    return w
