"""Smooth objectives by L-BFGS (SciPy), with bounds, and l1 and l2 towards the initial weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


#: The value at a point, and the gradient there.
Objective = Callable[[Vector], tuple[float, Vector]]


@cache
def _blas() -> Any:
    """The libraries with threads of their own: to find them takes longer than a small fit."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def minimize(
    objective: Objective,
    start: Vector,
    lower: Vector,
    upper: Vector,
    *,
    towards: Vector | None = None,
    l1: float = 0.0,
    l2: float = 0.0,
    iterations: int = 100,
    tolerance: float = 1e-6,
    on_iteration: Callable[[Vector], bool] | None = None,
) -> Vector:
    """argmin of objective(w) + l2/2 ||w - w0||^2 + l1 |w - w0|, w0 = ``towards`` (the start where it is not given).

    The l1 term is made smooth by writing w - w0 = p - n with p, n >= 0, which bounds express.
    """
    w0 = start if towards is None else towards
    size = start.size

    def regularized(w: Vector) -> tuple[float, Vector]:
        value, gradient = objective(w)
        away = w - w0
        return value + 0.5 * l2 * float(away @ away), gradient + l2 * away

    def callback(w: Vector) -> None:
        if on_iteration is not None and not on_iteration(w):
            raise StopIteration

    def joined(v: Vector) -> Vector:
        return w0 + v[:size] - v[size:]

    def split(v: Vector) -> tuple[float, Vector]:
        value, gradient = regularized(joined(v))
        return value + l1 * float(v.sum()), np.concatenate([gradient + l1, l1 - gradient])

    options = {"maxiter": iterations, "ftol": tolerance * 1e-2, "gtol": tolerance, "maxcor": 10}
    if l1 == 0:
        return np.clip(_lbfgs(regularized, start, lower, upper, callback, options), lower, upper)
    away = start - w0
    begin = np.concatenate([np.maximum(away, 0), np.maximum(-away, 0)])
    most = np.concatenate([np.maximum(0, upper - w0), np.maximum(0, w0 - lower)])
    optimum = _lbfgs(split, begin, np.zeros(2 * size), most, lambda v: callback(joined(v)), options)
    return np.clip(w0 + (optimum[:size] - optimum[size:]), lower, upper)


def _lbfgs(
    objective: Objective,
    start: Vector,
    lower: Vector,
    upper: Vector,
    callback: Callable[[Vector], None],
    options: Mapping[str, Any],
) -> Vector:
    from scipy.optimize import minimize as scipy_minimize

    # L-BFGS itself has vectors too short for BLAS threads, which would spin beside ours.
    with _blas().limit(limits=1, user_api="blas"):
        optimum = scipy_minimize(
            objective,
            start,
            jac=True,
            method="L-BFGS-B",
            bounds=np.column_stack([lower, upper]),
            options=options,
            callback=callback,
        )
    return np.asarray(optimum.x, dtype=np.float64)
