"""The quadratic programs of MIRA by a general solver."""

from typing import Any

import numpy as np
from scipy.optimize import LinearConstraint, minimize


def primal(w: Any, before: Any, sigma: Any, x: Any, loss: Any) -> Any:
    """1/2 (w - before)' Sigma^-1 (w - before) + max(0, max_d loss_d - w.x_d)"""
    away = w - before
    hinge = max([0.0, *(loss - x @ w)])
    return 0.5 * float(away @ (away / sigma)) + hinge


def dual(alpha: Any, before: Any, sigma: Any, x: Any, loss: Any) -> Any:
    """What the primal's minimum is the maximum of, over alpha >= 0, sum alpha <= 1 (the rest belongs to d_i)."""
    move = x.T @ alpha
    return float(alpha @ (loss - x @ before)) - 0.5 * float(move @ (sigma * move))


def solve(before: Any, sigma: Any, x: Any, loss: Any) -> Any:
    """Weights and the optimum of the primal."""
    n = len(loss)
    optimum = minimize(
        lambda alpha: -dual(alpha, before, sigma, x, loss),
        np.full(n, 1 / (n + 1)),
        jac=lambda alpha: -(loss - x @ before) + x @ (sigma * (x.T @ alpha)),
        method="SLSQP",
        bounds=[(0, 1)] * n,
        constraints=LinearConstraint(np.ones((1, n)), -np.inf, 1),
        options={"ftol": 1e-15, "maxiter": 2000},
    )
    w = before + sigma * (x.T @ optimum.x)
    return w, primal(w, before, sigma, x, loss)
