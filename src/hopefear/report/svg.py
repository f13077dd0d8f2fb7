"""Charts as SVG, drawn here and not in the browser: a page shows them without a script, and they can stand alone.

Colours are CSS variables with light and dark values; all text is escaped.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

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


@dataclass(frozen=True)
class Curve:
    """A line or a cloud of points of a chart."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    error: Sequence[float] | None = None
    points: bool = False  # a cloud, not a line


def style(selector: str = ":root") -> str:
    """The variables that charts use."""
    both = [("ink", INK), ("paper", PAPER), ("faint", FAINT), ("grid", GRID)]
    both += [(f"c{i}", shades) for i, shades in enumerate(PALETTE)]
    light, dark = ("".join(f"--{name}:{shades[k]};" for name, shades in both) for k in (0, 1))
    return f"{selector}{{{light}}}@media (prefers-color-scheme:dark){{{selector}{{{dark}}}}}"


def number(value: float) -> str:
    """A coordinate: short."""
    text = f"{value:.1f}"
    return text[:-2] if text.endswith(".0") else text


def nice_ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Round numbers that span a range."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return [0.0, 1.0]
    if high - low <= 1e-300 + 1e-9 * max(abs(low), abs(high)):  # the same but for the last digits
        pad = abs(low) * 0.05 or 0.5
        low, high = low - pad, high + pad
    raw = (high - low) / max(count, 1)
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= raw * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [float(f"{k * step:.12g}") for k in range(first, last + 1)]


def tick_text(value: float, ticks: Sequence[float]) -> str:
    step = abs(ticks[1] - ticks[0]) if len(ticks) > 1 else 1.0
    if step and (step < 1e-4 or max(abs(ticks[0]), abs(ticks[-1])) >= 1e6):
        return f"{value:.2g}"
    digits = max(0, -math.floor(math.log10(step) + 1e-9)) if step else 0
    if f"{step:.6g}".rstrip("0").endswith("25"):
        digits += 1
    return f"{value:.{digits}f}".replace("-", "\N{MINUS SIGN}")


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

    def drawn(self, x_label: str, y_label: str) -> str:
        """Grid, ticks and labels."""
        right, bottom = self.left + self.width, self.top + self.height
        parts = []
        for tick in self.y_ticks:
            y = self.y(tick)
            parts.append(tag("line", x1=self.left, x2=right, y1=y, y2=y, stroke="var(--grid)"))
            parts.append(
                tag(
                    "text",
                    tick_text(tick, self.y_ticks),
                    x=self.left - 7,
                    y=y,
                    dy=".32em",
                    text_anchor="end",
                    fill="var(--faint)",
                )
            )
        for tick in self.x_ticks:
            text = tick_text(tick, self.x_ticks)
            parts.append(tag("text", text, x=self.x(tick), y=bottom + 17, text_anchor="middle", fill="var(--faint)"))
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
    width: int = 660,
    height: int = 340,
) -> str:
    """Lines with error bars, and clouds of points."""
    drawn = [(i, curve) for i, curve in enumerate(curves) if len(curve.x)]
    xs = [x for _, curve in drawn for x in curve.x] or [0.0, 1.0]
    lows, highs = [], []
    for _, curve in drawn:
        for k, value in enumerate(curve.y):
            error = curve.error[k] if curve.error is not None else 0.0
            lows.append(value - error)
            highs.append(value + error)
    legend, legend_height = _legend(drawn, width) if len(drawn) > 1 or standalone else ("", 0)
    top = (26 if standalone else 10) + legend_height
    frame = Frame(
        58.0,
        float(top),
        float(width - 72),
        float(height - 54),
        _whole_ticks(xs) or nice_ticks(min(xs), max(xs), 8),
        nice_ticks(min(lows, default=0.0), max(highs, default=1.0), 5),
    )
    total = top + height - 54 + 44
    parts = []
    if standalone:
        parts.append(f"<style>{style('svg')}</style>")
        parts.append(tag("rect", width=width, height=total, fill="var(--paper)"))
        parts.append(tag("text", title, x=58, y=18, fill="var(--ink)", font_weight=600, font_size=14))
    if legend:
        parts.append(tag("g", inside=legend, transform=f"translate(58,{top - legend_height})"))
    parts.append(frame.drawn(x_label, y_label))
    parts += [_series(i, curve, frame) for i, curve in drawn]
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
    )


def _whole_ticks(xs: Sequence[float]) -> list[float]:
    """Of whole numbers that are few, such as epochs: each of them."""
    low, high = min(xs), max(xs)
    if any(x != int(x) for x in xs) or not 1 <= high - low <= 12:
        return []
    return [low + k for k in range(int(high - low) + 1)]


def _look(i: int) -> tuple[str, str | None]:
    """Colour and dashes of the i-th series."""
    return f"var(--c{i % len(PALETTE)})", DASHES[(i // len(PALETTE)) % len(DASHES)] or None


def _series(i: int, curve: Curve, frame: Frame) -> str:
    colour, dash = _look(i)
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
            hint = tag("title", f"{curve.name}: {a_:g}, {b_:.4g}")
            size = "2.6" if not curve.points else "3.5" if len(places) > 1 else "6"
            edge = "var(--paper)" if size == "6" else None
            parts.append(tag("circle", inside=hint, cx=x, cy=y, r=size, fill=colour, stroke=edge))
    return tag("g", inside="".join(parts), class_=f"series s{i}")


def _legend(drawn: Sequence[tuple[int, Curve]], width: int) -> tuple[str, int]:
    """A row or more of names, and its height."""
    x, y, parts = 0.0, 10.0, []
    for i, curve in drawn:
        name = curve.name if len(curve.name) <= 60 else curve.name[:57] + "..."
        need = 26 + 6.6 * len(name) + 16
        if x and x + need > width - 72:
            x, y = 0.0, y + 18
        colour, dash = _look(i)
        if curve.points:
            parts.append(tag("circle", cx=x + 9, cy=y - 4, r=4, fill=colour))
        else:
            path = f"M{number(x)} {number(y - 4)}h18"
            parts.append(tag("path", d=path, stroke=colour, stroke_width="2.5", stroke_dasharray=dash))
        parts.append(tag("text", name, x=x + 24, y=y, fill="var(--ink)"))
        x += need
    return "".join(parts), int(y + 14)
