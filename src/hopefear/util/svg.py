"""Charts as SVG, drawn here and not in the browser: a page shows them without a script, and they can stand alone.

Colours are CSS variables with light and dark values; all text is escaped.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from statistics import median

#: Light and dark shades of the series' colours: distinct in hue and lightness, also for the colour-blind.
PALETTE = (
    ("#2463c4", "#7fb0ff"),
    ("#c2410c", "#ff9a5c"),
    ("#0f7b54", "#54d6a0"),
    ("#8b2fc9", "#cf9bff"),
    ("#a8670a", "#f0c04a"),
    ("#b3256b", "#ff8ac0"),
    ("#0b7285", "#5fd0e6"),
    ("#5c5f66", "#b4b8c2"),
)
DASHES = ("", "6 3", "2 3", "8 3 2 3")
INK, PAPER, FAINT, GRID = ("#1c2128", "#e6e9ee"), ("#ffffff", "#14171c"), ("#5d6673", "#9aa4b2"), ("#e3e6ea", "#2b3038")


VARIABLES = {"ink": INK, "paper": PAPER, "faint": FAINT, "grid": GRID}
VARIABLES |= {f"c{i}": both for i, both in enumerate(PALETTE)}


def shades(name: str) -> tuple[str, str]:
    """Light and dark value of a variable."""
    return VARIABLES[name]


@dataclass(frozen=True)
class Curve:
    """A line or a cloud of points of a chart."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    error: Sequence[float] | None = None
    points: bool = False  # a cloud, not a line
    series: int | None = None  # decides its colour; by default its place among the curves
    level: bool = False  # one value that holds everywhere, such as a fit without epochs: a line from end to end


def style(selector: str = ":root") -> str:
    """The variables that charts use."""
    light, dark = ("".join(f"--{name}:{both[k]};" for name, both in VARIABLES.items()) for k in (0, 1))
    return f"{selector}{{{light}}}@media screen and (prefers-color-scheme:dark){{{selector}{{{dark}}}}}"


def number(value: float) -> str:
    """A coordinate: short."""
    text = f"{value:.1f}"
    return text.removesuffix(".0")


def nice_ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Round numbers that span a range."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return [0.0, 1.0]
    if high - low <= 1e-300 + 1e-9 * max(abs(low), abs(high)):  # the same but for the last digits
        pad = abs(low) * 0.05 or 0.5
        low, high = low - pad, high + pad
    raw = (high - low) / max(count, 1)
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= raw * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [float(f"{k * step:.12g}") for k in range(first, last + 1)]


def tick_text(value: float, ticks: Sequence[float]) -> str:
    """A tick as it is written: exactly, with as many digits as its neighbours."""
    if len(ticks) < 2:
        return f"{value:g}".replace("-", "\N{MINUS SIGN}")
    step = abs(ticks[1] - ticks[0])
    if step and (step < 1e-4 or max(abs(ticks[0]), abs(ticks[-1])) >= 1e6):
        return f"{value:.2g}"
    digits = max(0, -math.floor(math.log10(step) + 1e-9)) if step else 0  # steps have one digit that is not 0
    return f"{value:.{digits}f}".replace("-", "\N{MINUS SIGN}")


def robust_span(curves: Sequence[Curve]) -> tuple[float, float]:
    """The range that shows curves well: of three or more, those that lie far from all others are left outside.

    The level of a curve is the median of its later half. Far is five times as far from the median of the levels as
    they usually are, or as a curve usually moves in its later half; within a tenth of that median nothing is far.
    """
    drawn = [curve for curve in curves if len(curve.y)]
    later = [curve.y[len(curve.y) // 2 :] for curve in drawn]
    levels = [median(values) for values in later]
    near = drawn
    if len(drawn) > 2:
        middle = median(levels)
        usual = max(median(abs(level - middle) for level in levels), median(max(v) - min(v) for v in later))
        limit = 5 * max(usual, 1e-3 * abs(middle))
        near = [curve for curve, level in zip(drawn, levels, strict=True) if abs(level - middle) <= limit]
    return _span(near)


def outside(curves: Iterable[Curve], low: float, high: float) -> list[Curve]:
    """The curves that have points beyond this range."""
    slack = 1e-9 * max(abs(low), abs(high))
    return [curve for curve in curves if any(not low - slack <= value <= high + slack for value in curve.y)]


def tag(name: str, text: str | None = None, inside: str = "", **attributes: object) -> str:
    """An element: attributes and text are escaped, ``inside`` is markup already. ``stroke_width`` is stroke-width."""
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(number(value) if isinstance(value, float) else str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    content = (escape(text) if text is not None else "") + inside
    return f"<{name}{given}>{content}</{name}>" if content else f"<{name}{given}/>"


@dataclass(frozen=True)
class Frame:
    """Axes: where a value is on the canvas."""

    left: float
    top: float
    width: float
    height: float
    x_ticks: Sequence[float]
    y_ticks: Sequence[float]

    def x(self, value: float) -> float:
        return self.left + (value - self.x_ticks[0]) / (self.x_ticks[-1] - self.x_ticks[0]) * self.width

    def y(self, value: float) -> float:
        return self.top + self.height * (1 - (value - self.y_ticks[0]) / (self.y_ticks[-1] - self.y_ticks[0]))

    @property
    def text(self) -> str:
        """For the script: left, right, top, height, lowest and highest y."""
        ends = (self.left, self.left + self.width, self.top, self.height, self.y_ticks[0], self.y_ticks[-1])
        return " ".join(f"{value:.10g}" for value in ends)

    def drawn(self, x_label: str, y_label: str, x_names: Sequence[str] = ()) -> str:
        """Grid, ticks and labels; ``x_names`` are written where x is 0, 1, ... in place of ticks."""
        right, bottom = self.left + self.width, self.top + self.height
        grid = []
        for tick in self.y_ticks:
            y = self.y(tick)
            grid.append(tag("line", x1=self.left, x2=right, y1=y, y2=y, stroke="var(--grid)"))
            text = tick_text(tick, self.y_ticks)
            grid.append(tag("text", text, x=self.left - 7, y=y, dy=".32em", text_anchor="end", fill="var(--faint)"))
        parts = [tag("g", inside="".join(grid), class_="grid-y")]
        names = x_names or [tick_text(tick, self.x_ticks) for tick in self.x_ticks]
        for at, text in zip(range(len(x_names)) if x_names else self.x_ticks, names, strict=True):
            parts.append(tag("text", text, x=self.x(at), y=bottom + 17, text_anchor="middle", fill="var(--faint)"))
        parts.append(tag("line", x1=self.left, x2=right, y1=bottom, y2=bottom, stroke="var(--faint)"))
        middle = self.left + self.width / 2
        parts.append(tag("text", x_label, x=middle, y=bottom + 36, text_anchor="middle", fill="var(--ink)"))
        turned = f"translate(14,{number(self.top + self.height / 2)}) rotate(-90)"
        parts.append(tag("text", y_label, transform=turned, text_anchor="middle", fill="var(--ink)"))
        return "".join(parts)


def line_chart(
    title: str,
    x_label: str,
    y_label: str,
    curves: Iterable[Curve],
    *,
    standalone: bool = False,
    name: str = "",
    x_names: Sequence[str] = (),
    span: tuple[float, float] | None = None,
    width: int = 660,
    height: int = 340,
) -> str:
    """Lines with error bars, and clouds of points. What lies beyond ``span`` is cut off, if there is one.

    On a page, ``name`` is the chart's own, and its legend is next to it (``page.chart``); elsewhere it is in the chart.
    """
    drawn = numbered(curves)
    xs = [x for _, curve in drawn if not curve.level for x in curve.x] or [0.0, 1.0]
    many = 8 if width > 400 else 5
    x_ticks = (
        [-0.5, len(x_names) - 0.5] if x_names else _whole_ticks(xs, many + 4) or nice_ticks(min(xs), max(xs), many)
    )
    low, high = span if span is not None else _span([curve for _, curve in drawn])
    legend, legend_height = _legend(drawn, width) if not name and (len(drawn) > 1 or standalone) else ("", 0)
    top = (26 if standalone else 10) + legend_height
    frame = Frame(58.0, float(top), float(width - 72), float(height - 54), x_ticks, nice_ticks(low, high, 5))
    total = top + height - 54 + 44
    parts = []
    if standalone:
        parts.append(f"<style>{style('svg')}</style>")
        parts.append(tag("rect", width=width, height=total, fill="var(--paper)"))
        parts.append(tag("text", title, x=58, y=18, fill="var(--ink)", font_weight=600, font_size=14))
    if legend:
        parts.append(tag("g", inside=legend, transform=f"translate(58,{top - legend_height})"))
    parts.append(frame.drawn(x_label, y_label, x_names))
    series = "".join(_series(i, curve, frame, x_names) for i, curve in drawn)
    if name:
        box = tag("rect", x=frame.left - 6, y=frame.top - 6, width=frame.width + 12, height=frame.height + 12)
        parts.append(tag("clipPath", inside=box, id=f"clip-{name}"))
        series = tag("g", inside=series, clip_path=f"url(#clip-{name})")
    parts.append(series)
    return tag(
        "svg",
        inside="".join(parts),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width} {total}",
        role="img",
        class_="chart",
        aria_label=title,
        font_family="system-ui,sans-serif",
        font_size=12,
        data_frame=frame.text if name else None,
    )


def numbered(curves: Iterable[Curve]) -> list[tuple[int, Curve]]:
    """Curves that have points, with the numbers of their series."""
    return [(i if curve.series is None else curve.series, curve) for i, curve in enumerate(curves) if len(curve.x)]


def _span(curves: Sequence[Curve]) -> tuple[float, float]:
    """From the lowest to the highest end of an error bar."""
    ends = [
        value + sign * error
        for curve in curves
        for value, error in zip(curve.y, curve.error or [0.0] * len(curve.y), strict=True)
        for sign in (-1, 1)
    ]
    return min(ends, default=0.0), max(ends, default=1.0)


def _whole_ticks(xs: Sequence[float], most: int) -> list[float]:
    """A tick for every value, if they are few whole numbers, such as epochs; else none."""
    low, high = min(xs), max(xs)
    if any(x != int(x) for x in xs) or not 1 <= high - low <= most:
        return []
    return [low + k for k in range(int(high - low) + 1)]


def look(i: int) -> tuple[str, str | None]:
    """Colour and dashes of the i-th series."""
    return f"var(--c{i % len(PALETTE)})", DASHES[(i // len(PALETTE)) % len(DASHES)] or None


def _series(i: int, curve: Curve, frame: Frame, x_names: Sequence[str] = ()) -> str:
    colour, dash = look(i)
    if curve.level:
        height, hint = number(frame.y(curve.y[0])), tag("title", f"{curve.name}: {curve.y[0]:.4g}")
        ends = f"{number(frame.left)},{height} {number(frame.left + frame.width)},{height}"
        line = tag(
            "polyline", inside=hint, points=ends, fill="none", stroke=colour, stroke_width=2, stroke_dasharray="2 5"
        )
        return tag("g", inside=line, class_=f"series s{i}", data_series=i)
    places = [(frame.x(x), frame.y(y)) for x, y in zip(curve.x, curve.y, strict=True)]
    parts = [tag("title", curve.name)]
    for (x, _), value, error in zip(places, curve.y, curve.error or [0.0] * len(places), strict=True):
        if error > 0:
            low, high = number(frame.y(value - error)), number(frame.y(value + error))
            a, b = number(x - 3), number(x + 3)
            bar = f"M{number(x)} {low}V{high}M{a} {low}H{b}M{a} {high}H{b}"
            parts.append(tag("path", d=bar, stroke=colour, opacity=".55", fill="none"))
    if not curve.points and len(places) > 1:
        line = " ".join(f"{number(x)},{number(y)}" for x, y in places)
        parts.append(tag("polyline", points=line, fill="none", stroke=colour, stroke_width=2, stroke_dasharray=dash))
    if curve.points or len(places) <= 40:
        for (x, y), a_, b_ in zip(places, curve.x, curve.y, strict=True):
            name = x_names[int(a_)] if x_names else f"{a_:g}"
            hint = tag("title", f"{curve.name}: {name}, {b_:.4g}")
            size = "2.6" if not curve.points else "3.5" if len(places) > 1 else "6"
            edge = "var(--paper)" if size == "6" else None
            parts.append(tag("circle", inside=hint, cx=x, cy=y, r=size, fill=colour, stroke=edge))
    return tag("g", inside="".join(parts), class_=f"series s{i}", data_series=i)


def _legend(drawn: Sequence[tuple[int, Curve]], width: int) -> tuple[str, int]:
    """A row or more of names, and its height."""
    x, y, parts = 0.0, 10.0, []
    for i, curve in drawn:
        name = curve.name if len(curve.name) <= 60 else curve.name[:57] + "..."
        need = 26 + 6.6 * len(name) + 16
        if x and x + need > width - 72:
            x, y = 0.0, y + 18
        colour, dash = look(i)
        if curve.points:
            parts.append(tag("circle", cx=x + 9, cy=y - 4, r=4, fill=colour))
        else:
            path = f"M{number(x)} {number(y - 4)}h18"
            parts.append(tag("path", d=path, stroke=colour, stroke_width="2.5", stroke_dasharray=dash))
        parts.append(tag("text", name, x=x + 24, y=y, fill="var(--ink)"))
        x += need
    return "".join(parts), int(y + 14)
