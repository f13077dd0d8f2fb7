"""Coordinate ascent over parameters that are not feature weights. Brown (2011), section 7.

A decoder has beams, limits and thresholds that no trainer sees. Each is varied in turn with the others held, every
setting is one decoding and its score, and the value that scores best is kept:

- if the best value is the lowest or the highest that was tried, the range is extended;
- else the intervals on both sides of it are halved, until they are small (``smallest``);
- weights are tuned again before the first parameter and after every ``every``-th (4), from the current weights. If the
  score is then below ``rollback`` (0.98) of the best, the old weights come back; else that score is the best from now
  on, even if it is lower, so that tuning may move to another region;
- it ends when a whole cycle changes no parameter, or when ``evaluations`` settings have been scored (750);
- it begins with ``trials`` (20) random settings that differ from the given one by up to ``perturbation`` (2 percent).

Open in the paper, settled here: an extension goes one interval further, each further extension in a row twice as far,
twenty of a parameter at most; values with equal scores leave a parameter where it is; at a hard limit (``least``,
``most``) only the inner interval is halved; a setting outside the range the user gave that the decoder refuses counts
as worse than all others.

What is returned is the best setting seen, with its weights.
"""

from __future__ import annotations

import math
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hopefear.errors import input_error
from hopefear.runs.events import Setting
from hopefear.runs.session import SILENT, Session
from hopefear.train.decoder_command import DecoderError
from hopefear.trainers.outer_loop import Number
from hopefear.util.files import PathLike, iter_bytes, path_name

Values = dict[str, Number]
Weights = Mapping[str, float]
#: The score of a setting under some weights.
Evaluate = Callable[[Values, Weights], float]
#: Tune the weights for a setting, from some weights, for the n-th time: new weights and the score with them.
Retune = Callable[[Values, Weights, int], tuple[Weights, float]]

EXTENSIONS = 20  # of one parameter: by then the range is a million times as wide


@dataclass(frozen=True)
class Parameter:
    """One parameter of the decoder."""

    name: str
    values: tuple[Number, ...]  # to try in each cycle, ascending
    start: Number
    integer: bool = False
    least: float = -math.inf  # hard limits, which extension respects
    most: float = math.inf
    smallest: float = 0.0  # intervals of this size are not halved any more

    def clipped(self, value: float) -> Number:
        """A legal value."""
        value = min(max(value, self.least), self.most)
        return math.floor(value + 0.5) if self.integer else _tidy(float(value))


def read_parameters(path: PathLike) -> list[Parameter]:
    """The parameters in a TOML file, a table each: see docs/outer-loop.md."""
    name = path_name(path)
    try:
        tables = tomllib.loads(b"".join(iter_bytes(path)).decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise input_error(name, None, f"not TOML ({' '.join(str(error).split())}). Fix it") from None
    except OSError as error:
        raise input_error(name, None, f"{(error.strerror or str(error)).lower()}. Check the path") from None
    if not tables:
        raise input_error(
            name, None, "no parameters. Write a table for each, such as [beam] and values = [50, 100, 200]"
        )
    parameters = []
    for key, table in tables.items():
        if not isinstance(table, dict):
            raise input_error(name, None, f"{key!r} is not a table. Write [{key}], and below it values = [...]")
        try:
            parameters.append(_parameter(key, table))
        except ValueError as error:
            raise input_error(name, None, f"[{key}]: {error}") from None
    return parameters


def _parameter(name: str, table: Mapping[str, Any]) -> Parameter:
    known = ("values", "low", "high", "step", "start", "type", "least", "most", "smallest")
    for key, value in table.items():
        if key not in known:
            raise ValueError(f"there is no setting {key!r}. There are {', '.join(known)}")
        if key not in ("values", "type"):
            _check_number(key, value)
    if any(blank in name for blank in " \t\n{}") or not name:
        raise ValueError("the name is empty, or has a blank or a brace in it. Rename it")
    if "values" in table:
        if any(key in table for key in ("low", "high", "step")):
            raise ValueError("has both values and low, high, step. Keep one of them")
        values = table["values"]
        if not isinstance(values, list) or not values:
            raise ValueError("values must be a list of numbers, such as [50, 100, 200]")
        for value in values:
            _check_number("values", value)
    else:
        if any(key not in table for key in ("low", "high", "step")):
            raise ValueError("needs values, or low, high and step")
        low, high, step = table["low"], table["high"], table["step"]
        if not (low <= high and step > 0) or (high - low) / step > 10000:
            raise ValueError("low must not be above high, and step must be positive and give 10000 values at most")
        values = [_tidy(low + k * step) for k in range(math.floor((high - low) / step + 1e-9) + 1)]
    kind = table.get("type", "integer" if all(isinstance(value, int) for value in values) else "real")
    if kind not in ("integer", "real"):
        raise ValueError(f'the type is {kind!r}. It must be "integer" or "real"')
    integer = kind == "integer"
    if integer and any(value != int(value) for value in values):
        raise ValueError('the type is integer, but a value is not whole. Write type = "real"')
    values = sorted({int(value) if integer else float(value) for value in values})
    least, most = float(table.get("least", -math.inf)), float(table.get("most", math.inf))
    if not (least <= values[0] and values[-1] <= most):
        raise ValueError("a value is below least or above most")
    start = table.get("start", values[len(values) // 2])
    if not least <= start <= most or (integer and start != int(start)):
        raise ValueError(f"start = {start} is not a legal value")
    spread = values[-1] - values[0]
    smallest = float(table.get("smallest", 1 if integer else spread / 100 or abs(values[0]) / 100))
    if not smallest > 0:
        raise ValueError("smallest must be positive: intervals of this size are not halved any more")
    return Parameter(name, tuple(values), int(start) if integer else float(start), integer, least, most, smallest)


def _tidy(value: Number) -> Number:
    """The value without rounding errors of binary fractions: 0.2 + 2 * 0.2 is 0.6."""
    return value if isinstance(value, int) else float(f"{value:.12g}")


def _check_number(key: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{key} has {value!r}, which is not a finite number")


@dataclass(frozen=True)
class Ascended:
    """The result of the ascent: the best setting seen, its weights and score."""

    setting: Values
    weights: dict[str, float]
    score: float
    history: list[dict[str, Any]]
    evaluations: int
    stopped: str
    warnings: list[str] = field(default_factory=list)


class _Enough(Exception):  # noqa: N818 -- not an error
    """The limit on evaluations is reached."""


@dataclass(frozen=True)
class CoordinateAscent:
    """The options of the ascent; ``run`` does the work."""

    every: int = 4  # parameters between two tunings of the weights; 0: never tune
    rollback: float = 0.98
    trials: int = 20
    perturbation: float = 0.02
    evaluations: int = 750
    seed: int = 1

    def run(
        self,
        parameters: Sequence[Parameter],
        evaluate: Evaluate,
        retune: Retune,
        weights: Weights,
        higher_is_better: bool = True,
        run: Session = SILENT,
    ) -> Ascended:
        """Climb. ``evaluate`` and ``retune`` are deterministic; the same setting is never evaluated twice."""
        start: Values = {parameter.name: parameter.start for parameter in parameters}
        sign = 1.0 if higher_is_better else -1.0
        return _Ascent(self, parameters, evaluate, retune, dict(weights), sign, run, start).ascended()


@dataclass
class _Ascent:
    """The state of one ascent."""

    options: CoordinateAscent
    parameters: Sequence[Parameter]
    evaluate: Evaluate
    tune: Retune
    weights: dict[str, float]
    sign: float
    run: Session
    current: Values
    version: int = 0  # of the weights
    tunings: int = 0
    cache: dict[tuple[int, tuple[Number, ...]], float] = field(default_factory=dict)
    best: float = -math.inf  # the score that a tuning must not fall far below
    top: tuple[float, Values, dict[str, float]] | None = None  # the best seen
    extensions: Counter[str] = field(default_factory=Counter)  # of each parameter
    history: list[dict[str, Any]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def ascended(self) -> Ascended:
        stopped = "a cycle changed nothing"
        try:
            self.best = self.value(self.current)
            self.perturb()
            self.retune()
            done, changed = 0, True
            while changed:
                changed = False
                for parameter in self.parameters:
                    changed |= self.ascend(parameter)
                    done += 1
                    if self.options.every and done % self.options.every == 0:
                        self.retune()
        except _Enough:
            stopped = f"{self.options.evaluations} settings were scored"
        assert self.top is not None
        value, setting, weights = self.top
        return Ascended(setting, weights, self.sign * value, self.history, len(self.cache), stopped, self.warnings)

    def value(self, setting: Values, outside: bool = False) -> float:
        """The score of a setting, larger is better."""
        key = (self.version, tuple(setting.values()))
        if key not in self.cache:
            if len(self.cache) >= self.options.evaluations and self.top is not None:
                raise _Enough
            try:
                value = self.sign * self.evaluate(dict(setting), self.weights)
            except DecoderError as error:
                if not outside:
                    raise
                value = -math.inf
                self.warnings.append(f"the decoder rejected a setting outside the given range: {error}")
            self.cache[key] = value if not math.isnan(value) else -math.inf
            self.record("evaluated", setting, self.cache[key])
        self.seen(self.cache[key], setting)
        return self.cache[key]

    def seen(self, value: float, setting: Values) -> None:
        if self.top is None or value > self.top[0]:
            self.top = (value, dict(setting), dict(self.weights))

    def record(self, event: str, setting: Values, value: float) -> None:
        scored = Setting(event, len(self.history) + 1, self.sign * value, dict(setting))
        self.history.append({"epoch": scored.epoch, "event": event, "score": scored.score, "params": scored.params})
        self.run.tell(scored)

    def perturb(self) -> None:
        """Start from the best of some settings close to the given one."""
        random = np.random.default_rng([self.options.seed, 29])
        start, best = dict(self.current), self.best
        for _ in range(self.options.trials):
            factors = 1 + self.options.perturbation * random.uniform(-1, 1, len(self.parameters))
            trial = {p.name: p.clipped(start[p.name] * f) for p, f in zip(self.parameters, factors, strict=True)}
            value = self.value(trial)
            if value > best:
                best, self.current = value, trial
        self.best = best

    def retune(self) -> None:
        """Tune the weights; roll back if that costs too much."""
        if not self.options.every:
            return
        self.tunings += 1
        weights, score = self.tune(dict(self.current), self.weights, self.tunings)
        value = self.sign * score
        # 0.98 of the best, also where smaller is better or scores are negative
        if not value >= self.best - (1 - self.options.rollback) * abs(self.best):
            self.record("rolled back", self.current, value)
            return
        self.weights, self.best = dict(weights), value
        self.version += 1
        self.cache[self.version, tuple(self.current.values())] = value
        self.record("tuned", self.current, value)
        self.seen(value, self.current)

    def ascend(self, parameter: Parameter) -> bool:
        """Find the best value of one parameter with the others held; whether it changed."""
        initial = self.current[parameter.name]
        scores: dict[Number, float] = {}

        def score(value: Number) -> None:
            outside = not parameter.values[0] <= value <= parameter.values[-1]
            scores[value] = self.value({**self.current, parameter.name: value}, outside)

        def best_value() -> Number:  # of equals: the current one, then the closest, then the smaller
            return max(scores, key=lambda v: (scores[v], v == initial, -abs(v - initial), -v))

        try:
            for value in sorted({*parameter.values, initial}):
                score(value)
            extended = False
            while True:
                best = best_value()
                points = sorted(scores)
                may_extend = self.extensions[parameter.name] < EXTENSIONS
                candidates, is_extension = _next_points(
                    parameter, points, points.index(best), may_extend, 2 if extended else 1
                )
                candidates = [value for value in candidates if value not in scores]
                if not candidates:
                    break
                extended |= is_extension
                self.extensions[parameter.name] += is_extension
                for value in candidates:
                    score(value)
        finally:  # also when the limit is reached in the middle
            if initial in scores:
                self.current[parameter.name] = best_value()
                self.best = max(self.best, scores[best_value()])
        return self.current[parameter.name] != initial


def _next_points(
    parameter: Parameter, points: list[Number], i: int, extend: bool, stride: int
) -> tuple[list[Number], bool]:
    """The next points to try if the i-th is the best: one beyond the end, or the middles of both its intervals."""
    best, last = points[i], len(points) - 1
    if i in (0, last) and extend:
        if last == 0:
            gap = max(abs(best) / 10, parameter.smallest)
            ends = [parameter.clipped(best - gap), parameter.clipped(best + gap)]
        else:
            gap = points[1] - points[0] if i == 0 else points[last] - points[last - 1]
            ends = [parameter.clipped(best - stride * gap if i == 0 else best + stride * gap)]
        beyond = [end for end in ends if end not in points]
        if beyond:
            return beyond, True
    middles = []
    for j in (i - 1, i + 1):
        if 0 <= j <= last and abs(points[j] - best) > parameter.smallest:
            middle = parameter.clipped((points[j] + best) / 2)
            if middle not in points:
                middles.append(middle)
    return middles, False
