"""Coordinate ascent: against a search over the whole grid, and its rules one by one."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from hopefear.errors import InputError
from hopefear.train.coordinate_ascent import Ascended, CoordinateAscent, Parameter, read_parameters
from hopefear.train.decoder_command import DecoderError


def no_retune(setting: Any, weights: Any, number: Any) -> None:
    raise AssertionError("not to be called")


def climb(parameters: Any, function: Any, retune: Any = no_retune, weights: Any = None, **options: Any) -> Ascended:
    options = {"every": 0, "trials": 0, **options}
    return CoordinateAscent(**options).run(parameters, lambda s, w: function(s), retune, weights or {})


def real(name: Any, *values: Any, smallest: float = 0.01, **more: Any) -> Parameter:
    return Parameter(name, tuple(values), values[len(values) // 2], smallest=smallest, **more)


@settings(max_examples=60, derandomize=True, deadline=None)
@given(st.tuples(st.integers(-10, 30), st.integers(-10, 30)), st.tuples(st.integers(1, 9), st.integers(1, 9)))
def test_separable_integers_equal_the_search_over_the_whole_grid(peak: Any, steep: Any) -> None:
    def quality(setting: Any) -> Any:
        return -sum(a * abs(setting[n] - p) for n, p, a in zip("xy", peak, steep, strict=True))

    grid = itertools.product(range(-30, 60), repeat=2)
    best = max(({"x": x, "y": y} for x, y in grid), key=quality)
    whole = [Parameter(name, (0, 8, 20), 8, integer=True, smallest=1) for name in "xy"]
    outcome = climb(whole, quality)
    assert outcome.setting == best
    assert outcome.score == quality(best)
    assert outcome.stopped == "a cycle changed nothing"


@settings(max_examples=60, derandomize=True, deadline=None)
@given(st.floats(-3, 4), st.floats(-3, 4))
def test_real_optima_are_found_within_the_smallest_interval(a: Any, b: Any) -> None:
    # A ridge: neither parameter can be set without the other, so one cycle is not enough.
    def quality(setting: Any) -> Any:
        u, v = setting["a"] - a, setting["b"] - b
        return -(u * u + v * v + 0.5 * u * v)

    outcome = climb([real("a", 0.0, 0.5, 1.0), real("b", 0.0, 0.5, 1.0)], quality)
    assert outcome.setting["a"] == pytest.approx(a, abs=0.03)
    assert outcome.setting["b"] == pytest.approx(b, abs=0.03)


def test_a_setting_is_scored_once_only() -> None:
    asked = []

    def quality(setting: Any) -> Any:
        asked.append(tuple(setting.values()))
        return -abs(setting["a"] - 0.3) - abs(setting["b"] - 0.8)

    outcome = climb([real("a", 0.0, 0.5, 1.0), real("b", 0.0, 0.5, 1.0)], quality)
    assert len(asked) == len(set(asked)) == outcome.evaluations


def test_a_parameter_without_effect_stays_where_it_is() -> None:
    outcome = climb([real("a", 0.0, 0.5, 1.0)], lambda s: 1.0)
    assert outcome.setting == {"a": 0.5}


def test_ranges_extend_to_hard_limits_and_not_beyond() -> None:
    asked = []

    def quality(setting: Any) -> Any:
        asked.append(setting["a"])
        return setting["a"]

    outcome = climb([real("a", 1.0, 2.0, 3.0, most=10.0)], quality)
    assert outcome.setting == {"a": 10.0}
    assert max(asked) == 10.0


def test_endless_ranges_end() -> None:
    outcome = climb([Parameter("a", (1, 2, 3), 2, integer=True, smallest=1)], lambda s: s["a"], evaluations=500)
    assert outcome.evaluations < 200 and outcome.setting["a"] > 1000


def test_the_limit_on_evaluations_holds_and_the_best_so_far_is_returned() -> None:
    scores = []

    def quality(setting: Any) -> Any:
        scores.append(-abs(setting["a"] - 0.123) - abs(setting["b"] - 0.7))
        return scores[-1]

    outcome = climb([real("a", 0.0, 0.5, 1.0), real("b", 0.0, 0.5, 1.0)], quality, evaluations=7)
    assert len(scores) == outcome.evaluations == 7
    assert outcome.score == max(scores)
    assert outcome.stopped == "7 settings were scored"


def test_smaller_is_better_for_error_rates() -> None:
    ascent = CoordinateAscent(every=0, trials=0)
    parameters = [real("a", 0.0, 0.5, 1.0)]
    outcome = ascent.run(parameters, lambda s, w: abs(s["a"] - 0.25), no_retune, {}, higher_is_better=False)
    assert outcome.setting == {"a": 0.25} and outcome.score == 0


def test_trials_stay_close_and_the_best_of_them_is_the_start() -> None:
    asked = []

    def quality(setting: Any) -> Any:
        asked.append(setting["a"])
        return setting["a"]

    outcome = climb([real("a", 100.0, smallest=1.0)], quality, trials=20, evaluations=21, seed=3)
    assert len(asked) == 21 and all(98 <= value <= 102 for value in asked)
    assert outcome.setting["a"] == max(asked) > 100


def test_weights_are_tuned_before_the_first_and_after_every_fourth_parameter() -> None:
    events = []
    parameters = [Parameter(f"p{i}", (0, 1), 0, integer=True, least=0, most=1, smallest=1) for i in range(6)]

    def evaluate(setting: Any, weights: Any) -> Any:
        events.append(tuple(setting.values()))
        return sum(setting.values()) + weights["w"]

    def retune(setting: Any, weights: Any, number: Any) -> Any:
        events.append(f"tune {number}")
        return {"w": float(number)}, sum(setting.values()) + number

    outcome = CoordinateAscent(every=4, trials=0).run(parameters, evaluate, retune, {"w": 0.0})
    assert outcome.setting == {f"p{i}": 1 for i in range(6)}
    assert events[1] == "tune 1"  # the first setting is scored before
    second = events.index("tune 2")
    assert events[second - 1] == (1, 1, 1, 1, 0, 0)
    assert events[second + 1] == (1, 1, 1, 1, 1, 0)
    # two cycles of six: after 4, 8 and 12 parameters
    assert [e for e in events if isinstance(e, str)] == [f"tune {n}" for n in range(1, 5)]
    assert outcome.weights == {"w": 4.0}


@pytest.mark.parametrize(("factor", "kept"), [(0.979, False), (0.981, True), (1.1, True), (math.nan, False)])
@pytest.mark.parametrize("sign", [1, -1])
def test_roll_back_below_98_percent_of_the_best(factor: Any, kept: Any, sign: Any) -> None:
    # For an error rate, and for negative scores, 2 percent worse are 2 percent of the magnitude.
    seen = []

    def evaluate(setting: Any, weights: Any) -> Any:
        seen.append(weights["w"])
        return 50.0 * sign

    change = 50.0 * (factor - 1)

    def retune(setting: Any, weights: Any, number: Any) -> Any:
        return {"w": 1.0}, 50.0 * sign + change

    parameters = [Parameter("a", (0, 1), 0, integer=True, least=0, most=1, smallest=1)]
    outcome = CoordinateAscent(every=9, trials=0).run(parameters, evaluate, retune, {"w": 0.0})
    assert seen[-1] == (1.0 if kept else 0.0)
    assert outcome.history[1]["event"] == ("tuned" if kept else "rolled back")
    assert outcome.score == pytest.approx(max(50.0 * sign, 50.0 * sign + change) if kept else 50.0 * sign)


def test_a_refusal_outside_the_given_range_is_a_limit_and_inside_an_error() -> None:
    def quality(setting: Any) -> Any:
        if setting["a"] < 0:
            raise DecoderError("must not be negative")
        return -setting["a"]

    outcome = climb([real("a", 0.0, 0.5, 1.0)], quality)
    assert outcome.setting == {"a": 0.0}
    assert any("must not be negative" in warning for warning in outcome.warnings)

    def refuses(setting: Any) -> None:
        raise DecoderError("no")

    with pytest.raises(DecoderError):
        climb([real("a", 0.0, 0.5, 1.0)], refuses)


def parameters_of(tmp_path: Path, text: str) -> list[Parameter]:
    file = tmp_path / "params.toml"
    file.write_text(text)
    return read_parameters(file)


def test_parameters_are_read(tmp_path: Path) -> None:
    parameters = parameters_of(
        tmp_path,
        """
        [beam]
        values = [200, 50, 100]
        least = 1
        [stretch]
        low = 0.2
        high = 0.8
        step = 0.2
        start = 0.6
        smallest = 0.05
        """,
    )
    assert parameters == [
        Parameter("beam", (50, 100, 200), 100, True, 1.0, math.inf, 1.0),
        Parameter("stretch", (0.2, 0.4, 0.6, 0.8), 0.6, False, -math.inf, math.inf, 0.05),
    ]


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        ("", "no parameters"),
        ("beam = 3", "is not a table"),
        ("[beam", "not TOML"),
        ("[beam]", "needs values, or low, high and step"),
        ("[beam]\nvalues = []", "list of numbers"),
        ("[beam]\nvalues = [1, 'x']", "not a finite number"),
        ("[beam]\nvalues = [1, true]", "not a finite number"),
        ("[beam]\nvalues = [1.5]\ntype = 'integer'", "not whole"),
        ("[beam]\nvalues = [1]\nlow = 2", "both"),
        ("[beam]\nlow = 2\nhigh = 1\nstep = 1", "above high"),
        ("[beam]\nlow = 0\nhigh = 1e9\nstep = 0.1", "10000"),
        ("[beam]\nvalues = [1]\nleast = 2", "below least"),
        ("[beam]\nvalues = [1]\nstart = nan", "not a finite number"),
        ("[beam]\nvalues = [1]\nsmallest = 0", "smallest must be positive"),
        ("[beam]\nvalues = [1]\nvalue = 2", "no setting 'value'"),
        ("['a b']\nvalues = [1]", "blank"),
        ("[beam]\nvalues = [1]\ntype = 'text'", "integer"),
    ],
)
def test_faults_in_parameters_are_one_line_errors(tmp_path: Path, text: Any, finding: Any) -> None:
    with pytest.raises(InputError, match=r"params\.toml: ") as caught:
        parameters_of(tmp_path, text)
    assert finding in str(caught.value) and "\n" not in str(caught.value)
