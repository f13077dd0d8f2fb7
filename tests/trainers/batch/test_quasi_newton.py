"""L-BFGS with bounds, l1 and l2 against closed forms."""

from typing import Any

import numpy as np
import pytest

from hopefear.trainers.batch.quasi_newton import minimize

TARGET = np.array([1.0, -2.0, 0.3])
FREE = np.full(3, np.inf)


def quadratic(w: Any) -> Any:
    return 0.5 * float((w - TARGET) @ (w - TARGET)), w - TARGET


def test_a_quadratic_is_minimised() -> None:
    assert minimize(quadratic, np.zeros(3), -FREE, FREE) == pytest.approx(TARGET, abs=1e-6)


def test_l2_pulls_towards_the_initial_weights() -> None:
    w0 = np.array([3.0, 0.0, 1.0])
    optimum = minimize(quadratic, np.zeros(3), -FREE, FREE, towards=w0, l2=1.0)
    assert optimum == pytest.approx((TARGET + w0) / 2, abs=1e-6)


def test_l1_is_soft_thresholding() -> None:
    w0 = np.array([0.5, 0.0, 0.0])
    optimum = minimize(quadratic, w0, -FREE, FREE, l1=0.4)
    away = TARGET - w0
    assert optimum == pytest.approx(w0 + np.sign(away) * np.maximum(np.abs(away) - 0.4, 0), abs=1e-6)


@pytest.mark.parametrize("l1", [0.0, 0.1])
def test_bounds_hold(l1: Any) -> None:
    lower, upper = np.array([-1.0, -0.5, 0.2]), np.array([0.5, 0.5, 0.2])
    optimum = minimize(quadratic, np.array([0.0, 0.0, 0.2]), lower, upper, l1=l1)
    assert optimum == pytest.approx([0.5, -0.5, 0.2], abs=1e-6)


@pytest.mark.parametrize("l1", [0.0, 0.1])
def test_who_looks_on_may_stop_it(l1: Any) -> None:
    def curved(w: Any) -> Any:
        return float(np.cosh(w - TARGET).sum()), np.sinh(w - TARGET)

    seen = []
    optimum = minimize(curved, np.zeros(3), -FREE, FREE, l1=l1, on_iteration=lambda w: seen.append(w.copy()))
    assert len(seen) == 1
    assert optimum == pytest.approx(seen[0])
    assert np.abs(optimum - TARGET).max() > 1e-3
