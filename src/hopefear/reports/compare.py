"""Sections of all runs together: scores in every metric, weights, options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass
from html import escape
from statistics import mean, stdev
from typing import Any

import numpy as np

from hopefear.errors import OptionError
from hopefear.evaluation.comparison import METRIC_NAMES
from hopefear.metrics import Bleu, Chrf, Metric, Ter
from hopefear.reports import page
from hopefear.reports.charts import dots_chart
from hopefear.reports.feature_names import readable
from hopefear.reports.gather import RunData
from hopefear.reports.numbers import all_stats, shares
from hopefear.reports.page import Section, plain_number, section, signed, small_number, table
from hopefear.reports.run_view import PARTS, TITLES, MetricGroup, RunView
from hopefear.reports.verdict import Ranking
from hopefear.trainers.registry import find, settable
from hopefear.util.svg import Curve

FEATURES = 16  # of the plot of all runs
ROWS, FIRST = 50_000, 50  # of the table of weights: kept, and shown before anything is searched for


@dataclass(frozen=True)
class WeightsOf:
    """The weights of a run, and how much each feature varies."""

    name: str
    weights: Mapping[str, float]
    initial: Mapping[str, float]
    deviations: Mapping[str, float]


# Scores in all metrics -----------------------------------------------------------------------------------------------


def metrics(groups: Sequence[MetricGroup], judgements: Sequence[Ranking | None], jobs: int) -> Section | None:
    """A row per system, a column per metric: the part by which the systems are judged."""
    rows, columns = [], dict[str, Metric]()
    for group, judged in zip(groups, judgements, strict=True):
        if judged is None:
            continue
        for system in [*judged.order, *judged.apart]:
            part = next((each for each in (judged.part, *PARTS) if system.after(each)), None)
            if part is None:
                continue
            scores = _in_all(system.runs, part, jobs)
            columns |= {key: metric for key, (metric, _, _) in scores.items()}
            rows.append((system.name, part, group.runs[0].run.key, scores))
    if not rows or len(columns) < 2:
        return None
    shown = []
    for name, part, own, scores in rows:
        cells = [_cell(*scores[key][1:], key == own) if key in scores else "" for key in columns]
        shown.append([escape(name), TITLES[part], *cells])
    heads = [f"{_metric_name(metric)} {'↑' if metric.higher_is_better else '↓'}" for metric in columns.values()]
    lead = (
        "The same translations in every metric: the mean over seeds, and the change by training. Bold marks "
        "the metric that a run was trained for; a gain in it alone may be no real gain. ↑: more is better, "
        "↓: less is."
    )
    shown_table = table(["run", "part", *heads], shown, name="metrics")
    return section("metrics", "All metrics side by side", lead, shown_table, short="All metrics")


def _metric_name(metric: Metric) -> str:
    return escape(METRIC_NAMES.get(metric.key, metric.key))


def _in_all(runs: Sequence[RunView], part: str, jobs: int) -> dict[str, tuple[Metric, float | None, list[float]]]:
    """Before, and after under each seed, in the run's own metric and in those that need references only."""
    first = runs[0]
    own = first.run.metric
    known: dict[str, tuple[Metric, float | None, list[float]]] = {}
    after = [value for view in runs for value in view.after(part)]
    if after:
        known[own.key] = (own, first.before(part), after)
    outputs = [view.scored[part].outputs for view in runs if part in view.scored]
    if len(outputs) < len(runs) or any(each is None or not each.before.references(0) for each in outputs):
        return known
    others = (Bleu(own.lowercase, own.tokenize), Chrf(lowercase=own.lowercase), Ter())
    for metric in others:
        if metric.key in known:
            continue
        stats = [all_stats(each, metric, jobs) for each in outputs if each is not None]
        scores = [metric.score(seed.sum(axis=0)) for _, seeds in stats for seed in seeds]
        before = metric.score(stats[0][0].sum(axis=0)) if first.before(part) is not None else None
        known[metric.key] = (metric, before, scores)
    return known


def _cell(before: float | None, after: Sequence[float], trained: bool) -> str:
    digits = 4 if max(map(abs, after)) <= 1 else 2
    text = plain_number(mean(after), digits)
    if trained:
        text = f"<b>{text}</b>"
    if len(after) > 1:
        text += f" ± {plain_number(stdev(after), digits)}"
    return text + (
        f' <span class="faint">({signed(mean(after) - before, digits)})</span>' if before is not None else ""
    )


# Weights -------------------------------------------------------------------------------------------------------------


def all_shares(group: MetricGroup) -> str:
    """The weights of all runs of a metric in one plot; nothing for one run."""
    runs = [view for view in group.runs if view.run.weights]
    if len(runs) < 2:
        return ""
    names = list(dict.fromkeys(name for view in runs for name in view.run.weights))
    by_run = np.stack([shares(view.run.weights, names, view.deviations) for view in runs])
    order = np.argsort(-np.abs(by_run).max(axis=0), kind="stable")[:FEATURES]
    rows = {
        readable(names[j]): [
            (
                view.number,
                100 * float(by_run[k, j]),
                f"{view.run.name}: {readable(names[j])} {100 * by_run[k, j]:.1f} %",
            )
            for k, view in enumerate(runs)
            if names[j] in view.run.weights
        ]
        for j in order
    }
    title = "shares of features in all runs"
    curves = [Curve(view.run.name, [0.0], [0.0], points=True, series=view.number) for view in runs]
    return page.figure(
        f"shares-{group.runs[0].number}",
        lambda width: dots_chart(title, "share in the decisions", rows, percent=True, lines=True, width=width),
        key=page.legend(curves),
        title="All runs",
    )


def weight_rows(runs: Sequence[WeightsOf]) -> tuple[Section | None, dict[str, Any]]:
    """Every weight of every run, to be searched and saved."""
    names = list(dict.fromkeys(name for system in runs for name in system.weights))
    if not names:
        return None, {"runs": [], "rows": []}
    parts = np.stack([shares(system.weights, names, system.deviations) for system in runs])
    order = np.argsort(-np.abs(parts).max(axis=0), kind="stable")
    rows: list[list[Any]] = []
    for j in order[:ROWS].tolist():
        name = names[j]
        row: list[Any] = [name, readable(name) if readable(name) != name else 0]
        for system, share in zip(runs, parts, strict=True):
            weight = system.weights.get(name)
            before = system.initial.get(name, 0.0)
            row.append(None if weight is None else [_short(before), _short(weight), round(100 * float(share[j]), 3)])
        rows.append(row)
    heads = ["feature", *(escape(system.name) for system in runs)]
    shown = [[escape(row[1] or row[0]), *(_weight(cell) for cell in row[2:])] for row in rows[:FIRST]]
    cut = f"The {ROWS:,} of the largest share of {len(names):,}" if len(names) > ROWS else f"All {len(names):,}"
    lead = (
        f"{cut} weights, the largest share in the decisions first, with that share. <code>weights.txt</code> has "
        "them in full precision."
    )
    text = table(heads, shown, name="weights", more=" data-weights")
    return section("table", "All weights", lead, text), {"runs": [system.name for system in runs], "rows": rows}


def weights_table(runs: Sequence[RunView]) -> tuple[Section | None, dict[str, Any]]:
    """The weights of the runs that have some."""
    return weight_rows(
        [
            WeightsOf(view.run.name, view.run.weights, view.run.initial, view.deviations)
            for view in runs
            if view.run.weights
        ]
    )


def _short(value: float) -> float:
    return float(f"{value:.6g}")


def _weight(cell: Sequence[float] | None) -> str:
    if cell is None:
        return ""
    return f'{small_number(cell[1])} <span class="faint">({plain_number(cell[2], 1)} %)</span>'


# Options -------------------------------------------------------------------------------------------------------------


def options(runs: Sequence[RunView]) -> Section:
    """The options that differ between the runs."""
    given = [_options(view.run) for view in runs]
    names = list(dict.fromkeys(name for each in given for name in each))
    rows = []
    for name in names:
        values = [each.get(name) for each in given]
        present = {value[0] for value in values if value is not None}
        by_default = all(value is None or value[1] for value in values)
        if len(present) > 1 or (None in values and not by_default):
            rows.append([escape(name), *(_option(value) for value in values)])
    if not rows:
        rows = [["nothing", *["" for _ in runs]]]
    lead = (
        "Options and inputs in which these runs differ, whether they were given or are the trainer's defaults (grey). "
        "Options that only some of the trainers have are listed if one of them is not at its default."
    )
    heads = ["option", *(escape(view.run.name) for view in runs)]
    return section("options", "Options that differ", lead, table(heads, rows, name="options"), short="Options")


def _option(value: tuple[str, bool] | None) -> str:
    if value is None:
        return '<span class="faint">none</span>'
    text, default = value
    return f'<span class="faint">{escape(text)}</span>' if default else escape(text)


def _options(run: RunData) -> dict[str, tuple[str, bool]]:
    """Each option as text, and whether it is the trainer's default."""
    record = run.record
    listed = {"trainer": (run.trainer, False), "metric": (record.metric, False), "seed": (str(record.seed), False)}
    try:
        kind = find(run.trainer, "candidates" if record.kind == "tune" else None)
        defaults = {name: each.default for name, each in settable(kind).items() if each.default is not MISSING}
    except OptionError:
        defaults = {}
    for name, value in run.options.items():
        listed[name] = (_text(value), name in defaults and defaults[name] == value)
    elsewhere = ("trainer", "metric", "measure", "seed", "inputs")
    for name, value in record.settings.items():
        if name not in elsewhere and value is not None:
            listed[name] = (_text(value), False)
    for file in record.inputs:
        role = str(file["role"])
        listed_file = f"{file['path']} ({file['sha256'][:8]})"
        listed[role] = (f"{listed[role][0]}, {listed_file}" if role in listed else listed_file, False)
    return listed


def _text(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
