"""The candidates of a table in the order of given weights: what ``hopefear rerank --table`` does.

    ranked = rank_table(RankConfig(table="scores.csv", group="query", weights="run/weights.txt", out="ranked.csv"))
    ranked.score, ranked.rank, ranked.best

Of equal scores the earlier row wins. Rows of a group need not stand together.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopefear.errors import InputError, OptionError
from hopefear.formats.table import Table, TableSpec, read_table
from hopefear.formats.table_files import is_path, write_ranked
from hopefear.formats.weights import check_names, read_weights
from hopefear.runs.session import SILENT, Session
from hopefear.util.files import PathLike
from hopefear.util.words import plural, some


@dataclass(frozen=True, kw_only=True)
class RankConfig:
    """The options of ``hopefear rerank --table``, by the same names."""

    table: Any  # a file, a frame or a dict of arrays
    weights: PathLike | Mapping[str, float]
    group: str | None = None
    features: Sequence[str] = ()
    missing: str | None = None
    out: PathLike | None = None  # the table with the columns score and rank

    def __post_init__(self) -> None:
        if not self.group:
            raise OptionError("--table needs --group, the column that says which candidates compete.")
        if self.out is not None and not is_path(self.table):
            raise InputError("the table is not in a file: take score and rank of the result instead of --out")


@dataclass(frozen=True)
class Ranked:
    """Score and rank of every candidate, in the order of the table; rank 0 and NaN: left out, a score was missing."""

    table: Table
    score: NDArray[np.float64]
    rank: NDArray[np.int64]

    @property
    def best(self) -> NDArray[np.int64]:
        """The rows of the best candidates."""
        return np.flatnonzero(self.rank == 1)


def rank_table(config: RankConfig, run: Session = SILENT) -> Ranked:
    """Score and rank the candidates of a table, and write it with these columns if the config says where."""
    weights = config.weights if isinstance(config.weights, Mapping) else read_weights(config.weights)
    assert config.group is not None
    run.progress("rerank")(text="read")
    spec = TableSpec(config.group, config.features or tuple(weights), missing=config.missing or "error")
    table = read_table(config.table, TableSpec(config.group))
    flat = table.flat(spec)
    if flat.rows == 0:
        raise InputError(f"{table.name}: there are no rows. Give a table with one row per candidate")
    names, warnings = _features(flat, config, weights)
    codes, _ = flat.codes(config.group)
    score = _scores(flat, names, weights, spec.missing)
    for warning in warnings:
        run.warn(warning)
    ranked = Ranked(flat, score, ranks(codes, score))
    if config.out is not None:
        rows = None if flat is table else flat.owner
        write_ranked(config.table, table, config.out, *_cells(ranked, rows, table.rows))
    return ranked


def _features(table: Table, config: RankConfig, weights: Mapping[str, float]) -> tuple[list[str], list[str]]:
    """The columns that are weighed, those that were named or those that have a weight; and what to warn of."""
    assert config.group is not None
    if config.features:
        names = table.feature_names(TableSpec(config.group, config.features))
    else:
        names = [name for name in weights if name in table.columns]
    path = "weights" if isinstance(config.weights, Mapping) else config.weights
    known = [*names, *(f"{name}_missing" for name in names)]
    others = [name for name in table.columns if name != config.group]
    whose = f"the table, which has {some(others)}. Use the weights of these columns"
    strangers = check_names(path, weights, known, "that the table does not have", whose)
    warnings = [strangers] if strangers else []
    if without := [name for name in names if name not in weights]:
        warnings.append(f"{plural(len(without), 'feature')} of the table without a weight, taken as 0: {some(without)}")
    return names, warnings


def _scores(table: Table, names: Sequence[str], weights: Mapping[str, float], missing: str) -> NDArray[np.float64]:
    score = np.zeros(table.rows)
    for name in names:
        values = table.numbers(name, "--features")
        gone = np.isnan(values)
        if gone.any():
            if missing == "error":
                finding = f"{name} is missing. Fill it, or say --missing drop (no rank) or indicator (0)"
                raise table.error(int(np.flatnonzero(gone)[0]), finding)
            if missing == "indicator":
                values = np.where(gone, 0.0, values)
                score += weights.get(f"{name}_missing", 0.0) * gone
        score += weights.get(name, 0.0) * values
    return score


def ranks(codes: NDArray[np.int64], score: NDArray[np.float64]) -> NDArray[np.int64]:
    """The place of each row in its group, 1 for the best; 0 where the score is NaN."""
    rows = np.flatnonzero(~np.isnan(score))
    order = rows[np.lexsort((rows, -score[rows], codes[rows]))]
    begin = np.flatnonzero(np.concatenate([[True], np.diff(codes[order]) != 0])) if len(order) else order
    first = np.repeat(begin, np.diff([*begin, len(order)]))
    found = np.zeros(len(score), dtype=np.int64)
    found[order] = np.arange(len(order)) - first + 1
    return found


def _cells(ranked: Ranked, owner: NDArray[np.int64] | None, rows: int) -> tuple[list[Any], list[Any]]:
    """What the columns hold, row by row of the file: numbers, or lists of them where the table is wide."""
    left_out = ranked.rank == 0
    found = []
    for values in (ranked.score, ranked.rank):
        cells: list[Any] = values.tolist()
        for row in np.flatnonzero(left_out).tolist():
            cells[row] = None
        if owner is not None:
            begin = np.searchsorted(owner, np.arange(rows + 1)).tolist()
            cells = [cells[a:b] for a, b in itertools.pairwise(begin)]
        found.append(cells)
    return found[0], found[1]
