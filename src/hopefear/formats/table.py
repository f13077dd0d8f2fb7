"""Tables: one row per candidate, scores in columns. From CSV, TSV, JSON lines, Parquet, Arrow, frames, dicts of arrays.

    pool = Pool.from_table("scores.csv", group="prompt", outcome="reward")
    pool = Pool.from_table(frame, group="query", features=["bm25", "dense*"], outcome=["grade"])

CSV, TSV and JSON lines need nothing else; pyarrow (the extra ``tables``) reads JSON lines many times as fast, and is
needed for Parquet, Arrow and frames. Rows come in any order. In *wide* tables a row is a whole group, and
columns hold lists. How files become columns is in ``hopefear.formats.table_files``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopefear._core import Pool
from hopefear.errors import InputError, input_error
from hopefear.formats.missing import TABLE_POLICIES, check_policy
from hopefear.formats.nested import columns_of, rows_of
from hopefear.formats.table_columns import (
    ODD_NUMBER,
    Column,
    Numbers,
    array_of,
    as_number,
    column_of,
    is_missing,
    label_of,
)
from hopefear.formats.table_pool import BLOCK, PoolBuilder
from hopefear.util.messages import some, suggestion

Warn = Callable[[str], object]
NAMELESS = re.compile(r"\s*|Unnamed: \d+|__index_level_\d+__").fullmatch  # numbers of rows, as pandas writes them


@dataclass(frozen=True)
class TableSpec:
    """Which columns mean what."""

    group: str  # sentence, query, prompt: candidates of one group compete
    features: Sequence[str] = ()  # names or patterns; none: all columns of numbers that mean nothing else
    text: str | None = None
    references: Sequence[str] = ()
    outcome: Sequence[str] = ()  # columns of numbers that say how good a candidate is
    missing: str = "error"  # what becomes of missing numbers: one of TABLE_POLICIES

    def __post_init__(self) -> None:
        if isinstance(self.group, list | tuple) and len(self.group) == 1:
            object.__setattr__(self, "group", self.group[0])
        for name in ("group", "text"):
            if not isinstance(value := getattr(self, name), str | None):
                raise InputError(f"{name} is the name of one column, not {type(value).__name__}")
        for name in ("features", "references", "outcome"):
            value = getattr(self, name)
            names = (value,) if isinstance(value, str) else () if value is None else tuple(value)
            if not all(isinstance(column, str | int) for column in names):  # pandas numbers columns without names
                raise InputError(f"{name} takes names of columns, not their values")
            object.__setattr__(self, name, tuple(map(str, names)))
        check_policy(self.missing, TABLE_POLICIES)

    @property
    def words(self) -> tuple[str, ...]:
        """The columns that are text, whatever they look like."""
        return tuple(name for name in (self.group, self.text, *self.references) if name)

    def wants(self, name: str) -> bool:
        """Whether a column may say something of each candidate."""
        if name in (self.text, *self.outcome):
            return True
        if name in (self.group, *self.references):
            return False
        return not self.features or any(fnmatchcase(name, pattern) for pattern in self.features)


@dataclass
class Table:
    """Columns by name, all of one length, and where they come from."""

    columns: Mapping[str, Column]
    name: str = "table"
    line_of: Callable[[int], int] | None = None  # the line of a row, where the file has lines
    source: Any = None  # the pyarrow.Table, if there is one
    owner: NDArray[np.int64] | None = None  # the row of the file or frame that each row comes from, if it is another
    duplicates: bool = False  # whether a candidate may be there twice
    rows: int = field(init=False)

    def __post_init__(self) -> None:
        if self.source is not None:
            self.rows = self.source.num_rows
            return
        lengths = {name: len(column) for name, column in self.columns.items()}
        if len({*lengths.values()}) > 1:
            short = min(lengths, key=lengths.__getitem__)
            raise input_error(self.name, None, f"column {short!r} has {lengths[short]} rows, others have more")
        self.rows = next(iter(lengths.values()), 0)

    def error(self, row: int, finding: str) -> InputError:
        """An error in a row, which is named by its line, or by its number from 0."""
        if self.line_of is None:
            return input_error(self.name, None, f"{self.place(row)}: {finding}")
        return input_error(self.name, self.line_of(self._source_row(row)), finding)

    def place(self, row: int) -> str:
        row = self._source_row(row)
        return f"row {row}" if self.line_of is None else f"line {self.line_of(row)}"

    def _source_row(self, row: int) -> int:
        return row if self.owner is None else int(self.owner[row])

    def taken(self, order: NDArray[np.int64]) -> Table:
        """The table with these rows, in this order; messages speak of the rows of this one. Nothing is copied yet."""
        owner = order if self.owner is None else self.owner[order]
        return Table(_Taken(self, order), self.name, self.line_of, owner=owner, duplicates=self.duplicates)

    def part(self, name: str, rows: slice) -> Column:
        """Some rows of a column, where possible without making an array of all of it."""
        part = getattr(self.columns, "part", None)
        column: Column = part(name, rows) if part is not None else self.columns[name][rows]
        return column

    def column(self, name: str, what: str) -> Column:
        if name not in self.columns:
            known = f" There are: {some(self.columns, 8)}"
            raise input_error(self.name, None, f"no column {name!r} for {what}.{suggestion(name, self.columns)}{known}")
        return self.columns[name]

    def numbers(self, name: str, what: str) -> Numbers:
        """A column as numbers; NaN where one is missing. An InputError for text and infinite values."""
        column = self.column(name, what)
        if column.dtype.kind in "fiub":
            values = column.astype(np.float64, copy=False)
        else:
            values = np.empty(len(column))
            for row, value in enumerate(column):
                values[row] = self._number(name, row, value)
        if np.isinf(values).any():
            row = int(np.flatnonzero(np.isinf(values))[0])
            raise self.error(row, f"{name} is infinite. Write a finite number")
        return values

    def _number(self, name: str, row: int, value: Any) -> float:
        number = as_number(value)
        if number is None:
            finding = f"{name} is {str(value)[:40]!r}, which is not a number"
            raise self.error(row, f"{finding}. Fix it, or choose the columns to use with --features")
        return number

    def texts(self, name: str, what: str) -> list[str]:
        return ["" if is_missing(value) else str(value) for value in self.column(name, what)]

    def is_numeric(self, name: str) -> bool:
        """Whether a column is meant as numbers: more of its first rows have a number than something else."""
        column = self.part(name, slice(0, min(self.rows, 1000)))
        if column.dtype.kind in "fiub":
            return True
        if column.dtype.kind != "O":
            return False
        values = [as_number(value) if not isinstance(value, bytes) else None for value in column]
        return sum(value is not None and not math.isnan(value) for value in values) > values.count(None)

    def has_lists(self, name: str) -> bool:
        """Whether the first value of a column is a list."""
        if self.rows == 0 or self.part(name, slice(0, 1)).dtype.kind != "O":
            return False
        first = next((value for value in self.columns[name] if value is not None), None)
        return isinstance(first, list | tuple | np.ndarray)

    def feature_names(self, spec: TableSpec) -> list[str]:
        """The columns that are features: those that match a pattern, or all numbers that mean nothing else."""
        other = {spec.group, spec.text, *spec.references, *spec.outcome}
        if not spec.features:
            features = [
                name for name in self.columns if name not in other and not NAMELESS(name) and self.is_numeric(name)
            ]
            if not features:
                finding = "; ".join(["no column of numbers is left", *self.left_out(spec)])
                raise input_error(self.name, None, f"{finding}. Choose columns with --features")
            return features
        features = []
        for pattern in spec.features:
            hits = [name for name in self.columns if fnmatchcase(name, pattern)] or [pattern]
            self.column(hits[0], "--features")
            features += [name for name in hits if name not in features and name not in other - {pattern}]
        return features

    def left_out(self, spec: TableSpec) -> Iterator[str]:
        """Columns that are no features, though they seem to be meant as numbers; and a column without a name."""
        for name in self.columns if not spec.features else ():
            if NAMELESS(name):
                yield f"the column {name or 'without a name'} is left out (is it an index?)"
            elif name not in (spec.group, spec.text, *spec.references, *spec.outcome) and not self.is_numeric(name):
                values = [value for value in self.part(name, slice(0, 100)) if isinstance(value, str) and value.strip()]
                odd = [value for value in values if ODD_NUMBER.fullmatch(value.strip())]
                if len(odd) > len(values) / 2:
                    yield f"{name} is left out: {odd[0]!r} is not a number. Write it without % or commas, as 1234.5"

    def odd_columns(self, spec: TableSpec) -> Iterator[str]:
        """The same, and features that are nothing but the number of the row."""
        yield from self.left_out(spec)
        for name in self.feature_names(spec) if self.rows > 2 and not spec.features else ():
            for rows in (slice(0, 1000), slice(0, self.rows)):
                column = self.part(name, rows)
                if column.dtype.kind not in "fiu" or not (np.diff(column) == 1).all():
                    break
            else:
                yield f"{name} is the number of the row, which says nothing of a candidate. Name --features without it"

    def refuse_constant(self, spec: TableSpec) -> None:
        """Raise an InputError for a feature that is the same number in all rows."""
        for name in self.feature_names(spec) if self.rows > 1 else ():
            first = as_number(self.part(name, slice(0, 1))[0])
            for begin in range(0, self.rows, BLOCK):
                column = self.part(name, slice(begin, min(begin + BLOCK, self.rows)))
                if column.dtype.kind not in "fiub":
                    column = np.array([as_number(value) for value in column], dtype=np.float64)
                if not (column == first).all():
                    break
            else:
                finding = f"{name} is {first:g} in every row, so it cannot tell candidates apart"
                raise input_error(self.name, None, f"{finding}. Choose the columns to use with --features")

    def codes(self, name: str) -> tuple[NDArray[np.int64], list[str]]:
        """A column of labels as numbers, and the labels in the order in which they appear."""
        codes, labels, begin = self._stretches(name)
        return np.repeat(codes, np.diff(begin)), labels

    def _stretches(self, name: str) -> tuple[NDArray[np.int64], list[str], NDArray[np.int64]]:
        """Runs of rows with the same label: the label's number of each, the labels, the first rows and the end."""
        column = self.column(name, "--group")
        ends = np.flatnonzero(column[1:] != column[:-1]) + 1
        begin = np.concatenate([[0], ends, [len(column)]]) if len(column) else np.zeros(1, dtype=np.int64)
        labels: dict[str, int] = {}
        codes = np.empty(len(begin) - 1, dtype=np.int64)
        for number, (row, value) in enumerate(zip(begin[:-1].tolist(), column[begin[:-1]].tolist(), strict=True)):
            if is_missing(value) or value == "":
                raise self.error(row, f"the group {name!r} is missing. Fill it")
            codes[number] = labels.setdefault(label_of(value), len(labels))
        return codes, list(labels), begin

    def groups(self, name: str) -> tuple[list[str], NDArray[np.int64]]:
        """The labels of the groups and their first rows, the end at last, where they stand together."""
        _, labels, begin = self._stretches(name)
        return labels, begin

    def pool(self, spec: TableSpec, warn: Warn | None = None) -> Pool:
        """The candidates of the table as a pool of lists; outcome columns are its numbers."""
        return PoolBuilder(self.flat(spec).together(spec.group), spec, warn or (lambda text: None)).pool()

    def together(self, name: str) -> Table:
        """The table with the rows of each group next to each other, in the order in which the groups appear."""
        codes, labels, begin = self._stretches(name)
        if len(codes) == len(labels):
            return self
        return self.taken(np.argsort(np.repeat(codes, np.diff(begin)), kind="stable"))

    def flat(self, spec: TableSpec) -> Table:
        """The table with one row per candidate: columns of lists are unrolled."""
        wide = {name: self.columns[name] for name in self.columns if spec.wants(name) and self.has_lists(name)}
        if not wide or (not spec.features and any(name not in wide for name in spec.outcome)):
            return self  # a row with one outcome is a candidate, whatever lists it has: its tokens, say
        first = next(iter(wide))
        counts = np.zeros(self.rows, dtype=np.int64)
        for name, column in wide.items():
            for row, value in enumerate(column):
                if not isinstance(value, list | tuple | np.ndarray):
                    raise self.error(row, f"{name} is {str(value)[:40]!r}, and a list elsewhere. Write a list")
                if name == first:
                    counts[row] = len(value)
                elif len(value) != counts[row]:
                    finding = f"{name} has {len(value)} values, {first} has {counts[row]}"
                    raise self.error(row, f"{finding}. All lists of a row have one length: choose the columns to use")
        columns: dict[str, Column] = {}
        for name in self.columns:
            if name in wide:
                columns[name] = column_of(item for value in wide[name] for item in value)
            elif name in spec.words or not self.has_lists(name):
                columns[name] = np.repeat(self.columns[name], counts)
        return Table(
            columns, self.name, self.line_of, owner=np.repeat(np.arange(self.rows), counts), duplicates=self.duplicates
        )


class _Taken(Mapping[str, Column]):
    """The columns of a table in another order, put into it when they are asked for."""

    def __init__(self, table: Table, order: NDArray[np.int64]) -> None:
        self.table, self.order = table, order

    def __getitem__(self, name: str) -> Column:
        column: Column = self.table.columns[name][self.order]
        return column

    def part(self, name: str, rows: slice) -> Column:
        order = self.order[rows]
        first, last = (int(order.min()), int(order.max()) + 1) if len(order) else (0, 0)
        column: Column = self.table.part(name, slice(first, last))[order - first]
        return column

    def __contains__(self, name: object) -> bool:
        return name in self.table.columns

    def __iter__(self) -> Iterator[str]:
        return iter(self.table.columns)

    def __len__(self) -> int:
        return len(self.table.columns)


def read_table(source: Any, spec: TableSpec | None = None) -> Table:
    """A table from a file, a frame that speaks Arrow's PyCapsule protocol, a dict of arrays, or dicts one by one.

    With ``spec``, columns of group, text and references are read as they are written, not as numbers.
    """
    from hopefear.formats.arrow_tables import from_arrow, from_pandas, pyarrow_for
    from hopefear.formats.records import dataset_table, is_dataset, several
    from hopefear.formats.table_files import is_path, read_file

    source = several(source)
    if isinstance(source, Table):
        return source
    if is_path(source):
        return read_file(source, spec.words if spec is not None else ())
    if isinstance(source, Mapping):
        return Table({str(name): array_of(values, str(name)) for name, values in source.items()})
    if isinstance(source, list):
        return Table({name: column_of(values) for name, values in columns_of(rows_of(source, "table")).items()})
    if is_dataset(source):
        return from_arrow(dataset_table(source), "table")
    if hasattr(source, "iloc") and hasattr(source, "reset_index"):
        return from_pandas(source, "table")
    if hasattr(source, "__arrow_c_stream__"):
        return from_arrow(pyarrow_for("This frame").table(source), "table")
    if hasattr(source, "columns") and hasattr(source, "__getitem__"):  # a frame of another kind
        return Table({str(name): array_of(source[name], str(name)) for name in source.columns})
    raise InputError(f"a table is a file, a frame or a dict of arrays, not {type(source).__name__}")
