"""Charts that only reports have: scores with intervals, weights, error surfaces, n-gram precisions, hope and fear.

They are drawn for a width: that of a screen or of a phone (``page.figure``), so that letters keep their size.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean

from hopefear.reports.feature_names import readable
from hopefear.reports.numbers import BeforeAfter, Moved, Surface
from hopefear.reports.page import WIDE, small_number
from hopefear.util.svg import Frame, look, nice_ticks, number, style, tag, tick_text


@dataclass(frozen=True)
class PlotRow:
    """A row of a forest plot: scores of single seeds, and the 95 % interval of their mean."""

    name: str
    scores: Sequence[float]
    low: float
    high: float
    series: int


def forest_plot(
    bars: Sequence[PlotRow], label: str, digits: int = 2, width: int = WIDE, standalone: bool = False
) -> str:
    """A line for each system: its interval, its mean with the number, its seeds above."""
    row, top, right = 44, 8, 14.0
    left = min(max(len(bar.name) for bar in bars) * 7.2 + 16, width * 0.34)
    room = int((left - 12) / 6.9)
    values = [value for bar in bars for value in (bar.low, bar.high, *bar.scores)]
    pad = 0.04 * (max(values) - min(values))
    ticks = nice_span(min(values) - pad, max(values) + pad, 8 if width == WIDE else 5)
    bottom = float(top + row * len(bars))
    frame = Frame(left, top, width - left - right, bottom - top, ticks, [0.0, 1.0])
    parts = [_ground(width, bottom + 44)] if standalone else []
    for tick in ticks[1:-1]:
        x = number(frame.x(tick))
        parts.append(tag("path", d=f"M{x} {top}V{number(bottom)}", stroke="var(--grid)"))
        text = tick_text(tick, ticks[1:-1])
        parts.append(tag("text", text, x=frame.x(tick), y=bottom + 17, text_anchor="middle", fill="var(--faint)"))
    middle = frame.left + frame.width / 2
    parts.append(tag("text", label, x=middle, y=bottom + 36, text_anchor="middle", fill="var(--ink)"))
    for k, bar in enumerate(bars):
        y, colour = top + row * (k + 0.5) + 6, look(bar.series)[0]
        short = bar.name if len(bar.name) <= room else bar.name[: room - 1] + "…"
        parts.append(tag("text", short, x=left - 12, y=y, dy=".32em", text_anchor="end", fill="var(--ink)"))
        line = f"M{number(frame.x(bar.low))} {number(y)}H{number(frame.x(bar.high))}"
        parts.append(tag("path", d=line, stroke=colour, stroke_width=3, stroke_linecap="round"))
        if len(bar.scores) > 1:
            for score in bar.scores:
                hint = tag("title", f"{bar.name}: {score:.{digits}f}")
                dot = tag("circle", inside=hint, cx=frame.x(score), cy=y + 11, r=2.6, fill=colour, opacity=".65")
                parts.append(dot)
        middle = mean(bar.scores)
        hint = tag("title", f"{bar.name}: {middle:.{digits}f}, {bar.low:.{digits}f} to {bar.high:.{digits}f}")
        parts.append(tag("circle", inside=hint, cx=frame.x(middle), cy=y, r=6, fill=colour))
        text = f"{middle:.{digits}f}"
        parts.append(tag("text", text, x=frame.x(middle), y=y - 11, text_anchor="middle", fill="var(--ink)"))
    means = "; ".join(f"{bar.name} {mean(bar.scores):.{digits}f}" for bar in bars)
    return tag(
        "svg", inside="".join(parts), xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {width} {number(bottom + 44)}",
        role="img", class_="chart", aria_label=f"{label}: {means}", font_family="system-ui,sans-serif", font_size=13,
    )  # fmt: skip


def _ground(width: float, height: float) -> str:
    """The style and the ground of a chart that stands alone."""
    return f"<style>{style('svg')}</style>" + tag("rect", width=width, height=height, fill="var(--paper)")


def hope_and_fear() -> str:
    """What hope and fear are, as a picture."""
    dots = [
        (96, 148), (120, 96), (140, 180), (158, 128), (172, 70), (180, 206), (204, 150), (214, 104), (226, 186),
        (244, 132), (252, 82), (262, 214), (276, 162), (292, 116), (300, 190), (316, 144), (330, 92), (338, 218),
        (352, 168), (368, 128), (384, 196), (398, 148), (150, 220), (112, 200), (236, 60), (412, 172),
    ]  # fmt: skip
    parts = [tag("circle", cx=x, cy=y, r=4, fill="var(--faint)", opacity=".45") for x, y in dots]
    axis = {"stroke": "var(--faint)", "fill": "none", "stroke_width": "1.5", "marker_end": "url(#tip)"}
    head = tag("path", d="M0 0L8 4L0 8z", fill="var(--faint)")
    parts.append(
        tag(
            "defs",
            inside=tag("marker", inside=head, id="tip", markerWidth=8, markerHeight=8, refX=6, refY=4, orient="auto"),
        )
    )
    parts.append(tag("path", d="M64 244H500", **axis))
    parts.append(tag("path", d="M64 244V30", **axis))
    parts.append(tag("text", "model score", x=496, y=264, text_anchor="end", fill="var(--ink)"))
    parts.append(tag("text", "quality", transform="translate(50,34) rotate(-90)", text_anchor="end", fill="var(--ink)"))
    for kind, x, y, text, to in (
        ("hope", 392, 70, "hope: good, and the model likes it", 46),
        ("best", 452, 150, "best: what the model outputs", 0),
        ("fear", 430, 214, "fear: bad, yet the model likes it", -46),
    ):
        if to:
            where = f"M{x + (12 if to > 0 else -12)} {y}h{to}"
            parts.append(tag("path", d=where, class_=f"arrow {kind}", marker_end=f"url(#tip-{kind})"))
        parts.append(mark(kind, x, y))
        label_x = x - 14 if kind != "fear" else x - 64
        label_y = y - 14 if kind != "fear" else y + 22
        anchor = "end" if kind != "fear" else "middle"
        if kind == "best":
            label_x, label_y, anchor = x + 2, y - 14, "middle"
        parts.append(tag("text", text, x=label_x, y=label_y, text_anchor=anchor, class_=f"label {kind}"))
    tips = "".join(
        tag("marker", inside=tag("path", d="M0 0L8 4L0 8z", class_=f"fill {kind}"), id=f"tip-{kind}", markerWidth=8,
            markerHeight=8, refX=6, refY=4, orient="auto")
        for kind in ("hope", "fear")
    )  # fmt: skip
    parts.insert(0, tag("defs", inside=tips))
    return tag(
        "svg", inside="".join(parts), viewBox="0 0 520 274", role="img", class_="chart schematic",
        aria_label="A cloud of candidates. Hope is high and to the right, fear low and to the right; training moves "
        "hope to the right and fear to the left.", font_family="system-ui,sans-serif", font_size=13,
    )  # fmt: skip


def mark(kind: str, x: float, y: float) -> str:
    """The sign of best (diamond), hope (triangle up), fear (triangle down)."""
    shape = {"best": "M0-8L8 0L0 8L-8 0z", "hope": "M0-9L9 7H-9z", "fear": "M0 9L9-7H-9z"}[kind]
    return tag("path", d=shape, transform=f"translate({number(x)},{number(y)})", class_=f"mark {kind}")


def dots_chart(
    title: str,
    x_label: str,
    rows: Mapping[str, Sequence[tuple[int, float, str]]],
    *,
    percent: bool = False,
    lines: bool = False,
    width: int = WIDE,
) -> str:
    """A row per name with points on one axis: (series, value, hint). With ``lines``, a line at 0."""
    left, row, top = _names(width), 26, 6
    values = [value for points in rows.values() for _, value, _ in points] or [0.0]
    ends = [*values, 0.0] if lines else values
    ticks = nice_ticks(min(ends), max(ends), 5 if width == WIDE else 3)
    bottom = float(top + row * len(rows))
    frame = Frame(left, top, width - left - 24.0, row * len(rows), ticks, [0.0, 1.0])
    parts = []
    for tick in ticks:
        x = number(frame.x(tick))
        parts.append(tag("path", d=f"M{x} {top}V{number(bottom)}", stroke="var(--grid)"))
        text = tick_text(tick, ticks) + (" %" if percent else "")
        parts.append(tag("text", text, x=frame.x(tick), y=bottom + 16, text_anchor="middle", fill="var(--faint)"))
    if lines:
        parts.append(tag("path", d=f"M{number(frame.x(0.0))} {top}V{number(bottom)}", stroke="var(--faint)"))
    middle = frame.left + frame.width / 2
    parts.append(tag("text", x_label, x=middle, y=bottom + 36, text_anchor="middle", fill="var(--ink)"))
    for k, (name, points) in enumerate(rows.items()):
        y = top + row * (k + 0.5)
        parts.append(
            tag("text", _short(name, left), x=left - 10, y=y, dy=".32em", text_anchor="end", fill="var(--ink)")
        )
        for series, value, hint in points:
            circle = tag("circle", inside=tag("title", hint), cx=frame.x(value), cy=y, r=5, fill=look(series)[0],
                         opacity=".8")  # fmt: skip
            parts.append(tag("g", inside=circle, class_="series", data_series=series))
    return tag(
        "svg", inside="".join(parts), viewBox=f"0 0 {width} {number(bottom + 44)}", role="img", class_="chart",
        aria_label=title, font_family="system-ui,sans-serif", font_size=12,
    )  # fmt: skip


def _names(width: int) -> int:
    """The room for names left of a chart."""
    return 170 if width == WIDE else 118


def _short(name: str, room: int) -> str:
    most = int((room - 10) / 6.2)
    return name if len(name) <= most else name[: most - 1] + "…"


def weights_chart(moved: Sequence[Moved], width: int = WIDE) -> str:
    """Each feature a line: its share before (ring) and after (dot), with the way between them."""
    left, row = _names(width), 26
    extreme = max(max(abs(m.share_before), abs(m.share_after)) for m in moved) or 1.0
    low = min(0.0, *(min(m.share_before, m.share_after) for m in moved))
    high = max(0.0, *(max(m.share_before, m.share_after) for m in moved))
    ticks = nice_ticks(100 * low, 100 * high, 5 if width == WIDE else 3) if extreme else [0.0, 1.0]
    frame = Frame(left, 6.0, width - left - 70.0, row * len(moved), ticks, [0.0, 1.0])
    parts = []
    bottom = 6.0 + row * len(moved)
    for tick in ticks:
        x = frame.x(tick)
        parts.append(tag("path", d=f"M{number(x)} 6V{number(bottom)}", stroke="var(--grid)"))
        text = f"{tick_text(tick, ticks)} %"
        parts.append(tag("text", text, x=x, y=bottom + 16, text_anchor="middle", fill="var(--faint)"))
    zero = number(frame.x(0.0))
    parts.append(tag("path", d=f"M{zero} 6V{number(bottom)}", stroke="var(--faint)"))
    for k, feature in enumerate(moved):
        y = 6.0 + row * (k + 0.5)
        a, b = frame.x(100 * feature.share_before), frame.x(100 * feature.share_after)
        name = _short(readable(feature.name), left)
        hint = f"{readable(feature.name)}: weight {feature.before:.4g} before, {feature.after:.4g} after"
        parts.append(
            tag(
                "g",
                inside=tag("title", hint)
                + tag("text", name, x=left - 10, y=y, dy=".32em", text_anchor="end", fill="var(--ink)")
                + tag(
                    "path", d=f"M{number(a)} {number(y)}H{number(b)}", stroke="var(--c0)", stroke_width=3, opacity=".5"
                )
                + tag("circle", cx=a, cy=y, r=4, fill="var(--paper)", stroke="var(--c0)", stroke_width=2)
                + tag("circle", cx=b, cy=y, r=5, fill="var(--c0)")
                + tag(
                    "text",
                    small_number(feature.after),
                    x=width - 4,
                    y=y,
                    dy=".32em",
                    text_anchor="end",
                    fill="var(--faint)",
                ),
            )
        )
    return tag(
        "svg", inside="".join(parts), viewBox=f"0 0 {width} {number(bottom + 24)}", role="img", class_="chart",
        aria_label="Weights that moved most", font_family="system-ui,sans-serif", font_size=12,
    )  # fmt: skip


def surface_chart(surface: Surface, label: str, digits: int = 2) -> str:
    """Metric against one weight, with a line where the trainer stopped."""
    width, height = 330, 190
    frame = Frame(
        48.0,
        12.0,
        width - 60.0,
        height - 56.0,
        nice_span(surface.x[0], surface.x[-1]),
        nice_ticks(min(surface.y), max(surface.y), 3),
    )
    line = " ".join(f"{number(frame.x(x))},{number(frame.y(y))}" for x, y in zip(surface.x, surface.y, strict=True))
    at = number(frame.x(surface.weight))
    parts = [
        _surface_axes(frame, width, height, label),
        tag("polyline", points=line, fill="none", stroke="var(--c0)", stroke_width="1.5"),
        tag("path", d=f"M{at} 12V{height - 44}", stroke="var(--c1)", stroke_width="1.5", stroke_dasharray="4 3"),
        tag("circle", cx=frame.x(surface.weight), cy=frame.y(surface.score), r=4, fill="var(--c1)"),
    ]
    text = (
        f"{readable(surface.name)}: stopped at {surface.weight:.4g}, {label} {surface.score:.{digits}f}; "
        f"best on the line {surface.best:.{digits}f}"
    )
    return tag(
        "svg", inside="".join(parts), viewBox=f"0 0 {width} {height}", role="img", class_="chart surface",
        aria_label=text, font_family="system-ui,sans-serif", font_size=11,
    )  # fmt: skip


def nice_span(low: float, high: float, count: int = 3) -> list[float]:
    """The range as it is, with ticks inside it."""
    if high - low <= 1e-9 * max(abs(low), abs(high)):
        return nice_ticks(low, high, count)
    inner = [tick for tick in nice_ticks(low, high, count) if low < tick < high]
    return [low, *inner, high]


def _surface_axes(frame: Frame, width: int, height: int, label: str) -> str:
    parts = []
    for tick in frame.y_ticks:
        y = frame.y(tick)
        parts.append(tag("path", d=f"M48 {number(y)}H{width - 12}", stroke="var(--grid)"))
        parts.append(
            tag("text", tick_text(tick, frame.y_ticks), x=42, y=y, dy=".32em", text_anchor="end", fill="var(--faint)")
        )
    for tick in frame.x_ticks[1:-1]:
        text = tick_text(tick, frame.x_ticks[1:-1])
        parts.append(tag("text", text, x=frame.x(tick), y=height - 29, text_anchor="middle", fill="var(--faint)"))
    parts.append(tag("text", "weight", x=width / 2 + 18, y=height - 10, text_anchor="middle", fill="var(--faint)"))
    parts.append(
        tag("text", label, transform="translate(11,72) rotate(-90)", text_anchor="middle", fill="var(--faint)")
    )
    return "".join(parts)


def precisions_chart(scores: BeforeAfter) -> str:
    """Bars of the n-gram precisions before and after."""
    assert scores.bleu is not None
    before, after = scores.bleu["before"], scores.bleu["after"]
    width, height, left = 420, 210, 34
    top = max(*before["precisions"], *after["precisions"], 1.0)
    ticks = nice_ticks(0.0, top, 4)
    frame = Frame(left, 10.0, width - left - 10.0, height - 40.0, [0.0, 1.0], ticks)
    parts = []
    for tick in ticks:
        y = frame.y(tick)
        parts.append(tag("path", d=f"M{left} {number(y)}H{width - 10}", stroke="var(--grid)"))
        parts.append(
            tag("text", tick_text(tick, ticks), x=left - 6, y=y, dy=".32em", text_anchor="end", fill="var(--faint)")
        )
    count = len(before["precisions"])
    step = (width - left - 10) / count
    for k in range(count):
        for which, (values, colour) in enumerate(((before, "var(--faint)"), (after, "var(--c0)"))):
            value = values["precisions"][k]
            x = left + step * k + step * (0.16 + 0.35 * which)
            y = frame.y(value)
            hint = tag("title", f"{k + 1}-grams {'after' if which else 'before'}: {value:.1f} %")
            parts.append(
                tag("rect", inside=hint, x=x, y=y, width=step * 0.31, height=height - 30 - y, fill=colour, rx=2,
                    opacity="1" if which else ".55")
            )  # fmt: skip
            parts.append(
                tag("text", f"{value:.1f}", x=x + step * 0.155, y=y - 4, text_anchor="middle", fill="var(--ink)",
                    font_size=11)
            )  # fmt: skip
        parts.append(
            tag("text", f"{k + 1}-grams", x=left + step * (k + 0.5), y=height - 12,
                text_anchor="middle", fill="var(--faint)")
        )  # fmt: skip
    return tag(
        "svg", inside="".join(parts), viewBox=f"0 0 {width} {height}", role="img", class_="chart",
        aria_label="n-gram precisions before and after", font_family="system-ui,sans-serif", font_size=12,
    )  # fmt: skip
