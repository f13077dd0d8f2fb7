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
from hopefear.reports.examined import PARTS, TITLES, Examined, Group
from hopefear.reports.gather import RunData
from hopefear.reports.names import readable
from hopefear.reports.numbers import all_stats, shares
from hopefear.reports.page import Section, plain_number, section, signed, small_number, table
from hopefear.reports.verdict import Judged
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


def metrics(groups: Sequence[Group], judgements: Sequence[Judged | None], jobs: int) -> Section | None:
    """A row per system, a column per metric: the part by which the systems are judged."""
    rows, columns = [], dict[str, Metric]()
    for group, judged in zip(groups, judgements, strict=True):
        if judged is None:
            continue
        for system in [*judged.order, *judged.apart]:
            part = next((one for one in (judged.part, *PARTS) if system.after(one)), None)
            if part is None:
                continue
            found = _in_all(system.runs, part, jobs)
            columns |= {key: metric for key, (metric, _, _) in found.items()}
            rows.append((system.name, part, group.found[0].run.key, found))
    if not rows or len(columns) < 2:
        return None
    shown = []
    for name, part, own, found in rows:
        cells = [escape(name), TITLES[part]]
        for key in columns:
            cells.append(_cell(*found[key][1:], key == own) if key in found else "")
        shown.append(cells)
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


def _in_all(runs: Sequence[Examined], part: str, jobs: int) -> dict[str, tuple[Metric, float | None, list[float]]]:
    """Before, and after under each seed, in the run's own metric and in those that need references only."""
    first = runs[0]
    own = first.run.metric
    found: dict[str, tuple[Metric, float | None, list[float]]] = {}
    after = [value for one in runs for value in one.after(part)]
    if after:
        found[own.key] = (own, first.before(part), after)
    said = [one.scored[part].said for one in runs if part in one.scored]
    if len(said) < len(runs) or any(one is None or not one.before.references(0) for one in said):
        return found
    others = (Bleu(own.lowercase, own.tokenize), Chrf(lowercase=own.lowercase), Ter())
    for metric in others:
        if metric.key in found:
            continue
        stats = [all_stats(one, metric, jobs) for one in said if one is not None]
        scores = [metric.score(seed.sum(axis=0)) for _, seeds in stats for seed in seeds]
        known = first.before(part) is not None
        found[metric.key] = (metric, metric.score(stats[0][0].sum(axis=0)) if known else None, scores)
    return found


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


def all_shares(group: Group) -> str:
    """The weights of all runs of a metric in one plot; nothing for one run."""
    runs = [one for one in group.found if one.run.weights]
    if len(runs) < 2:
        return ""
    names = list(dict.fromkeys(name for one in runs for name in one.run.weights))
    found = np.stack([shares(one.run.weights, names, one.deviations) for one in runs])
    order = np.argsort(-np.abs(found).max(axis=0), kind="stable")[:FEATURES]
    rows = {
        readable(names[j]): [
            (one.number, 100 * float(found[k, j]), f"{one.run.name}: {readable(names[j])} {100 * found[k, j]:.1f} %")
            for k, one in enumerate(runs)
            if names[j] in one.run.weights
        ]
        for j in order
    }
    title = "shares of features in all runs"
    curves = [Curve(one.run.name, [0.0], [0.0], points=True, series=one.number) for one in runs]
    return page.figure(
        f"shares-{group.found[0].number}",
        lambda width: dots_chart(title, "share in the decisions", rows, percent=True, lines=True, width=width),
        key=page.legend(curves),
        title="All runs",
    )


def weight_rows(runs: Sequence[WeightsOf]) -> tuple[Section | None, dict[str, Any]]:
    """Every weight of every run, to be searched and saved."""
    names = list(dict.fromkeys(name for one in runs for name in one.weights))
    if not names:
        return None, {"runs": [], "rows": []}
    parts = np.stack([shares(one.weights, names, one.deviations) for one in runs])
    order = np.argsort(-np.abs(parts).max(axis=0), kind="stable")
    rows: list[list[Any]] = []
    for j in order[:ROWS].tolist():
        name = names[j]
        row: list[Any] = [name, readable(name) if readable(name) != name else 0]
        for one, share in zip(runs, parts, strict=True):
            weight = one.weights.get(name)
            before = one.initial.get(name, 0.0)
            row.append(None if weight is None else [_short(before), _short(weight), round(100 * float(share[j]), 3)])
        rows.append(row)
    heads = ["feature", *(escape(one.name) for one in runs)]
    shown = [[escape(row[1] or row[0]), *(_weight(cell) for cell in row[2:])] for row in rows[:FIRST]]
    cut = f"The {ROWS:,} of the largest share of {len(names):,}" if len(names) > ROWS else f"All {len(names):,}"
    lead = (
        f"{cut} weights, the largest share in the decisions first, with that share. <code>weights.txt</code> has "
        "them in full precision."
    )
    text = table(heads, shown, name="weights", more=" data-weights")
    return section("table", "All weights", lead, text), {"runs": [one.name for one in runs], "rows": rows}


def weights_table(found: Sequence[Examined]) -> tuple[Section | None, dict[str, Any]]:
    """The weights of the runs that have some."""
    return weight_rows(
        [WeightsOf(o.run.name, o.run.weights, o.run.initial, o.deviations) for o in found if o.run.weights]
    )


def _short(value: float) -> float:
    return float(f"{value:.6g}")


def _weight(cell: Sequence[float] | None) -> str:
    if cell is None:
        return ""
    return f'{small_number(cell[1])} <span class="faint">({plain_number(cell[2], 1)} %)</span>'


# Options -------------------------------------------------------------------------------------------------------------


def options(found: Sequence[Examined]) -> Section:
    """What the runs were told differently."""
    given = [_options(one.run) for one in found]
    names = list(dict.fromkeys(name for each in given for name in each))
    rows = []
    for name in names:
        values = [each.get(name) for each in given]
        present = {value[0] for value in values if value is not None}
        by_default = all(value is None or value[1] for value in values)
        if len(present) > 1 or (None in values and not by_default):
            rows.append([escape(name), *(_option(value) for value in values)])
    if not rows:
        rows = [["nothing", *["" for _ in found]]]
    lead = (
        "Options and inputs in which these runs differ, whether they were given or are the trainer's defaults (grey). "
        "Options that only some of the trainers have are listed if one of them is not at its default."
    )
    heads = ["option", *(escape(o.run.name) for o in found)]
    return section("options", "Options that differ", lead, table(heads, rows, name="options"), short="Options")


def _option(value: tuple[str, bool] | None) -> str:
    if value is None:
        return '<span class="faint">none</span>'
    text, default = value
    return f'<span class="faint">{escape(text)}</span>' if default else escape(text)


def _options(run: RunData) -> dict[str, tuple[str, bool]]:
    """Each option as text, and whether it is the trainer's default."""
    record = run.record
    found = {"trainer": (run.trainer, False), "metric": (record.metric, False), "seed": (str(record.seed), False)}
    try:
        kind = find(run.trainer, "candidates" if record.kind == "tune" else None)
        defaults = {name: one.default for name, one in settable(kind).items() if one.default is not MISSING}
    except OptionError:
        defaults = {}
    for name, value in run.options.items():
        found[name] = (_text(value), name in defaults and defaults[name] == value)
    elsewhere = ("trainer", "metric", "measure", "seed", "inputs")
    for name, value in record.settings.items():
        if name not in elsewhere and value is not None:
            found[name] = (_text(value), False)
    for one in record.inputs:
        role = str(one["role"])
        told = f"{one['path']} ({one['sha256'][:8]})"
        found[role] = (f"{found[role][0]}, {told}" if role in found else told, False)
    return found


def _text(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
