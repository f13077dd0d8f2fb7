from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import hopefear as hf
from hopefear.data import forests as synthetic_forests
from tests.forest.pools import random_pool
from tests.reference import enumeration as slow, envelope_semiring
from tests.strategies import build, weighted_forests, weights


@st.composite
def cases(draw: Any, **options: Any) -> Any:
    forest, w = draw(weighted_forests(**options))
    return forest, w, draw(weights(forest))


def check(envelope: Any, forest: Any, w: Any, direction: Any, lines: Any, x: Any) -> None:
    assert envelope.x[0] == -np.inf and (np.diff(envelope.x[1:]) > 0).all()
    assert [(Fraction(b), Fraction(a)) for b, a in zip(envelope.slope, envelope.intercept, strict=True)] == lines
    np.testing.assert_allclose(envelope.x[1:], [float(crossing) for crossing in x], rtol=1e-12)
    for i in range(len(envelope)):
        derivation = envelope[i]
        h = slow.features(forest, tuple(derivation.edges))
        assert (h @ w, h @ direction) == (envelope.intercept[i], envelope.slope[i])
        assert derivation.score == envelope.intercept[i]


@given(cases())
def test_forest_equals_the_semiring_and_the_enumeration(case: Any) -> None:
    forest, w, direction = case
    lines, x = envelope_semiring.envelope(forest, w, direction)
    everything = slow.derivations(forest)
    a, b = slow.scores(forest, w, everything), slow.scores(forest, direction, everything)
    assert envelope_semiring.upper([(Fraction(q), Fraction(p)) for p, q in zip(a, b, strict=True)]) == (lines, x)
    check(forest.envelope(w, direction), forest, w, direction, lines, x)


@given(cases(shape="lattice", max_nodes=8))
def test_lattice(case: Any) -> None:
    forest, w, direction = case
    check(forest.envelope(w, direction), forest, w, direction, *envelope_semiring.envelope(forest, w, direction))


@given(cases(shape="list"))
def test_list(case: Any) -> None:
    forest, w, direction = case
    envelope = forest.envelope(w, direction)
    check(envelope, forest, w, direction, *envelope_semiring.envelope(forest, w, direction))
    for i in range(len(envelope)):  # among equal candidates the first
        (edge,) = envelope[i].edges
        rows = [slow.edge_features(forest, e) for e in range(edge)]
        assert (envelope.intercept[i], envelope.slope[i]) not in [(h @ w, h @ direction) for h in rows]


@pytest.mark.parametrize("size", [7, 8, 9, 11, 30, 203])
@pytest.mark.parametrize("values", ["small integers", "integers", "numbers"])
def test_long_lists_of_which_most_lines_are_below_the_others(size: Any, values: Any) -> None:
    rng = np.random.default_rng(size)
    for _ in range(20):
        spread = {"small integers": 3, "integers": 50, "numbers": 1}[values]
        lines = rng.normal(size=(size, 2)) * spread
        if values != "numbers":
            lines = lines.round()  # equal lines, parallel ones, several through one point
        table = {"group": ["0"] * size, "a": lines[:, 0], "b": lines[:, 1], "text": [str(i) for i in range(size)]}
        pool = hf.Pool.from_table(table, group="group", features=["a", "b"], text="text")
        envelope = pool[0].envelope(np.array([1.0, 0.0]), np.array([0.0, 1.0]))
        expected, x = envelope_semiring.upper([(Fraction(b), Fraction(a)) for a, b in lines.tolist()])
        assert [(Fraction(b), Fraction(a)) for b, a in zip(envelope.slope, envelope.intercept, strict=True)] == expected
        np.testing.assert_allclose(envelope.x[1:], [float(crossing) for crossing in x], rtol=1e-9)
        for i in range(len(envelope)):
            (edge,) = envelope[i].edges
            first = next(j for j, (a, b) in enumerate(lines) if (a, b) == (envelope.intercept[i], envelope.slope[i]))
            assert edge == first


@pytest.mark.parametrize("sparse", [0, 50])
def test_equals_viterbi_at_1000_points(sparse: Any) -> None:
    forest = synthetic_forests.forest(2000, source_length=12, sparse=sparse, seed=3)
    rng = np.random.default_rng(4)
    w, direction = rng.normal(size=(2, len(forest.features)))
    envelope = forest.envelope(w, direction)
    assert len(envelope) > 20
    points = np.concatenate([rng.normal(size=500) * 3, rng.standard_cauchy(size=500), envelope.x[1:]])
    for x in points:
        i = envelope.at(x)
        best = forest.viterbi(w + x * direction).score
        assert envelope.intercept[i] + x * envelope.slope[i] == pytest.approx(best, abs=1e-9, rel=1e-12)
    for x, y in zip(envelope.x[1:], envelope.x[2:], strict=False):
        middle = forest.viterbi(w + (x + y) / 2 * direction)
        assert middle.edges.tolist() == envelope[envelope.at((x + y) / 2)].edges.tolist()


def test_direction_that_changes_nothing_gives_one_segment() -> None:
    forest = synthetic_forests.forest(500, seed=1)
    w = np.ones(14)
    envelope = forest.envelope(w, np.zeros(14))
    assert len(envelope) == 1 and envelope[0].score == pytest.approx(forest.viterbi(w).score)
    assert envelope.at(-1e300) == envelope.at(1e300) == 0


@given(cases(), st.sampled_from([2.0**-20, 2.0**14, 2.0**27]))
def test_scale_of_weights_and_direction_only_scales_x(case: Any, scale: Any) -> None:
    forest, w, direction = case
    plain, scaled = forest.envelope(w, direction), forest.envelope(w * scale, direction)
    assert len(plain) == len(scaled)
    assert (plain.x * scale).tolist() == scaled.x.tolist()


def test_pool_in_parallel() -> None:
    pool = random_pool(25)
    w, direction = np.array([1.0, 0.5, -1.0]), np.array([0.3, -1.0, 2.0])
    serial, many = pool.envelope(w, direction, jobs=1), pool.envelope(w, direction, jobs=3)
    for i in range(len(pool)):
        single = pool[i].envelope(w, direction)
        for envelope in (serial[i], many[i]):
            assert envelope.x.tolist() == single.x.tolist()
            assert [envelope[j].text for j in range(len(envelope))] == [single[j].text for j in range(len(single))]


def test_no_derivation() -> None:
    with pytest.raises(hf.InputError, match="no candidate"):
        build([[]], dense_names=["a"]).envelope([1.0], [1.0])
    with pytest.raises(hf.InputError, match="no derivation"):
        build([[], [{"tails": [0], "words": [-1]}]], dense_names=["a"]).envelope([1.0], [1.0])
