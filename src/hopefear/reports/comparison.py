"""The page of ``hopefear compare``: the verdict, scores with intervals, all pairs, learning curves."""

from __future__ import annotations

from html import escape
from statistics import mean

from hopefear.evaluation.comparison import Compared, spread
from hopefear.reports.page import card, chart, document, scrolled, section, table
from hopefear.util.svg import Curve, nice_ticks, number, tag

WIDTH, LEFT, RIGHT, ROW, TOP = 640, 150, 30, 34, 24


def page(comparison: Compared) -> str:
    """One self-contained page."""
    title = f"{comparison.metric.key} of {len(comparison.recipes)} trainers"
    body = "".join(
        [
            f'<main><header><h1>{escape(title)}</h1><p class="verdict">{escape(comparison.verdict)}</p></header>',
            _scores(comparison),
            _pairs(comparison),
            _curves(comparison),
            "</main>",
        ]
    )
    return document(title, body, {})


def _scores(comparison: Compared) -> str:
    head, *rows = comparison.rows()
    lead = (
        f"Scores on {comparison.sentences} held-out sentences: the mean over the seeds with its "
        "95 % interval over sentences and seeds. Dots are single seeds."
    )
    cells = [[escape(cell) for cell in row] for row in rows]
    return section(
        "scores", "Scores", lead, card(scrolled(forest_plot(comparison))), card(table([*map(escape, head)], cells))
    )


def _pairs(comparison: Compared) -> str:
    d = comparison.digits
    rows = [
        [
            f"{escape(pair.first)} against {escape(pair.second)}",
            f"{pair.delta:+.{d}f}",
            f"{pair.low:+.{d}f} to {pair.high:+.{d}f}",
            f"{pair.p:.3f}",
            f"{pair.adjusted:.3f}",
            "different" if pair.different else "cannot tell",
        ]
        for pair in comparison.pairs
    ]
    lead = (
        "The paired bootstrap over sentences and seeds. The adjusted p controls the false discovery rate over all "
        "pairs (Benjamini and Hochberg 1995)."
    )
    head = ["pair", "difference", "95 %", "p", "adjusted", "verdict"]
    return section("pairs", "Every pair", lead, card(table(head, rows))) if rows else ""


def _curves(comparison: Compared) -> str:
    curves = []
    for recipe in comparison.recipes:
        seeds = [seed for seed in comparison.curves.get(recipe.name, []) if len(seed) > 1]
        if seeds:
            length = min(map(len, seeds))
            y = [mean(seed[epoch] for seed in seeds) for epoch in range(length)]
            curves.append(Curve(recipe.name, list(range(1, length + 1)), y))
    if not curves:
        return ""
    drawn = chart("curves-chart", "Score after each epoch", "epoch", comparison.metric.key, curves)
    return section("curves", "Learning", "The score on the training sentences, as the mean over the seeds.", drawn)


def forest_plot(comparison: Compared) -> str:
    """A line for each recipe: its interval, its mean, its seeds."""
    recipes = comparison.recipes
    values = [value for recipe in recipes for value in (recipe.low, recipe.high, *recipe.scores)]
    low, high = min(values), max(values)
    margin = (high - low) * 0.05 or 0.5
    low, high = low - margin, high + margin

    def x(value: float) -> str:
        return number(LEFT + (value - low) / (high - low) * (WIDTH - LEFT - RIGHT))

    bottom = TOP + ROW * len(recipes)
    parts = []
    for tick in nice_ticks(low, high):
        if low <= tick <= high:
            parts.append(tag("path", d=f"M{x(tick)} {TOP - 8}V{bottom}", stroke="var(--grid)"))
            label = f"{tick:g}"
            parts.append(tag("text", label, x=x(tick), y=bottom + 16, text_anchor="middle", fill="var(--faint)"))
    for row, recipe in enumerate(recipes):
        y = TOP + ROW * row + ROW / 2
        colour = f"var(--c{row % 8})"
        parts.append(tag("text", recipe.name, x=LEFT - 12, y=number(y + 4), text_anchor="end", fill="var(--ink)"))
        interval = f"M{x(recipe.low)} {number(y)}H{x(recipe.high)}"
        parts.append(tag("path", d=interval, stroke=colour, stroke_width=3, stroke_linecap="round"))
        for score in recipe.scores:
            parts.append(tag("circle", cx=x(score), cy=number(y - 8), r=2.5, fill=colour, opacity=0.6))
        parts.append(tag("circle", cx=x(mean(recipe.scores)), cy=number(y), r=6, fill=colour))
    said = "; ".join(f"{recipe.name} {spread(recipe.scores, comparison.digits)}" for recipe in recipes)
    return tag(
        "svg",
        inside="".join(parts),
        viewBox=f"0 0 {WIDTH} {bottom + 24}",
        role="img",
        class_="chart",
        aria_label=f"{comparison.metric.key}: {said}",
        font_family="system-ui,sans-serif",
        font_size=13,
    )
