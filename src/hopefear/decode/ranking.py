"""The candidates of a table in the order of given weights: what ``hopefear rerank --table`` does.

    ranked = rank_table("scores.csv", "run/weights.txt", TableSpec("query"), out="ranked.csv")
    ranked.score, ranked.rank, ranked.best

Of equal scores the earlier row wins. Rows of a group need not stand together.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopefear.errors import InputError
from hopefear.formats.missing import LIST_POLICIES, check_weights, filled
from hopefear.formats.table import Table, TableSpec, read_table
from hopefear.formats.table_files import is_path, write_ranked
from hopefear.formats.weights import check_names, read_weights
from hopefear.runs.session import SILENT, Session
from hopefear.util.files import PathLike
from hopefear.util.messages import plural, some


@dataclass(frozen=True)
class Ranked:
    """Score and rank of every candidate, in the order of the table; rank 0 and NaN: left out, a score was missing."""

    table: Table
    score: NDArray[np.float64]
    rank: NDArray[np.int64]

    def __repr__(self) -> str:
        return f"<Ranked: {self.table.name}, {len(self.best)} groups, {len(self.rank)} candidates>"

    @property
    def best(self) -> NDArray[np.int64]:
        """The rows of the best candidates."""
        return np.flatnonzero(self.rank == 1)


def rank_table(
    source: Any,
    weights: PathLike | Mapping[str, float],
    spec: TableSpec,
    run: Session = SILENT,
    *,
    out: PathLike | None = None,
) -> Ranked:
    """Score and rank the candidates of a table: a file, a frame or a dict of arrays.

    Its features are those of the ``spec``, or else all columns that have a weight. A table in a file is written to
    ``out`` with the columns score and rank.
    """
    named, path = (weights, "weights") if isinstance(weights, Mapping) else (read_weights(weights), weights)
    if out is not None and not is_path(source):
        raise InputError("the table is not in a file: use score and rank of the result instead of --out")
    run.progress("rerank")(text="read")
    table = read_table(source, TableSpec(spec.group))
    flat = table.flat(replace(spec, features=spec.features or tuple(named)))
    if flat.rows == 0:
        raise InputError(f"{table.name}: there are no rows. Give a table with one row per candidate")
    names, warnings = _features(flat, spec, named, path)
    codes, _ = flat.codes(spec.group)
    score = _scores(flat, names, named, spec.missing, codes)
    for warning in warnings:
        run.warn(warning)
    ranked = Ranked(flat, score, ranks(codes, score))
    if out is not None:
        rows = None if flat is table else flat.owner
        write_ranked(source, table, out, *_cells(ranked, rows, table.rows))
    return ranked


def _features(
    table: Table, spec: TableSpec, weights: Mapping[str, float], path: PathLike
) -> tuple[list[str], list[str]]:
    """The columns that are weighed, those that were named or those that have a weight; and what to warn of."""
    if spec.features:
        names = table.feature_names(TableSpec(spec.group, spec.features))
    else:
        names = [name for name in weights if name in table.columns]
    known = [*names, *(f"{name}_missing" for name in names)]
    others = [name for name in table.columns if name != spec.group]
    whose = f"the table, which has {some(others)}. Use the weights of these columns"
    strangers = check_names(path, weights, known, "that were not selected", whose)
    policy = spec.missing if spec.missing in LIST_POLICIES else "error"
    missed = check_weights(path, weights, {*known, *table.columns}, policy, whose="the table")
    warnings = [text for text in (missed or strangers,) if text]
    if without := [name for name in names if name not in weights]:
        warnings.append(f"{plural(len(without), 'feature')} of the table without a weight, taken as 0: {some(without)}")
    return names, warnings


def _scores(
    table: Table, names: Sequence[str], weights: Mapping[str, float], missing: str, codes: NDArray[np.int64]
) -> NDArray[np.float64]:
    score = np.zeros(table.rows)
    for name in names:
        values = table.numbers(name, "--features")
        gone = np.isnan(values)
        if gone.any():
            if missing == "error":
                finding = f"{name} is missing. Fill it, or set --missing mean, zero, drop (no rank) or indicator (0)"
                raise table.error(int(np.flatnonzero(gone)[0]), finding)
            if missing == "indicator":
                values = np.where(gone, 0.0, values)
                score += weights.get(f"{name}_missing", 0.0) * gone
            elif missing != "drop":
                values = filled(values, codes, missing)
        score += weights.get(name, 0.0) * values
    return score


def ranks(codes: NDArray[np.int64], score: NDArray[np.float64]) -> NDArray[np.int64]:
    """The place of each row in its group, 1 for the best; 0 where the score is NaN."""
    rows = np.flatnonzero(~np.isnan(score))
    order = rows[np.lexsort((rows, -score[rows], codes[rows]))]
    begin = np.flatnonzero(np.concatenate([[True], np.diff(codes[order]) != 0])) if len(order) else order
    first = np.repeat(begin, np.diff([*begin, len(order)]))
    ranking = np.zeros(len(score), dtype=np.int64)
    ranking[order] = np.arange(len(order)) - first + 1
    return ranking


def _cells(ranked: Ranked, owner: NDArray[np.int64] | None, rows: int) -> tuple[list[Any], list[Any]]:
    """The values of both columns for each row of the file: numbers, or lists of them if the table is wide."""
    left_out = ranked.rank == 0
    table_cells = []
    for values in (ranked.score, ranked.rank):
        cells: list[Any] = values.tolist()
        for row in np.flatnonzero(left_out).tolist():
            cells[row] = None
        if owner is not None:
            begin = np.searchsorted(owner, np.arange(rows + 1)).tolist()
            cells = [cells[a:b] for a, b in itertools.pairwise(begin)]
        table_cells.append(cells)
    return table_cells[0], table_cells[1]
