"""MIRA: steps that end at the margin, and whole quadratic programs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hopefear import _core
from tests.reference.online import Twin
from tests.trainers.online.lists import pool_of, random_pool, rows, run


def test_mira_does_not_overshoot() -> None:
    """One constraint: the step is (loss - margin) / norm, eta at most."""
    pool = pool_of(["0 ||| u v w x y ||| a=1 ||| 0", "0 ||| z z z z ||| a=0 ||| 0"], ["u v w x y"])
    for eta in (0.01, 100.0):
        learner = _core.Learner(np.zeros(1), None, algorithm="mira", eta=eta, epsilon=1e-9)
        (learnt,) = run(learner, pool, passes=1)
        assert learner.weights[0] == pytest.approx(min(eta, learnt.loss))


def test_many_constraints_at_once() -> None:
    """The form of 2008 with more constraints than candidates is the whole quadratic program."""
    pool = random_pool(11, sentences=1)
    (h, b) = rows(pool)[0]
    twin = Twin(np.zeros(4), "mira", 0.1)
    twin.learn(h, b)
    learner = _core.Learner(np.zeros(4), None, algorithm="mira", eta=0.1, constraints=50, epsilon=1e-9)
    run(learner, pool, passes=1)
    assert learner.weights == pytest.approx(twin.w, abs=1e-6)


def test_working_sets_of_others_join_the_program() -> None:
    """Algorithm 4: w minimises the sum of the hinge losses of all sets, as a general solver does."""
    pool = random_pool(13, sentences=3, candidates=4)
    w = np.linspace(-0.2, 0.3, 4)
    options: dict[str, Any] = {"algorithm": "mira", "eta": 0.2, "epsilon": 1e-9, "constraints": 50, "broadcast": True}
    examples = _core.pool_examples(pool)
    messages = []
    for i in (0, 1):
        other = _core.Learner(w, None, **options)
        _core.learn([other], examples, [[i]], -1.0, 1)
        messages += other.take_messages()
        assert other.take_messages() == []
    learner = _core.Learner(w, None, **options)
    for message in messages:
        learner.hear(message)
    _core.learn([learner], examples, [[2]], -1.0, 1)

    document = Twin(w).document
    x, loss = [], []
    for h, b in rows(pool):
        gain = np.array([document.B(each) for each in b])
        hope = int(np.argmax(h @ w + gain))
        x.append(h[hope] - h)
        loss.append(gain[hope] - gain)

    def primal(v: np.ndarray) -> float:
        hinges = sum(max(0.0, *(own - d @ v)) for d, own in zip(x, loss, strict=True))
        return float(((v - w) ** 2).sum() / (2 * 0.2) + hinges)

    from scipy.optimize import minimize

    def slack(z: np.ndarray, i: int) -> np.ndarray:
        return z[4 + i] - (loss[i] - x[i] @ z[:4])

    found = minimize(
        lambda z: float(((z[:4] - w) ** 2).sum() / (2 * 0.2) + z[4:].sum()),
        np.concatenate([w, np.full(3, 3.0)]),
        method="SLSQP",
        constraints=[{"type": "ineq", "fun": slack, "args": (i,)} for i in range(3)],
        options={"ftol": 1e-12, "maxiter": 1000},
    )
    assert primal(learner.weights) == pytest.approx(primal(found.x[:4]), abs=1e-6)
    assert primal(learner.weights) < primal(w) - 0.01
