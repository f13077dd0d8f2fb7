"""One online learner against the paper's formulas on candidate lists."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hopefear as hf
from hopefear import _core
from hopefear.errors import InputError
from tests.reference import quadratic
from tests.reference.online import Twin

WORDS = ["u", "v", "w", "x", "y", "z"]


def random_pool(seed: int, sentences: int = 6, candidates: int = 7, features: int = 4, sparse: int = 0) -> hf.Pool:
    rng = np.random.default_rng(seed)
    lines, references = [], []
    for i in range(sentences):
        references.append(" ".join(rng.choice(WORDS, rng.integers(4, 9))))
        seen = set()
        while len(seen) < candidates:
            words = " ".join(rng.choice(WORDS, rng.integers(3, 9)))
            if words in seen:
                continue
            seen.add(words)
            values = " ".join(f"f{j}={rng.normal():.6f}" for j in range(features))
            values += "".join(f" s{j}=1" for j in rng.choice(50, sparse, replace=False)) if sparse else ""
            lines.append(f"{i} ||| {words} ||| {values} ||| 0")
    return pool_of(lines, references)


def pool_of(lines: list[str], references: list[str]) -> hf.Pool:
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "list").write_text("".join(line + "\n" for line in lines))
        (Path(folder) / "ref").write_text("".join(line + "\n" for line in references))
        return hf.read_nbest(Path(folder) / "list", [Path(folder) / "ref"])


def rows(pool: hf.Pool) -> list[tuple[np.ndarray, np.ndarray]]:
    """h and b of the candidates of each sentence."""
    begin, stats = pool.row_begin(), hf.Bleu().stats(pool)
    width = len(pool.feature_names)
    found = []
    for i in range(len(pool)):
        h = np.zeros((begin[i + 1] - begin[i], width))
        forest = pool[i]
        h[:, : forest.dense.shape[1]] = forest.dense
        if len(forest.sparse_begin):
            for e in range(len(h)):
                among = slice(forest.sparse_begin[e], forest.sparse_begin[e + 1])
                h[e, forest.sparse_ids[among]] = forest.sparse_values[among]
        found.append((h, stats[begin[i] : begin[i + 1]]))
    return found


def run(learner: _core.Learner, pool: hf.Pool, mu: float = -1.0, passes: int = 2) -> list[_core.Learnt]:
    order = list(range(len(pool))) * passes
    return _core.learn([learner], _core.pool_examples(pool), [order], mu, 1)[0]


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
    learner = _core.Learner(w, None, **options)
    learnt = run(learner, pool, -0.6)
    for _ in range(2):
        for h, b in rows(pool):
            twin.learn(h, b, -0.6)
    assert learner.weights == pytest.approx(twin.w, abs=2e-6)
    assert learner.sum() == pytest.approx(twin.s, abs=2e-5)
    assert (learner.t, len(learnt)) == (twin.t, twin.t)
    if case["algorithm"] == "arow":
        assert learner.state()[2] == pytest.approx(twin.sigma, rel=1e-4)


def test_sgd_by_hand() -> None:
    """Two candidates: hope is the reference, fear the other; w moves by eta times the difference of their features."""
    pool = pool_of(["0 ||| u v w x y ||| a=1 b=0 ||| 0", "0 ||| z z z z ||| a=0 b=2 ||| 0"], ["u v w x y"])
    learner = _core.Learner(np.zeros(2), None, algorithm="sgd", eta=0.25)
    (learnt,) = run(learner, pool, passes=1)
    assert dict(zip(pool.feature_names, learner.weights, strict=True)) == {"a": 0.25, "b": -0.5}
    assert learnt.hope > learnt.fear
    assert learnt.loss == pytest.approx(learnt.hope - learnt.fear)  # w was 0: nothing but the loss
    assert (learnt.best, learnt.constraints) == (learnt.hope, 1)  # equal scores: the first


def test_mira_does_not_overshoot() -> None:
    """One constraint: the step is (loss - margin) / norm, eta at most."""
    pool = pool_of(["0 ||| u v w x y ||| a=1 ||| 0", "0 ||| z z z z ||| a=0 ||| 0"], ["u v w x y"])
    for eta in (0.01, 100.0):
        learner = _core.Learner(np.zeros(1), None, algorithm="mira", eta=eta, epsilon=1e-9)
        (learnt,) = run(learner, pool, passes=1)
        assert learner.weights[0] == pytest.approx(min(eta, learnt.loss))


def scaled(pool: hf.Pool, name: str, factor: float) -> hf.Pool:
    """The same lists with one feature in other units."""
    j = pool.feature_names.index(name)
    lines, references = [], []
    for i in range(len(pool)):
        references.append(pool.references(i)[0])
        for e, row in enumerate(pool[i].dense):
            values = [value * factor if k == j else value for k, value in enumerate(row)]
            shown = " ".join(f"{n}={v!r}" for n, v in zip(pool.feature_names, map(float, values), strict=True))
            lines.append(f"{i} ||| {pool.text(i, e)} ||| {shown} ||| 0")
    return pool_of(lines, references)


@pytest.mark.parametrize(("algorithm", "invariant"), [("arow", True), ("mira", False), ("sgd", False)])
def test_units_of_a_feature(algorithm: str, invariant: bool) -> None:
    """3.3: with h_j c, w_j / c and a variance sigma_j / c^2, AROW learns the same; MIRA and SGD do not."""
    pool, c = random_pool(5), 8.0
    other = scaled(pool, "f1", c)
    units = np.array([c if name == "f1" else 1.0 for name in pool.feature_names])
    w, sigma = np.full(4, 0.2), np.full(4, 0.3)
    options: dict[str, Any] = {"algorithm": algorithm, "eta": 0.3, "epsilon": 1e-9}
    learners = [
        _core.Learner(w, sigma if algorithm == "arow" else None, **options),
        _core.Learner(w / units, sigma / units**2 if algorithm == "arow" else None, **options),
    ]
    for learner, lists in zip(learners, (pool, other), strict=True):
        run(learner, lists)
    same = np.allclose(learners[0].weights, learners[1].weights * units, atol=1e-5)
    assert same is invariant


def test_secant_becomes_risk_and_hope_and_fear() -> None:
    """A.2: for small mu the secant is the gradient of the risk; at temperature 0 and mu = 1 it is hope minus fear."""
    pool, w = random_pool(7), np.linspace(-0.4, 0.6, 4)
    common: dict[str, Any] = {"algorithm": "sgd", "eta": 0.1, "k": 1000}

    def learnt(**options: Any) -> np.ndarray:
        mu = options.pop("mu")
        learner = _core.Learner(w, None, **{**common, **options})
        run(learner, pool, mu, passes=1)
        return learner.weights

    risk = learnt(objective="risk", approximation="kbest", mu=-1.0, eta=0.2)  # eta' = 2 eta
    assert learnt(objective="secant", approximation="kbest", mu=-1e-4) == pytest.approx(risk, abs=1e-6)
    assert np.abs(risk - w).max() > 0.01
    cold = learnt(objective="secant", approximation="kbest", temperature=0.0, mu=-1.0)
    assert cold == pytest.approx(learnt(objective="hinge", approximation="kbest", mu=-1.0), abs=1e-12)


def test_reference_derivations() -> None:
    lines = [
        "0 ||| u v w x y ||| a=-9 ||| 0",  # the reference itself, which the model hates
        "0 ||| u v w x z ||| a=0 ||| 0",
        "0 ||| z z z z ||| a=1 ||| 0",
    ]
    pool = pool_of(lines, ["u v w x y"])
    towards = {}
    for reference, k in (("hope", 9), ("max-bleu", 9), ("local", 2), ("local", 3), ("bold", 9)):
        learner = _core.Learner(np.ones(1), None, algorithm="sgd", eta=1.0, reference=reference, k=k)
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
    learner = _core.Learner(np.ones(1), None, algorithm="sgd", eta=1.0, reference="bold")
    (learnt,) = run(learner, unreachable, passes=1)
    assert learnt.skipped
    assert learner.weights.tolist() == [1.0]


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


def test_updates_of_others_are_summed() -> None:
    """Asynchronous SGD: what one learner did, the other does too when it hears of it."""
    pool = random_pool(17, sentences=2)
    examples = _core.pool_examples(pool)
    learners = [_core.Learner(np.zeros(4), None, algorithm="sgd", eta=0.1, broadcast=True) for _ in range(2)]
    _core.simulate(learners, examples, [0, 1], -1.0, 1)
    own = [learner.weights for learner in learners]
    states = [learner.state() for learner in learners]
    _core.simulate(learners, examples, [0, 1], -1.0, 1)  # they hear, then learn again
    for i, learner in enumerate(learners):
        _, u, sigma, document, t, inbox = states[i]
        assert len(inbox) == 1
        alone = _core.Learner(np.zeros(4), None, algorithm="sgd", eta=0.1)
        alone.restore(own[i] + own[1 - i], u, sigma, document, t, [])
        _core.learn([alone], examples, [[i]], -1.0, 1)
        assert learner.weights == pytest.approx(alone.weights, abs=1e-6)  # working sets travel with 32 bits
    assert not np.allclose(own[0], own[1])


def test_threads_and_simulation_change_nothing() -> None:
    pool = random_pool(19, sentences=12)
    examples = _core.pool_examples(pool)
    order = list(range(12)) * 2

    def weights(jobs: int, count: int) -> list[list[float]]:
        learners = [_core.Learner(np.zeros(4), None, eta=0.05, broadcast=count > 1) for _ in range(count)]
        _core.simulate(learners, examples, order, -1.0, jobs)
        return [learner.weights.tolist() for learner in learners]

    assert weights(1, 5) == weights(4, 5)
    sequential = _core.Learner(np.zeros(4), None, eta=0.05)
    _core.learn([sequential], examples, [order], -1.0, 1)
    assert weights(3, 1) == [sequential.weights.tolist()]


def test_a_state_goes_on_with_the_same_bits() -> None:
    pool = random_pool(23, sentences=8)
    examples = _core.pool_examples(pool)
    whole = [_core.Learner(np.zeros(4), None, algorithm="arow", eta=0.5, broadcast=True) for _ in range(3)]
    _core.simulate(whole, examples, list(range(8)), -1.0, 1)
    first = [_core.Learner(np.zeros(4), None, algorithm="arow", eta=0.5, broadcast=True) for _ in range(3)]
    _core.simulate(first, examples, list(range(3)), -1.0, 1)
    second = [_core.Learner(np.ones(4), None, algorithm="arow", eta=0.5, broadcast=True) for _ in range(3)]
    for old, new in zip(first, second, strict=True):
        new.restore(*old.state())
    _core.simulate(second, examples, list(range(3, 8)), -1.0, 1)
    for one, other in zip(whole, second, strict=True):
        assert one.weights.tolist() == other.weights.tolist()
        assert one.sum().tolist() == other.sum().tolist()


def test_the_sum_knows_when_weights_are_mixed() -> None:
    pool = random_pool(29, sentences=2)
    learner = _core.Learner(np.zeros(4), None, eta=0.1)
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
    learner = _core.Learner(np.zeros(4), None)
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
def test_wrong_options_are_said(options: dict[str, Any], text: str) -> None:
    with pytest.raises(InputError, match=text):
        _core.Learner(np.zeros(4), None, **options)


def test_the_dual_of_the_twin_is_right() -> None:
    """The twin's quadratic program is solved by a solver that the tests of SMO check."""
    x, loss = np.array([[1.0]]), np.array([0.5])
    assert quadratic.solve(np.zeros(1), np.ones(1), x, loss)[0] == pytest.approx([0.5], abs=1e-6)
