"""What tables say of rankings: the mean outcome, or the metric of the texts, of the best candidates.

The best candidate of a group is the one with the highest value in the column ``by``: ``score``, as ``rerank --table``
leaves it, if there is such a column, else the first row of each group.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopefear.errors import InputError, OptionError
from hopefear.evaluation.scores import Score, ScoreConfig, Scored, Stats, System, compared, evaluate
from hopefear.formats.table import Table, TableSpec, read_table
from hopefear.metrics import External, Metric, from_text


def score_tables(config: ScoreConfig) -> Scored:
    """Score the best candidates of one or several tables; others are compared with the first."""
    assert config.group is not None
    if not config.outcome and not (config.text and config.references):
        raise OptionError("--table needs --outcome, or --text and --references.")
    spec = TableSpec(config.group, (), config.text, config.references, config.outcome)
    tables = [read_table(one, spec) for one in config.table]
    chosen = [_chosen(table.flat(spec), config) for table in tables]
    labels = chosen[0][2]
    for (table, _, other), name in zip(chosen, config.names, strict=True):
        if sorted(other) != sorted(labels):
            finding = f"has other groups than {config.names[0]}. Score rankings of the same candidates"
            raise InputError(f"{table.name if len(tables) > 1 else name}: {finding}")
    rows = [_ordered(rows, other, labels) for _, rows, other in chosen]
    flat = [table for table, _, _ in chosen]
    systems = [
        System(name, [_texts(table, config.text, own)])
        for name, table, own in zip(config.names, flat, rows, strict=True)
    ]
    how: dict[str, Any] = {name: getattr(config, name) for name in ("tests", "samples", "seed", "jobs")}
    metrics, found = _metrics(config), []
    for metric in metrics:
        if isinstance(metric, External):
            stats = [[_outcomes(table, metric, own)] for table, own in zip(flat, rows, strict=True)]
            found.append(compared([_score(runs, metric) for runs in stats], stats, metric, **how))
        else:
            references = [_texts(flat[0], name, rows[0]) for name in config.references]
            if not references or config.text is None:
                raise OptionError(f"--metric {metric.name} needs --text and --references.")
            found.append(evaluate(systems, references, metric, **how))
    return Scored(config, systems, metrics, found)


def _metrics(config: ScoreConfig) -> list[Metric]:
    texts = config.metric or config.outcome or ("bleu",)
    return [from_text(text, config.lowercase, config.tokenizer(text), list(config.outcome)) for text in texts]


def _chosen(table: Table, config: ScoreConfig) -> tuple[Table, NDArray[np.int64], list[str]]:
    """The row of the best candidate of each group, and the groups."""
    assert config.group is not None
    if table.rows == 0:
        raise InputError(f"{table.name}: there are no rows. Give a table with one row per candidate")
    codes, labels = table.codes(config.group)
    by = config.by or ("score" if "score" in table.columns else None)
    value = np.nan_to_num(table.numbers(by, "--by"), nan=-np.inf) if by is not None else np.zeros(table.rows)
    order = np.lexsort((np.arange(table.rows), -value, codes))
    first = np.concatenate([[True], np.diff(codes[order]) != 0])
    return table, order[first], labels


def _ordered(rows: NDArray[np.int64], own: Sequence[str], labels: Sequence[str]) -> NDArray[np.int64]:
    """The rows in the order of the first table's groups."""
    place = {label: number for number, label in enumerate(own)}
    return rows[[place[label] for label in labels]]


def _texts(table: Table, name: str | None, rows: NDArray[np.int64]) -> list[str]:
    if name is None:
        return []
    texts = table.texts(name, "--text")
    return [texts[row] for row in rows.tolist()]


def _outcomes(table: Table, metric: External, rows: NDArray[np.int64]) -> Stats:
    values = table.numbers(metric.column, "--outcome")[rows]
    if np.isnan(values).any():
        row = int(rows[np.flatnonzero(np.isnan(values))[0]])
        raise table.error(row, f"{metric.column} is missing. Every candidate needs its outcome")
    return np.column_stack([values, np.ones(len(values))])


def _score(runs: Sequence[Stats], metric: Metric) -> Score:
    values = [metric.score(stats.sum(axis=0)) for stats in runs]
    return Score(float(np.mean(values)), values, metric.signature(), metric.key, "")
