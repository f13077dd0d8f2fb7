"""A working set's quadratic program against a general solver, and against its own optimality conditions."""

from typing import Any

import numpy as np
import pytest

from hopefear import _core
from tests.reference import quadratic

LIMITS = (1e-9, 100_000)  # epsilon, iterations


def problem(seed: int, constraints: int, features: int, diagonal: bool, degenerate: bool) -> Any:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(constraints, features))
    loss = rng.uniform(-0.2, 1, constraints)
    if degenerate:
        x[0] = 0  # a candidate with the features of d_i
        x[1 % constraints] = x[-1]
        loss[1 % constraints] = loss[-1]
        x[2 % constraints] = x[-1]  # the same features, another loss
    sigma = rng.uniform(0.01, 2, features) if diagonal else np.full(features, 0.1)
    return rng.normal(size=features) * 0.3, sigma, x, loss


@pytest.mark.parametrize("constraints", [1, 2, 5, 20, 50])
@pytest.mark.parametrize("diagonal", [False, True], ids=["mira", "arow"])
@pytest.mark.parametrize("degenerate", [False, True], ids=["generic", "degenerate"])
def test_the_optimum_is_that_of_a_general_solver(constraints: int, diagonal: bool, degenerate: bool) -> None:
    for seed in range(3 if constraints < 20 else 1):
        before, sigma, x, loss = problem(seed, constraints, 8, diagonal, degenerate)
        w, alpha = _core.solve_working_set(x, loss, before, sigma, *LIMITS)
        assert alpha.min() >= 0
        assert alpha.sum() == pytest.approx(1, abs=1e-12)
        assert w == pytest.approx(before + sigma * (x.T @ alpha[1:]), abs=1e-12)
        value = quadratic.primal(w, before, sigma, x, loss)
        # no gap between primal and dual: the optimum, whatever another solver says
        assert value == pytest.approx(quadratic.dual(alpha[1:], before, sigma, x, loss), abs=1e-7)
        assert value == pytest.approx(quadratic.solve(before, sigma, x, loss)[1], abs=1e-6)


def test_one_constraint_has_a_closed_form() -> None:
    for seed in range(20):
        before, sigma, x, loss = problem(seed, 1, 3, diagonal=False, degenerate=False)
        step = np.clip((loss[0] - before @ x[0]) / (x[0] @ x[0]), 0, sigma[0])
        assert _core.solve_working_set(x, loss, before, sigma, *LIMITS)[0] == pytest.approx(
            before + step * x[0], abs=1e-8
        )


def test_only_d_i_gives_no_update() -> None:
    w, alpha = _core.solve_working_set(np.zeros((0, 2)), np.zeros(0), np.ones(2), np.ones(2), *LIMITS)
    assert (w.tolist(), alpha.tolist()) == ([1, 1], [1])


def test_constraints_that_cannot_be_met_do_not_loop() -> None:
    """The features of d_i and a higher loss: no weights help."""
    w, alpha = _core.solve_working_set(np.zeros((3, 2)), np.array([1.0, 1.0, 0.5]), np.ones(2), np.ones(2), *LIMITS)
    assert w.tolist() == [1, 1]
    assert alpha[0] == 0
