from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import hopefear as hf
from tests.forest.pools import random_pool
from tests.reference import enumeration as slow
from tests.reference.expectation_semiring import second_order
from tests.strategies import build, values, weighted_forests


@st.composite
def cases(draw: Any) -> Any:
    forest, w = draw(weighted_forests())
    gains = np.array([draw(values) for _ in range(forest.edge_count)], dtype=np.float64)
    temperature = draw(st.sampled_from([0.5, 1.0, 3.0]))
    mu = draw(st.sampled_from([-1.0, 0.0, 0.25, 1.0]))
    return forest, w, gains, temperature, mu


def brute_force(forest: Any, w: Any, gains: Any, temperature: Any, mu: Any) -> Any:
    everything = slow.derivations(forest)
    B = np.array([gains[list(d)].sum() for d in everything])
    s = (slow.scores(forest, w, everything) + mu * B) / temperature
    log_z = np.logaddexp.reduce(s)
    p = np.exp(s - log_z)
    h = np.array([slow.features(forest, d) for d in everything])
    uses = np.array([slow.uses(forest, d) for d in everything])
    return log_z, p, B, h, uses


@given(cases())
def test_expectations_equal_those_over_all_derivations(case: Any) -> None:
    forest, w, gains, temperature, mu = case
    log_z, p, B, h, uses = brute_force(*case)
    x = forest.expectations(w, gains, temperature, mu)
    close = {"rtol": 1e-9, "atol": 1e-9}
    np.testing.assert_allclose(x.log_z, log_z, **close)
    np.testing.assert_allclose(x.gain, p @ B, **close)
    np.testing.assert_allclose(x.features, p @ h, **close)
    np.testing.assert_allclose(x.gain_features, (p * B) @ h, **close)
    np.testing.assert_allclose(x.gradient, ((p * B) @ h - (p @ B) * (p @ h)) / temperature, **close)
    np.testing.assert_allclose(x.edges, p @ uses, **close)
    np.testing.assert_allclose(x.covariances, (p * B) @ uses - (p @ B) * (p @ uses), **close)
    node_uses = np.zeros((len(p), forest.node_count))
    np.add.at(node_uses.T, slow.heads(forest), uses.T)
    np.testing.assert_allclose(x.nodes, p @ node_uses, **close)


@given(cases())
def test_scalars_per_edge_equal_the_second_order_semiring(case: Any) -> None:
    forest, w, gains, temperature, mu = case
    scores = (forest.scores(w) + mu * gains) / temperature
    log_z, gain, features, gain_features = second_order(forest, scores, gains)
    x = forest.expectations(w, gains, temperature, mu)
    for ours, theirs in ((x.log_z, log_z), (x.gain, gain), (x.features, features), (x.gain_features, gain_features)):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


@given(weighted_forests())
def test_inside_times_outside(case: Any) -> None:
    forest, w = case
    below = slow.below(forest)
    inside, outside = forest.inside(w), forest.outside(w)
    nodes, edges = forest.posteriors(w)
    for v, trees in enumerate(below):
        expected = np.logaddexp.reduce(slow.scores(forest, w, trees)) if trees else -np.inf
        assert inside[v] == pytest.approx(expected, abs=1e-9)
    log_z = forest.log_z(w)
    assert log_z == pytest.approx(inside[-1], abs=1e-12)
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(
            np.where(nodes > 0, np.exp(inside + outside - log_z), 0.0), nodes, rtol=1e-9, atol=1e-12
        )
    x = forest.expectations(w)
    np.testing.assert_allclose(x.edges, edges, atol=1e-12)
    np.testing.assert_allclose(x.nodes, nodes, atol=1e-12)


def central_difference(function: Any, w: Any, step: float = 1e-5) -> Any:
    gradient = []
    for j in range(len(w)):
        up, down = w.copy(), w.copy()
        up[j] += step
        down[j] -= step
        gradient.append((function(up) - function(down)) / (2 * step))
    return np.array(gradient)


@given(cases())
def test_gradients_by_finite_differences(case: Any) -> None:
    forest, w, gains, temperature, mu = case
    x = forest.expectations(w, gains, temperature, mu)
    by_log_z = central_difference(lambda u: forest.expectations(u, gains, temperature, mu).log_z, w)
    np.testing.assert_allclose(x.features / temperature, by_log_z, rtol=1e-5, atol=1e-6)
    by_gain = central_difference(lambda u: forest.expectations(u, gains, temperature, mu).gain, w)
    np.testing.assert_allclose(x.gradient, by_gain, rtol=1e-5, atol=1e-6)
    # A.2: the derivative of E_mu[h] in mu is the same covariance
    up, down = (forest.expectations(w, gains, temperature, mu + d).features for d in (1e-5, -1e-5))
    np.testing.assert_allclose(x.gradient, (up - down) / 2e-5, rtol=1e-5, atol=1e-6)


@given(cases(), st.sampled_from([1e4, 1e5]))
def test_no_overflow_and_nothing_lost_at_large_scores(case: Any, scale: Any) -> None:
    forest, w, gains, _, _ = case
    _, p, B, h, _ = brute_force(forest, w * scale, gains, 1.0, 0.0)
    x = forest.expectations(w * scale, gains)
    assert np.isfinite(x.log_z)
    np.testing.assert_allclose(x.gain, p @ B, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(x.gradient, (p * B) @ h - (p @ B) * (p @ h), rtol=1e-9, atol=1e-9)


def test_an_edge_that_uses_a_node_twice_counts_it_by_position() -> None:
    leaf = [{"words": [0], "dense": [1.0]}, {"words": [1], "dense": [0.0]}]
    forest = build([leaf, [{"tails": [0, 0], "words": [-1, -2]}]], dense_names=["a"])
    nodes, edges = forest.posteriors([0.0])
    assert nodes.tolist() == [2.0, 1.0] and edges.tolist() == [1.0, 1.0, 1.0]
    assert forest.outside([0.0]).tolist() == pytest.approx([np.log(4), 0.0])
    assert forest.count_derivations() == 4


def test_pool_sums_do_not_depend_on_jobs() -> None:
    pool = random_pool(150)
    w = np.array([0.5, -1.0, 2.0])
    rng = np.random.default_rng(1)
    gains = rng.normal(size=pool.edge_offsets()[-1])
    serial, many = (pool.expectations(w, gains, 0.7, 0.1, jobs=jobs) for jobs in (1, 3))
    for name in ("log_z", "gain", "features", "gradient"):
        assert getattr(serial, name).tobytes() == getattr(many, name).tobytes()
    offsets = pool.edge_offsets()
    each = [pool[i].expectations(w, gains[offsets[i] : offsets[i + 1]], 0.7, 0.1) for i in range(len(pool))]
    np.testing.assert_allclose(serial.log_z, [x.log_z for x in each])
    np.testing.assert_allclose(serial.gain, [x.gain for x in each])
    np.testing.assert_allclose(serial.features, np.sum([x.features for x in each], axis=0))
    np.testing.assert_allclose(serial.gradient, np.sum([x.gradient for x in each], axis=0))
    plain = pool.expectations(w)
    assert len(plain.gain) == len(plain.gradient) == 0
    np.testing.assert_allclose(plain.log_z, [pool[i].log_z(w) for i in range(len(pool))])


def test_bad_arguments_are_refused() -> None:
    pool = random_pool(2)
    w = np.ones(3)
    for temperature in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(hf.InputError, match="temperature"):
            pool.expectations(w, temperature=temperature)
        with pytest.raises(hf.InputError, match="temperature"):
            pool[0].expectations(w, temperature=temperature)
    with pytest.raises(hf.InputError, match="3 gains for"):
        pool.expectations(w, np.ones(3))
    with pytest.raises(hf.InputError, match="3 gains for"):
        pool[0].expectations(w, np.ones(3))
    gains = np.full(pool.edge_offsets()[-1], np.nan)
    with pytest.raises(hf.InputError, match="NaN"):
        pool.expectations(w, gains)
