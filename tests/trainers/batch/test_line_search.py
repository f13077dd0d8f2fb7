"""The exact line search equals trying every interval between crossings."""

import math
from bisect import bisect_right
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import hopefear as hf
from hopefear import _core
from tests.reference import line_search
from tests.trainers.pools import QUALITY, list_pool, matrices, random_texts, split

METRICS = {"bleu": hf.Bleu(), "ter": hf.Ter(), "chrf": hf.Chrf(), "external": QUALITY}


def tied_pool(seed: int) -> hf.Pool:
    """Few values, exact in binary: ties, parallel lines, equal lines of other worth, lists of one, duplicates."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 7, rng.integers(1, 5)).tolist()
    dense = [rng.integers(-3, 4, size=(k, 2)) / 2 for k in sizes]
    for h in dense:
        if len(h) > 2 and rng.random() < 0.5:
            h[-1] = h[0]
    texts, references = random_texts(rng, sizes)
    return list_pool(dense, numbers=[rng.integers(0, 8, k) / 8 for k in sizes], texts=texts, references=references)


def brute_force(pool: hf.Pool, metric: hf.metrics.Metric, w: np.ndarray, d: np.ndarray) -> tuple[np.ndarray, list[Any]]:
    stats = metric.stats(pool, jobs=1)
    return stats, line_search.intervals(matrices(pool), split(pool, stats), metric.gain, w, d)


def bounds(left: Fraction | None, right: Fraction | None) -> tuple[float, float]:
    return -math.inf if left is None else float(left), math.inf if right is None else float(right)


seeds = st.integers(0, 2**32)
half_integers = st.integers(-4, 4).map(lambda i: i / 2)
flags = st.booleans()  # along an axis, the order of slopes is known


@pytest.mark.parametrize("name", METRICS)
@settings(max_examples=80)
@given(seed=seeds, w=st.tuples(half_integers, half_integers), d=st.tuples(half_integers, half_integers), axis=flags)
def test_the_optimum_is_that_of_all_interval_midpoints(name: Any, seed: Any, w: Any, d: Any, axis: Any) -> None:
    pool, metric = tied_pool(seed), METRICS[name]
    w, d = np.array(w), np.array(d)
    stats, pieces = brute_force(pool, metric, w, d)
    x, gain, gain_at_zero = _core.line_search(pool, stats, metric.core, w, d, -math.inf, math.inf, axis)
    assert gain == max(each for _, _, each in pieces)
    # Of equally good pieces the one nearest to where the weights are.
    good = [bounds(left, right) for left, right, each in pieces if each == gain]
    nearest = min(max(left, -right, 0.0) for left, right in good)
    assert any(max(left, -right, 0.0) == nearest and left < x < right for left, right in merge(good))
    at_zero = [each for left, right, each in pieces if bounds(left, right)[0] <= 0 < bounds(left, right)[1]]
    assert [gain_at_zero] == at_zero


def merge(pieces: Any) -> Any:
    """Neighbours joined: where lines cross below the envelope, the search sees no border."""
    out: list[Any] = []
    for left, right in pieces:
        if out and out[-1][1] == left:
            out[-1] = (out[-1][0], right)
        else:
            out.append((left, right))
    return out


@settings(max_examples=100)
@given(seed=seeds, limits=st.tuples(st.integers(-6, 6), st.integers(-6, 6)))
def test_the_optimum_between_two_limits(seed: Any, limits: Any) -> None:
    lower, upper = min(limits) / 4, max(limits) / 4
    pool, w, d = tied_pool(seed), np.array([1.0, -0.5]), np.array([0.5, 1.0])
    stats, pieces = brute_force(pool, QUALITY, w, d)
    allowed = [
        gain for left, right, gain in pieces if max(bounds(left, right)[0], lower) < min(bounds(left, right)[1], upper)
    ]
    x, gain, _ = _core.line_search(pool, stats, QUALITY.core, w, d, lower, upper, axis=False)
    if not allowed:  # no room to move
        assert (x, gain) == (0, -math.inf)
        return
    assert gain == max(allowed)
    assert lower <= x <= upper
    beyond = _core.line_search(pool, stats, QUALITY.core, w, d, x, math.nextafter(x, math.inf), axis=False)
    assert beyond[1] in (gain, -math.inf)


@pytest.mark.parametrize("name", METRICS)
@settings(max_examples=60)
@given(seed=seeds, w=st.tuples(half_integers, half_integers), axis=flags)
def test_the_surface_is_the_gain_at_every_midpoint(name: Any, seed: Any, w: Any, axis: Any) -> None:
    pool, metric = tied_pool(seed), METRICS[name]
    w, d = np.array(w), np.array([1.0, 0.5])
    stats, pieces = brute_force(pool, metric, w, d)
    x, gain = _core.error_surface(pool, stats, metric.core, w, d, axis)
    assert x[0] == -math.inf
    assert (np.diff(x) > 0).all()
    assert set(x[1:]) <= {float(left) for left, _, _ in pieces if left is not None}
    for left, right, expected in pieces:
        middle = float(line_search.middle_of(left, right))
        assert gain[bisect_right(x, middle) - 1] == expected
        if metric is QUALITY and middle * 1024 % 1 == 0:  # w + middle * d is exact
            assert (
                metric.gain(_core.one_best(pool, stats, metric.core, w + middle * d, jobs=1, places=None)[1])
                == expected
            )


@settings(max_examples=30)
@given(seed=seeds, lines=st.integers(1, 40), axis=flags)
def test_the_envelope_of_lines_against_a_thousand_points(seed: Any, lines: Any, axis: Any) -> None:
    """One sentence, and a metric that shows which candidate was chosen."""
    rng = np.random.default_rng(seed)
    h = rng.normal(size=(lines, 2))
    h[:, 1] = h[:, 1].round(1)  # some parallel
    pool = list_pool([h], numbers=[np.arange(lines)])
    stats = QUALITY.stats(pool)
    x, gain = _core.error_surface(pool, stats, QUALITY.core, np.array([1.0, 0.0]), np.array([0.0, 1.0]), axis)
    for point in rng.normal(size=1000) * 3:
        values = h[:, 0] + point * h[:, 1]
        taken = int(gain[bisect_right(x, point) - 1])
        assert values[taken] >= values.max() - 1e-12


@pytest.mark.parametrize("name", METRICS)
def test_an_axis_gives_the_pieces_of_any_line(name: Any) -> None:
    """Of long lists, with and without equal slopes, equal lines and many lines through one point."""
    rng, metric = np.random.default_rng(5), METRICS[name]

    def draw(shape: tuple[int, ...], grid: int) -> np.ndarray:
        drawn = rng.normal(size=shape)
        return (drawn * grid).round() / grid if grid else drawn  # exact in binary, so that ties are ties

    for grid in (1, 4, 0):
        sizes = [1, 2, 3, 200, 77]
        dense = [draw((k, 3), grid) for k in sizes]
        texts, references = random_texts(rng, sizes)
        numbers = [rng.integers(0, 8, k) / 8 for k in sizes]
        pool = list_pool(dense, numbers=numbers, texts=texts, references=references)
        stats = metric.stats(pool)
        for w, d in draw((10, 2, 3), grid):
            plain = _core.error_surface(pool, stats, metric.core, w, d, axis=False)
            assert [part.tolist() for part in plain] == [
                part.tolist() for part in _core.error_surface(pool, stats, metric.core, w, d, axis=True)
            ]


def test_a_single_candidate_has_one_unbounded_piece() -> None:
    pool = list_pool([np.ones((1, 2))], numbers=[[0.25]])
    x, gain = _core.error_surface(pool, QUALITY.stats(pool), QUALITY.core, np.ones(2), np.ones(2), axis=False)
    assert (x.tolist(), gain.tolist()) == ([-math.inf], [0.25])
    assert _core.line_search(pool, QUALITY.stats(pool), QUALITY.core, np.ones(2), np.ones(2), -9.0, 9.0, axis=False)[
        1:
    ] == (0.25, 0.25)


def test_an_endless_piece_is_entered_but_not_far() -> None:
    h = np.array([[0.0, 0.0], [-100.0, 1.0], [-300.0, 2.0]])
    pool = list_pool([h], numbers=[[0.0, 0.5, 1.0]])
    w, d = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    x, gain, at_zero = _core.line_search(pool, QUALITY.stats(pool), QUALITY.core, w, d, -math.inf, math.inf, axis=False)
    assert (gain, at_zero) == (1.0, 0.0)
    assert 200 < x < 300


def test_slopes_that_hardly_differ_do_no_harm() -> None:
    h = np.array([[0.0, 1.0], [1.0, 1.0 + 1e-16], [0.5, math.nextafter(1.0, 2.0)], [1.0, 5e-324], [0.0, 0.0]])
    pool = list_pool([h], numbers=[[0.1, 0.2, 0.3, 0.4, 0.5]])
    stats = QUALITY.stats(pool)
    for w, d in [
        ((1.0, 0.0), (0.0, 1.0)),
        ((0.0, 0.0), (0.0, 1.0)),
        ((0.0, 1e-300), (0.0, 1e300)),
        ((1.0, 1.0), (1e-320, 0.0)),
    ]:
        for axis in (False, True):
            line = np.array(w), np.array(d)
            x, gain, _ = _core.line_search(pool, stats, QUALITY.core, *line, -math.inf, math.inf, axis)
            assert math.isfinite(x)
            assert gain in (0.1, 0.2, 0.3, 0.4, 0.5)
