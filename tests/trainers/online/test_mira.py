"""MIRA: steps that end at the margin, and whole quadratic programs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hopefear as hf
from hopefear import _core
from tests.reference.cutting_planes import Learner
from tests.reference.online import Twin
from tests.trainers.online.lists import learner as online, pool_of, random_pool, rows, run


def test_mira_does_not_overshoot() -> None:
    """One constraint: the step is (loss - margin) / norm, eta at most."""
    pool = pool_of(["0 ||| u v w x y ||| a=1 ||| 0", "0 ||| z z z z ||| a=0 ||| 0"], ["u v w x y"])
    for eta in (0.01, 100.0):
        learner = online(np.zeros(1), algorithm="mira", eta=eta, epsilon=1e-9)
        (learnt,) = run(learner, pool, passes=1)
        assert learner.weights[0] == pytest.approx(min(eta, learnt.loss))


def test_many_constraints_at_once() -> None:
    """The form of 2008 with more constraints than candidates is the whole quadratic program."""
    pool = random_pool(11, sentences=1)
    (h, b) = rows(pool)[0]
    twin = Twin(np.zeros(4), "mira", 0.1)
    twin.learn(h, b)
    learner = online(np.zeros(4), algorithm="mira", eta=0.1, constraints=50, epsilon=1e-9)
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
        other = online(w, **options)
        _core.learn([other], examples, [[i]], -1.0, 1)
        messages += other.take_messages()
        assert other.take_messages() == []
    learner = online(w, **options)
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

    optimum = minimize(
        lambda z: float(((z[:4] - w) ** 2).sum() / (2 * 0.2) + z[4:].sum()),
        np.concatenate([w, np.full(3, 3.0)]),
        method="SLSQP",
        constraints=[{"type": "ineq", "fun": slack, "args": (i,)} for i in range(3)],
        options={"ftol": 1e-12, "maxiter": 1000},
    )
    assert primal(learner.weights) == pytest.approx(primal(optimum.x[:4]), abs=1e-6)
    assert primal(learner.weights) < primal(w) - 0.01


FLAVOURS: dict[str, dict[str, Any]] = {
    "mira": {"algorithm": "mira", "eta": 0.2},
    "arow": {"algorithm": "arow", "eta": 0.2, "lambda_": 0.01},
}


@pytest.mark.parametrize("flavour", FLAVOURS)
@pytest.mark.parametrize("around", [0.0, -20.0, -60.0])
def test_cutting_planes_are_algorithm_2(flavour: str, around: float) -> None:
    """The same planes and the same weights, wherever the features lie: a list has each of them in every candidate."""
    options = FLAVOURS[flavour]
    w = np.array([0.3, -0.1, 0.2, 0.05])
    most = 0
    for seed in range(5):
        pool = random_pool(seed, sentences=20, candidates=25, around=around)
        learner = online(w, epsilon=1e-6, **options)
        twin = Learner(w, np.full(4, options["eta"]), options.get("lambda_", 0.0))
        learnt = run(learner, pool, passes=1)
        planes = [len(twin.learn(h, b)[1]) for h, b in rows(pool)]
        assert [step.constraints for step in learnt] == planes
        assert learner.weights == pytest.approx(twin.w, abs=1e-4)
        most = max(most, *planes)
    assert most > 3


@pytest.mark.parametrize("flavour", FLAVOURS)
@pytest.mark.parametrize("around", [0.0, -20.0, -60.0])
def test_sets_of_others_are_algorithm_4(flavour: str, around: float) -> None:
    """Two learners that exchange their working sets after each sentence."""
    options = FLAVOURS[flavour]
    w = np.array([0.3, -0.1, 0.2, 0.05])
    for seed in range(3):
        pool = random_pool(seed, sentences=16, candidates=12, around=around)
        learners = [online(w, epsilon=1e-6, broadcast=True, **options) for _ in range(2)]
        twins = [Learner(w, np.full(4, options["eta"]), options.get("lambda_", 0.0)) for _ in range(2)]
        heard: list[list[Any]] = [[], []]
        lists, examples = rows(pool), _core.pool_examples(pool)
        for first in range(0, len(lists), 2):
            sets = [twins[k].learn(*lists[first + k], heard=heard[k]) for k in range(2)]
            learnt = _core.learn(learners, examples, [[first], [first + 1]], -1.0, 1)
            assert [step[0].constraints for step in learnt] == [len(loss) for _, loss in sets]
            heard = [[sets[1]], [sets[0]]]
            messages = [learner.take_messages() for learner in learners]
            for k in range(2):
                for message in messages[1 - k]:
                    learners[k].hear(message)
        for learner, twin in zip(learners, twins, strict=True):
            assert learner.weights == pytest.approx(twin.w, abs=1e-4)


def test_a_constraint_that_no_weights_can_meet_does_not_hide_the_others() -> None:
    """Two candidates with the same features: x is 0, xi cannot fall below their loss, and w must not run after it."""
    lines = ["0 ||| u v w x y ||| a=1 ||| 0", "0 ||| u v w z z ||| a=1 ||| 0", "0 ||| z z z z ||| a=0 ||| 0"]
    pool = pool_of(lines, ["u v w x y"])
    document = Twin(np.zeros(1)).document
    same, other = (document.B(rows(pool)[0][1][0]) - document.B(b) for b in rows(pool)[0][1][1:])
    learner = online(np.zeros(1), algorithm="mira", eta=100.0, epsilon=1e-9)
    (learnt,) = run(learner, pool, passes=1)
    assert learnt.constraints == 2
    assert learner.weights[0] == pytest.approx(other - same)


def test_planes_are_counted() -> None:
    """With ``max_planes`` constraints at most, as the option says."""
    pool = random_pool(3, sentences=12, candidates=25)
    planes = {}
    for limit in (1, 2, 30):
        learner = hf.Mira(eta=0.5, epsilon=1e-6, max_planes=limit).learner(np.zeros(4), pool.feature_names, False)
        planes[limit] = max(each.constraints for each in run(learner, pool, passes=1))
    assert planes[1] == 1
    assert planes[2] == 2
    assert 2 < planes[30] < 30
    assert hf.Mira(max_planes=7).options()["max_planes"] == 7
