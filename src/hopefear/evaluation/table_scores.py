"""Scores of ranked tables: the mean outcome of the best candidates, or the metric of their texts.

The best candidate of a group is the one with the highest value in the column ``by``: ``score``, as ``rerank --table``
leaves it, if there is such a column, else the first row of each group.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopefear.errors import InputError, OptionError
from hopefear.evaluation.scores import Resampling, Scored, Stats, System, SystemScore, compared, evaluate
from hopefear.formats.table import Table, TableSpec, read_table
from hopefear.metrics import External, Metric
from hopefear.util.messages import plural


def score_tables(
    systems: Sequence[tuple[str, Sequence[Any]]],
    spec: TableSpec,
    metrics: Sequence[Metric],
    how: Resampling,
    by: str | None = None,
) -> Scored:
    """Score the best candidates of one or several tables; others are compared with the first."""
    if not spec.outcome and not (spec.text and spec.references) and not all(metric.columns for metric in metrics):
        raise OptionError("--table needs --outcome, or --text and --references.")
    names = [name for name, _ in systems]
    tables = [read_table(table, spec) for _, (table,) in systems]
    best = [_best(table.flat(spec), spec.group, by) for table in tables]
    labels = best[0][2]
    for (table, _, other), name in zip(best, names, strict=True):
        if sorted(other) != sorted(labels):
            finding = f"has other groups than {names[0]}. Score rankings of the same candidates"
            raise InputError(f"{table.name if len(tables) > 1 else name}: {finding}")
    findings = [text for table, _, _ in best if (text := _without_value(table, by))]
    rows = [_ordered(rows, other, labels) for _, rows, other in best]
    flat = [table for table, _, _ in best]
    outputs = [
        System(name, [_texts(table, spec.text, own)]) for name, table, own in zip(names, flat, rows, strict=True)
    ]
    scores = []
    for metric in metrics:
        if isinstance(metric, External):
            stats = [[_outcomes(table, metric, own)] for table, own in zip(flat, rows, strict=True)]
            scores.append(compared([_score(runs, metric) for runs in stats], stats, metric, how))
        elif metric.columns:
            stats = [[_of_columns(table, metric, spec.group, by, labels, how.jobs)] for table in flat]
            scores.append(compared([_score(runs, metric) for runs in stats], stats, metric, how))
        else:
            references = [_texts(flat[0], name, rows[0]) for name in spec.references]
            if not references or spec.text is None:
                raise OptionError(f"--metric {metric.name} needs --text and --references.")
            scores.append(evaluate(outputs, references, metric, how))
    return Scored(outputs, [files for _, files in systems], metrics, scores, how.samples, findings)


def _best(table: Table, group: str, by: str | None) -> tuple[Table, NDArray[np.int64], list[str]]:
    """The row of the best candidate of each group, and the groups."""
    if table.rows == 0:
        raise InputError(f"{table.name}: there are no rows. Give a table with one row per candidate")
    codes, labels = table.codes(group)
    value = _values(table, by)
    order = np.lexsort((np.arange(table.rows), -value, codes))
    first = np.concatenate([[True], np.diff(codes[order]) != 0])
    return table, order[first], labels


def _ordering(table: Table, by: str | None) -> str | None:
    return by or ("score" if "score" in table.columns else None)


def _values(table: Table, by: str | None) -> NDArray[np.float64]:
    """The values that candidates are ordered by; those without one come last."""
    column = _ordering(table, by)
    return np.zeros(table.rows) if column is None else np.nan_to_num(table.numbers(column, "--by"), nan=-np.inf)


def _without_value(table: Table, by: str | None) -> str | None:
    """Candidates that cannot be the best, because they have no value to be chosen by."""
    column = _ordering(table, by)
    if column is None:
        return None
    gone = np.flatnonzero(np.isnan(table.numbers(column, "--by")))
    if not gone.size:
        return None
    finding = f"{plural(len(gone), 'candidate')} without {column} (the first is in {table.place(int(gone[0]))})"
    return f"{table.name}: {finding}, taken as worse than all others"


def _ordered(rows: NDArray[np.int64], own: Sequence[str], labels: Sequence[str]) -> NDArray[np.int64]:
    """The rows in the order of the first table's groups."""
    ranks = {label: number for number, label in enumerate(own)}
    return rows[[ranks[label] for label in labels]]


def _texts(table: Table, name: str | None, rows: NDArray[np.int64]) -> list[str]:
    if name is None:
        return []
    texts = table.texts(name, "--text")
    return [texts[row] for row in rows.tolist()]


def _of_columns(table: Table, metric: Metric, group: str, by: str | None, labels: Sequence[str], jobs: int) -> Stats:
    """The metric's statistics of each group, in this order: of its best candidate, or of the order of all."""
    codes, own = table.codes(group)
    rank = np.unique(_values(table, by), return_inverse=True)[1].astype(np.float64)
    columns = {" group": codes, " rank": rank, **{name: table.numbers(name, "--metric") for name in metric.columns}}
    ranked = Table(columns, table.name, table.line_of, owner=table.owner, duplicates=True)
    pool = ranked.pool(TableSpec(" group", [" rank"], outcome=metric.columns))
    place = {label: row for row, label in enumerate(pool.ids)}
    code = {label: str(number) for number, label in enumerate(own)}
    return metric.chosen_stats(pool, np.ones(1), jobs)[[place[code[label]] for label in labels]]


def _outcomes(table: Table, metric: External, rows: NDArray[np.int64]) -> Stats:
    values = table.numbers(metric.column, "--outcome")[rows]
    if np.isnan(values).any():
        row = int(rows[np.flatnonzero(np.isnan(values))[0]])
        raise table.error(row, f"{metric.column} is missing. Every candidate needs its outcome")
    return np.column_stack([values, np.ones(len(values))])


def _score(runs: Sequence[Stats], metric: Metric) -> SystemScore:
    values = [metric.score(stats.sum(axis=0)) for stats in runs]
    return SystemScore(float(np.mean(values)), values, metric.signature(), metric.key, "")
