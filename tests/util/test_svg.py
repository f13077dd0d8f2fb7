"""Charts as SVG."""

from __future__ import annotations

import itertools
import math
from xml.etree import ElementTree

import pytest
from hypothesis import given, strategies as st

from hopefear.util.svg import (
    PALETTE,
    Curve,
    Frame,
    line_chart,
    nice_ticks,
    number,
    outside,
    robust_span,
    tag,
    tick_text,
)

SVG = "{http://www.w3.org/2000/svg}"


VALUES = st.floats(-1e6, 1e6).filter(lambda value: value == 0 or abs(value) > 1e-30)


@given(VALUES, VALUES, st.integers(1, 10))
def test_ticks_span_the_range_in_equal_steps(a: float, b: float, count: int) -> None:
    low, high = min(a, b), max(a, b)
    ticks = nice_ticks(low, high, count)
    step = ticks[1] - ticks[0]
    assert step > 0 and ticks[0] <= low + 1e-6 * step and ticks[-1] >= high - 1e-6 * step
    assert all(y - x == pytest.approx(step, rel=1e-4) for x, y in itertools.pairwise(ticks))


@given(VALUES, VALUES, st.integers(1, 10))
def test_ticks_are_written_as_they_are(a: float, b: float, count: int) -> None:
    """A label is the tick itself, not the tick rounded; and ticks are round: one digit other than 0 in their step."""
    ticks = nice_ticks(min(a, b), max(a, b), count)
    step = ticks[1] - ticks[0]
    assert f"{step:.3e}"[1:5] == ".000" and f"{step:.0e}"[0] in "125"
    if step >= 1e-4 and max(abs(ticks[0]), abs(ticks[-1])) < 1e6:
        for tick in ticks:
            assert float(tick_text(tick, ticks).replace("\N{MINUS SIGN}", "-")) == pytest.approx(tick, abs=1e-9)


def test_ticks_of_ten_epochs() -> None:
    assert [tick_text(tick, nice_ticks(0, 10, 4)) for tick in nice_ticks(0, 10, 4)] == ["0", "5", "10"]
    assert [tick_text(tick, nice_ticks(0, 10, 5)) for tick in nice_ticks(0, 10, 5)] == ["0", "2", "4", "6", "8", "10"]


def test_one_bad_run_does_not_flatten_the_others() -> None:
    good = [Curve(f"good {k}", [1, 2, 3, 4], [40.0 + k / 5, 42.0, 43.0 + k / 5, 43.5]) for k in range(3)]
    bad = Curve("bad", [1, 2, 3, 4], [30.0, 12.0, 11.0, 10.0])
    low, high = robust_span([*good, bad])
    assert (low, high) == (40.0, 43.5) and outside([*good, bad], low, high) == [bad]
    assert robust_span([*good[:1], bad]) == (10.0, 43.5)  # of two nobody knows which is the bad one
    assert robust_span(good) == (40.0, 43.5) and robust_span([]) == (0.0, 1.0)


@pytest.mark.parametrize("value", [36.12, -4e-9, 0.0, 1e9])
def test_values_that_differ_in_their_last_digits_can_be_drawn(value: float) -> None:
    curve = Curve("noise", [1, 2], [value, math.nextafter(value, math.inf)])
    ElementTree.fromstring(line_chart("t", "x", "y", [curve]))


def test_text_and_attributes_are_escaped() -> None:
    assert tag("text", "<b>", title='"&') == '<text title="&quot;&amp;">&lt;b&gt;</text>'
    assert tag("path", d="M0 0", stroke_width=2, class_="a", fill=None) == '<path d="M0 0" stroke-width="2" class="a"/>'
    assert [number(1.0), number(1.25), number(-3.04)] == ["1", "1.2", "-3"]


def test_a_frame_puts_the_ends_of_its_ticks_at_its_edges() -> None:
    frame = Frame(10.0, 20.0, 100.0, 50.0, [0.0, 1.0, 2.0], [5.0, 6.0])
    assert (frame.x(0.0), frame.x(2.0), frame.y(5.0), frame.y(6.0)) == (10.0, 110.0, 70.0, 20.0)


def test_a_chart_is_well_formed_and_draws_every_curve() -> None:
    curves = [
        Curve("<line>", [1, 2, 3], [1.0, 4.0, 2.0], [0.5, 0.0, 0.1]),
        Curve("cloud & points", [1.5], [3.0], points=True),
        Curve("nothing", [], []),
    ]
    chart = ElementTree.fromstring(line_chart("a < b", "x", "y", curves, standalone=True))
    series = [group for group in chart.iter(f"{SVG}g") if "series" in group.get("class", "")]
    assert [group.get("class") for group in series] == ["series s0", "series s1"]
    assert len(series[0].findall(f"{SVG}polyline")) == 1 and len(series[0].findall(f"{SVG}circle")) == 3
    assert len(series[0].findall(f"{SVG}path")) == 2  # bars where there is an error
    assert not series[1].findall(f"{SVG}polyline")
    assert "<line>" in [text.text for text in chart.iter(f"{SVG}text")]


def test_a_curve_keeps_its_colour_where_another_is_empty() -> None:
    empty, full = Curve("none", [], []), Curve("some", [1, 2], [1.0, 2.0])
    assert "var(--c1)" in line_chart("t", "x", "y", [empty, full])
    assert "var(--c0)" in line_chart("t", "x", "y", [*[empty] * len(PALETTE), full])
    ElementTree.fromstring(line_chart("t", "x", "y", [empty]))
