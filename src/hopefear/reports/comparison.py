"""The page of ``hopefear compare``: the verdict, scores with intervals, all pairs, learning curves, every sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from html import escape
from statistics import mean
from typing import Any

from hopefear.evaluation.comparison import Compared
from hopefear.evaluation.data_sets import ComparedOnSets
from hopefear.reports.charts import PlotRow, forest_plot
from hopefear.reports.compare import WeightsOf, weight_rows
from hopefear.reports.numbers import averaged
from hopefear.reports.page import MINUS, WIDE, Section, chart, definitions, document, figure, section, table
from hopefear.reports.scores import pairs
from hopefear.reports.sections import one_fit
from hopefear.reports.sentence_list import Listing, sentences
from hopefear.util.messages import plural
from hopefear.util.svg import Curve, line_chart

STARTS = "mert"  # its history has where each of its starts ended, which is no curve


def page(
    comparison: Compared,
    listing: Listing | None = None,
    weights: Sequence[WeightsOf] = (),
    made: Mapping[str, str] | None = None,
) -> str:
    """One self-contained page. ``made``: how it was made, names and values (markup)."""
    seeds = plural(len(comparison.recipes[0].scores), "seed")
    title = f"{plural(len(comparison.recipes), 'trainer')}, {seeds} each · {comparison.label} · {comparison.where}"
    table_of_weights, rows = weight_rows(weights)
    data: dict[str, Any] = {"weights": rows, "sentences": [listing.record()] if listing is not None else []}
    shown = [
        _scores(comparison),
        pairs([comparison], True) if comparison.pairs else None,
        _curves(comparison),
        table_of_weights,
        sentences([listing], " Each trainer is shown with its best seed on dev.") if listing else None,
        section("made", "How it was made", "Everything you need to repeat it.", definitions(made)) if made else None,
    ]
    return document(f"hopefear compare: {comparison.label}", _top(title, comparison), shown, data)


def page_of_sets(comparison: ComparedOnSets) -> str:
    """One page over several data sets: the table, and for each the verdict and a link to its own page."""
    head, *rows = comparison.rows()
    title = f"{plural(len(rows), 'trainer')} on {plural(len(comparison.sets), 'data set')}"
    cells = [[escape(cell) for cell in row] for row in rows]
    shown = [
        section("scores", "Scores", escape(comparison.caption) + ".", table([*map(escape, head)], cells, name="scores"))
    ]
    for number, (name, each) in enumerate(comparison.sets.items()):
        drawn = figure(f"forest-{number}", partial(forest, each))
        link = f'<p><a href="{escape(name)}/report.html">All of {escape(name)}</a></p>'
        shown.append(section(f"set-{number}", escape(name), escape(each.verdict), drawn + link))
    return document("hopefear compare", f"<h1>{escape(title)}</h1>", shown, {})


def _top(title: str, comparison: Compared) -> str:
    note = '<p class="small faint">Lines are 95 % intervals over sentences and seeds; small dots are single seeds.</p>'
    drawn = figure("forest", lambda width: forest(comparison, width), note=note)
    return f'<h1>{escape(title)}</h1><p class="verdict">{escape(comparison.verdict)}</p>{drawn}'


def forest(comparison: Compared, width: int, standalone: bool = False) -> str:
    """The scores with their intervals."""
    bars = [
        PlotRow(recipe.name, recipe.scores, recipe.low, recipe.high, k) for k, recipe in enumerate(comparison.recipes)
    ]
    label = f"{comparison.label}, {comparison.part}"
    return forest_plot(bars, label, comparison.digits, width, standalone)


def _scores(comparison: Compared) -> Section:
    head, *rows = comparison.rows()
    lead = (
        f"The mean over the seeds with its standard deviation, on {comparison.where}, with the 95 % interval over "
        "sentences and seeds; the difference from the best with its p, adjusted for the number of pairs."
    )
    cells = [[escape(row[0]), *(escape(cell.replace("-", MINUS)) for cell in row[1:])] for row in rows]
    return section("scores", "Scores", lead, table([*map(escape, head)], cells, name="scores"))


def learning_curves(comparison: Compared) -> list[Curve]:
    """The score after each epoch, as the mean over seeds; of a trainer without epochs, the score of its fit."""
    curves = []
    for k, recipe in enumerate(comparison.recipes):
        seeds = [list(enumerate(seed, 1)) for seed in comparison.curves.get(recipe.name, [])]
        if recipe.name == STARTS:
            seeds = [[(1, score)] for score in recipe.dev]
        curve = averaged(recipe.name, seeds)
        if curve.x:
            curves.append(one_fit(Curve(curve.name, curve.x, curve.y, curve.error, series=k)))
    return curves


def figures(comparison: Compared) -> dict[str, str]:
    """The charts that stand alone: scores with intervals, and learning curves if there are epochs."""
    drawn = {"forest": forest(comparison, WIDE, standalone=True)}
    curves = learning_curves(comparison)
    if not all(curve.level for curve in curves):
        title = f"{comparison.label} on the sentences learnt from"
        drawn["curves"] = line_chart(title, "epoch", comparison.label, curves, standalone=True)
    return drawn


def _curves(comparison: Compared) -> Section | None:
    curves = learning_curves(comparison)
    if not curves:
        return None
    lead = "The score on the sentences that were learnt from, as the mean over the seeds; bars are standard deviations."
    if any(curve.level for curve in curves):
        lead += " A dotted line is a trainer without epochs: the score of its fit."
    if all(curve.level for curve in curves):
        d = comparison.digits
        rows = [[escape(curve.name), f"{mean(curve.y):.{d}f}"] for curve in curves]
        inside = table(["trainer", comparison.label], rows, name="curves")
    else:
        inside = chart("curves-chart", "Score after each epoch", "epoch", comparison.label, curves)
    return section("curves", "Learning curves", lead, inside, short="Learning")
