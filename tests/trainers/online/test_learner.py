"""One online learner against the paper's formulas on candidate lists."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hopefear import _core
from hopefear.errors import InputError
from tests.reference import quadratic
from tests.reference.online import Twin
from tests.trainers.online.lists import learner as online, pool_of, random_pool, rows, run

CASES: list[dict[str, Any]] = [
    {"algorithm": "sgd", "eta": 0.1},
    {"algorithm": "sgd", "eta": 0.1, "objective": "perceptron"},
    {"algorithm": "mira", "eta": 0.1},
    {"algorithm": "mira", "eta": 0.1, "objective": "perceptron"},
    {"algorithm": "arow", "eta": 0.5, "lambda_": 0.1},
    {"algorithm": "sgd", "eta": 0.1, "objective": "risk", "temperature": 0.7},
    {"algorithm": "arow", "eta": 0.1, "objective": "risk"},
    {"algorithm": "sgd", "eta": 0.1, "objective": "secant", "temperature": 1.3},
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(str(value) for value in case.values()))
@pytest.mark.parametrize("sparse", [0, 5])
def test_every_update_is_the_papers(case: dict[str, Any], sparse: int) -> None:
    pool = random_pool(3, sparse=sparse)
    w = np.linspace(-0.5, 0.5, len(pool.feature_names))
    twin = Twin(w, **case)
    soft = case.get("objective") in ("risk", "secant")
    # k-best expectations are over the exact B of each candidate, as the twin's are
    options = {**case, "epsilon": 1e-9, "approximation": "kbest" if soft else "forest", "k": 1000}
    learner = online(w, **options)
    learnt = run(learner, pool, -0.6)
    for _ in range(2):
        for h, b in rows(pool):
            twin.learn(h, b, -0.6)
    assert learner.weights == pytest.approx(twin.w, abs=2e-6)
    assert learner.sum() == pytest.approx(twin.s, abs=2e-5)
    assert (learner.t, len(learnt)) == (twin.t, twin.t)
    if case["algorithm"] == "arow":
        assert learner.state()[2] == pytest.approx(twin.sigma, rel=1e-4)


def test_reference_derivations() -> None:
    lines = [
        "0 ||| u v w x y ||| a=-9 ||| 0",  # the reference itself, which the model hates
        "0 ||| u v w x z ||| a=0 ||| 0",
        "0 ||| z z z z ||| a=1 ||| 0",
    ]
    pool = pool_of(lines, ["u v w x y"])
    towards = {}
    for reference, k in (("hope", 9), ("max-bleu", 9), ("local", 2), ("local", 3), ("bold", 9)):
        learner = online(np.ones(1), algorithm="sgd", eta=1.0, reference=reference, k=k)
        (learnt,) = run(learner, pool, passes=1)
        towards[reference, k] = round(float(learner.weights[0] - 1), 9)
        assert not learnt.skipped
    assert towards == {
        ("hope", 9): -1.0,  # u v w x z less z z z z
        ("max-bleu", 9): -10.0,
        ("local", 2): -1.0,
        ("local", 3): -10.0,
        ("bold", 9): -10.0,
    }
    unreachable = pool_of(lines[1:], ["u v w x y"])
    learner = online(np.ones(1), algorithm="sgd", eta=1.0, reference="bold")
    (learnt,) = run(learner, unreachable, passes=1)
    assert learnt.skipped
    assert learner.weights.tolist() == [1.0]


def test_threads_and_simulation_change_nothing() -> None:
    pool = random_pool(19, sentences=12)
    examples = _core.pool_examples(pool)
    order = list(range(12)) * 2

    def weights(jobs: int, count: int) -> list[list[float]]:
        learners = [online(np.zeros(4), eta=0.05, broadcast=count > 1) for _ in range(count)]
        _core.simulate(learners, examples, order, -1.0, jobs)
        return [learner.weights.tolist() for learner in learners]

    assert weights(1, 5) == weights(4, 5)
    sequential = online(np.zeros(4), eta=0.05)
    _core.learn([sequential], examples, [order], -1.0, 1)
    assert weights(3, 1) == [sequential.weights.tolist()]


def test_a_restored_state_continues_with_the_same_bits() -> None:
    pool = random_pool(23, sentences=8)
    examples = _core.pool_examples(pool)
    whole = [online(np.zeros(4), algorithm="arow", eta=0.5, broadcast=True) for _ in range(3)]
    _core.simulate(whole, examples, list(range(8)), -1.0, 1)
    first = [online(np.zeros(4), algorithm="arow", eta=0.5, broadcast=True) for _ in range(3)]
    _core.simulate(first, examples, list(range(3)), -1.0, 1)
    second = [online(np.ones(4), algorithm="arow", eta=0.5, broadcast=True) for _ in range(3)]
    for old, new in zip(first, second, strict=True):
        new.restore(*old.state())
    _core.simulate(second, examples, list(range(3, 8)), -1.0, 1)
    for one, other in zip(whole, second, strict=True):
        assert one.weights.tolist() == other.weights.tolist()
        assert one.sum().tolist() == other.sum().tolist()


def test_the_sum_knows_when_weights_are_mixed() -> None:
    pool = random_pool(29, sentences=2)
    learner = online(np.zeros(4), eta=0.1)
    examples = _core.pool_examples(pool)
    total = np.zeros(4)
    for i, start in ((0, None), (1, np.full(4, 0.25))):
        if start is not None:
            learner.move_to(start)
        _core.learn([learner], examples, [[i]], -1.0, 1)
        total += learner.weights
    assert learner.sum() == pytest.approx(total, abs=1e-12)


@pytest.mark.parametrize("message", [b"", b"abc", b"\0" * 8 + b"\xff\xff\xff\xff", b"\0" * 8 + b"\1\0\0\0" + b"\0" * 8])
def test_damaged_messages_are_refused(message: bytes) -> None:
    learner = online(np.zeros(4))
    with pytest.raises(InputError):
        learner.hear(message)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"objective": "hing"}, "objective must be one of hinge"),
        ({"algorithm": "adam"}, "algorithm must be one of sgd, mira, arow"),
        ({"reference": "oracle"}, "reference must be one of hope"),
        ({"objective": "risk"}, "approximation linear or kbest"),
        ({"objective": "risk", "approximation": "linear", "temperature": 0.0}, "temperature above 0"),
    ],
)
def test_wrong_options_are_errors(options: dict[str, Any], text: str) -> None:
    with pytest.raises(InputError, match=text):
        online(np.zeros(4), **options)


def test_the_dual_of_the_twin_is_right() -> None:
    """The twin's quadratic program is solved by a solver that the tests of SMO check."""
    x, loss = np.array([[1.0]]), np.array([0.5])
    assert quadratic.solve(np.zeros(1), np.ones(1), x, loss)[0] == pytest.approx([0.5], abs=1e-6)
