"""Tables: one row per candidate, scores in columns. CSV, TSV, JSON lines, Parquet and Arrow files, frames, dicts of arrays.

    pool = Pool.from_table("scores.csv", group="prompt", outcome=["reward"])
    pool = Pool.from_table(frame, group="query", features=["bm25", "dense*"], outcome=["grade"])

CSV, TSV and JSON lines need nothing else; pyarrow (the extra ``tables``) reads them several times as fast, and is needed for
Parquet and Arrow. Rows of a group stand together. In *wide* tables a row is a whole group, and the columns hold lists.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopefear._core import Forest, Pool
from hopefear.errors import InputError, input_error
from hopefear.util.files import open_text, path_name
from hopefear.util.words import one_of, some

__all__ = ["MISSING", "Table", "TableSpec", "read_table"]

Column = NDArray[Any]
MISSING = ("error", "drop", "indicator")
EMPTY = ("", "na", "n/a", "nan", "null", "none")  # of a number: missing


@dataclass(frozen=True)
class TableSpec:
    """Which columns mean what."""

    group: str  # sentence, query, prompt: candidates of one group compete
    features: Sequence[str] = ()  # names or patterns; none: all columns of numbers that mean nothing else
    text: str | None = None
    references: Sequence[str] = ()
    outcome: Sequence[str] = ()  # columns of numbers that say how good a candidate is
    missing: str = "error"  # a missing number: an error, drop the candidate, or 0 with an indicator feature

    def __post_init__(self) -> None:
        if self.missing not in MISSING:
            raise InputError(f"missing is {self.missing!r}. Choose one of {', '.join(MISSING)}")


@dataclass
class Table:
    """Columns by name, all of one length, and where they come from."""

    columns: dict[str, Column]
    name: str = "table"
    first_line: int = 1  # of the first row in the file, for messages
    rows: int = field(init=False)

    def __post_init__(self) -> None:
        lengths = {name: len(column) for name, column in self.columns.items()}
        if len({*lengths.values()}) > 1:
            short = min(lengths, key=lengths.__getitem__)
            raise input_error(self.name, None, f"column {short!r} has {lengths[short]} rows, others have more")
        self.rows = next(iter(lengths.values()), 0)

    def column(self, name: str, what: str) -> Column:
        if name not in self.columns:
            known = f" There are: {some(self.columns, 8)}"
            raise input_error(self.name, None, f"no column {name!r} for {what}.{one_of(name, self.columns)}{known}")
        return self.columns[name]

    def line(self, row: int) -> int:
        return self.first_line + row

    def numbers(self, name: str, what: str) -> NDArray[np.float64]:
        """A column as numbers; NaN where one is missing. Complains about text and infinite values."""
        column = self.column(name, what)
        if column.dtype.kind in "fiub":
            values = column.astype(np.float64)
        else:
            values = np.empty(len(column))
            for row, value in enumerate(column):
                values[row] = self._number(name, row, value)
        if np.isinf(values).any():
            row = int(np.flatnonzero(np.isinf(values))[0])
            raise input_error(self.name, self.line(row), f"{name} is infinite. Write a finite number")
        return values

    def _number(self, name: str, row: int, value: Any) -> float:
        if value is None or (isinstance(value, str) and value.strip().lower() in EMPTY):
            return math.nan
        try:
            return float(value)
        except (TypeError, ValueError):
            finding = f"{name} is {str(value)[:40]!r}, which is not a number"
            raise input_error(self.name, self.line(row), f"{finding}. Leave the column out with --features") from None

    def texts(self, name: str, what: str) -> list[str]:
        column = self.column(name, what)
        missing = [value is None or (isinstance(value, float) and math.isnan(value)) for value in column]
        return ["" if none else str(value) for value, none in zip(column, missing, strict=True)]

    def is_numeric(self, name: str) -> bool:
        column = self.columns[name]
        if column.dtype.kind in "fiub":
            return True
        if column.dtype.kind != "O" or not len(column):
            return False
        for value in column[:1000]:
            if value is None or isinstance(value, int | float):
                continue
            if not isinstance(value, str):
                return False
            try:
                float(value.strip() or "nan")
            except ValueError:
                if value.strip().lower() not in EMPTY:
                    return False
        return True

    def feature_names(self, spec: TableSpec) -> list[str]:
        """The columns that are features: those that match a pattern, or all numbers that mean nothing else."""
        other = {spec.group, spec.text, *spec.references, *spec.outcome}
        if not spec.features:
            found = [name for name in self.columns if name not in other and self.is_numeric(name)]
            if not found:
                raise input_error(self.name, None, "no column of numbers is left for features. Name them: --features")
            return found
        found = []
        for pattern in spec.features:
            hits = [name for name in self.columns if fnmatchcase(name, pattern)]
            if not hits:
                self.column(pattern, "features")
            found += [name for name in hits if name not in found and name not in other - {pattern}]
        return found

    def pool(self, spec: TableSpec) -> Pool:
        """The candidates of the table as a pool of lists; outcome columns are its numbers."""
        return _Builder(self.flat(spec), spec).pool()

    def flat(self, spec: TableSpec) -> Table:
        """The table with one row per candidate: columns of lists are unrolled."""
        wide = [
            name
            for name, column in self.columns.items()
            if column.dtype.kind == "O" and len(column) and isinstance(column[0], list | tuple | np.ndarray)
        ]
        if not wide or all(name in spec.references for name in wide):
            return self
        counts = [len(value) for value in self.columns[wide[0]]]
        columns: dict[str, Column] = {}
        for name, column in self.columns.items():
            if name not in wide:
                columns[name] = np.repeat(column, counts)
                continue
            for row, value in enumerate(column):
                if len(value) != counts[row]:
                    finding = (
                        f"{name} has {len(value)} values, {wide[0]} has {counts[row]}. All lists of a row go together"
                    )
                    raise input_error(self.name, self.line(row), finding)
            columns[name] = np.array([item for value in column for item in value])
        return Table(columns, self.name, self.first_line)


class _Builder:
    """From columns to a pool."""

    def __init__(self, table: Table, spec: TableSpec) -> None:
        self.table, self.spec = table, spec
        if table.rows == 0:
            raise input_error(table.name, None, "there are no rows. Give a table with one row per candidate")
        table.column(spec.group, "--group")

    def pool(self) -> Pool:
        table, spec = self.table, self.spec
        names = table.feature_names(spec)
        matrix = np.column_stack([table.numbers(name, "features") for name in names])
        outcome = [table.numbers(name, "--outcome") for name in spec.outcome]
        for name, values in zip(spec.outcome, outcome, strict=True):
            if np.isnan(values).any():
                row = int(np.flatnonzero(np.isnan(values))[0])
                raise input_error(table.name, table.line(row), f"{name} is missing, and outcomes are needed")
        keep, matrix, names = self._without_missing(names, matrix)
        texts = table.texts(spec.text, "--text") if spec.text else None
        references = [table.texts(name, "--references") for name in spec.references]
        pool = Pool()
        for name in names:
            pool.features.add(name)
        if spec.outcome:
            pool.number_names = list(spec.outcome)
        numbers = np.column_stack(outcome) if outcome else None
        for label, begin, end in self._groups():
            rows = np.flatnonzero(keep[begin:end]) + begin
            lines = [texts[row] for row in rows] if texts is not None else [str(row - begin) for row in rows]
            self._append(pool, label, lines, matrix[rows], numbers[rows] if numbers is not None else None,
                         [one[begin] for one in references])  # fmt: skip
        return pool

    def _without_missing(
        self, names: list[str], matrix: NDArray[np.float64]
    ) -> tuple[NDArray[np.bool_], NDArray[np.float64], list[str]]:
        """Which rows stay, and what stands for missing numbers."""
        table, missing = self.table, np.isnan(matrix)
        keep = np.ones(table.rows, dtype=bool)
        if not missing.any():
            return keep, matrix, names
        if self.spec.missing == "error":
            row, column = (int(where[0]) for where in np.nonzero(missing))
            finding = f"{names[column]} is missing, as are {int(missing.sum()) - 1} more numbers"
            cure = (
                "Fill it, or say --missing drop (the candidate) or --missing indicator (0 and a feature that says so)"
            )
            raise input_error(table.name, table.line(row), f"{finding}. {cure}")
        if self.spec.missing == "drop":
            return ~missing.any(axis=1), matrix, names
        holes = np.flatnonzero(missing.any(axis=0))
        more = [f"{names[column]}_missing" for column in holes]
        filled = np.where(missing, 0.0, matrix)
        return keep, np.column_stack([filled, missing[:, holes].astype(np.float64)]), [*names, *more]

    def _groups(self) -> Iterator[tuple[str, int, int]]:
        """Label, first row and end of each group; complains about groups that are in pieces."""
        column = self.table.columns[self.spec.group]
        change = np.flatnonzero(column[1:] != column[:-1]) + 1
        bounds = [0, *change.tolist(), len(column)]
        seen: dict[str, int] = {}
        for begin, end in zip(bounds[:-1], bounds[1:], strict=True):
            label = str(column[begin])
            if label in seen:
                finding = f"group {label!r} begins again, after line {self.table.line(seen[label])}"
                cure = f"Sort the rows by {self.spec.group!r}"
                raise input_error(self.table.name, self.table.line(begin), f"{finding}. {cure}")
            seen[label] = begin
            yield label, begin, end

    @staticmethod
    def _append(
        pool: Pool,
        label: str,
        lines: Sequence[str],
        dense: NDArray[np.float64],
        numbers: NDArray[np.float64] | None,
        references: Sequence[str],
    ) -> None:
        k = len(lines)
        words = [[pool.vocab.add(word) for word in line.split()] for line in lines]
        forest = Forest.from_arrays(
            np.array([0, k], np.int32),
            np.zeros(k + 1, np.int32),
            np.zeros(0, np.int32),
            np.cumsum([0, *map(len, words)], dtype=np.int32),
            np.array([word for line in words for word in line], np.int32),
            np.ascontiguousarray(dense),
            pool.vocab,
            pool.features,
            numbers=np.ascontiguousarray(numbers) if numbers is not None else None,
        )
        pool.append(label, forest, references=[text for text in references if text])


def read_table(source: Any) -> Table:
    """A table from a file, a frame that speaks Arrow's PyCapsule protocol, or a dict of arrays."""
    if isinstance(source, Table):
        return source
    if isinstance(source, str | os.PathLike):
        return _read_file(os.fspath(source))
    if isinstance(source, Mapping):
        return Table({str(name): _array(values) for name, values in source.items()}, "table", 0)
    if hasattr(source, "__arrow_c_stream__"):
        return _from_arrow(_pyarrow("this frame").table(source), "table", 0)
    if hasattr(source, "columns") and hasattr(source, "__getitem__"):  # a frame of another kind
        return Table({str(name): _array(source[name]) for name in source.columns}, "table", 0)
    raise InputError(f"a table is a file, a frame or a dict of arrays, not {type(source).__name__}")


def _array(values: Any) -> Column:
    if isinstance(values, np.ndarray) and values.ndim == 1:
        return values
    values = values.to_numpy() if hasattr(values, "to_numpy") else list(values)
    if isinstance(values, np.ndarray):
        return values
    plain = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
    if plain:
        return np.array(values, dtype=np.float64)
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found


def _pyarrow(what: str) -> Any:
    try:
        import pyarrow  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError:
        raise InputError(f"{what} needs pyarrow. Install it: pip install 'hopefear[tables]'") from None
    return pyarrow


def _from_arrow(table: Any, name: str, first_line: int) -> Table:
    columns = {}
    for label, column in zip(table.column_names, table.columns, strict=True):
        try:
            columns[label] = column.to_numpy() if column.null_count == 0 else _array(column.to_pylist())
        except (NotImplementedError, ValueError):
            columns[label] = _array(column.to_pylist())
    return Table(columns, name, first_line)


PACKED = (".gz", ".xz", ".zst", ".bz2")


def _read_file(path: str) -> Table:
    plain = path
    for ending in PACKED:
        plain = plain.removesuffix(ending)
    kind = Path(plain).suffix.lower()
    reader: dict[str, Callable[[str], Table]] = {
        ".csv": _read_csv,
        ".tsv": _read_csv,
        ".txt": _read_csv,
        ".jsonl": _read_jsonl,
        ".ndjson": _read_jsonl,
        ".json": _read_jsonl,
        ".parquet": _read_arrow_file,
        ".arrow": _read_arrow_file,
        ".feather": _read_arrow_file,
        ".ipc": _read_arrow_file,
    }
    if path == "-":
        return _read_csv(path)
    if kind not in reader:
        known = ".csv, .tsv, .jsonl, .parquet, .arrow"
        raise input_error(path_name(path), None, f"a table's name ends in one of {known}. Rename it")
    return reader[kind](path)


def _read_csv(path: str) -> Table:
    """With pyarrow if it is there and the file is not packed; else by Python's own reader."""
    name = path_name(path)
    if path != "-" and not path.endswith(PACKED):
        try:
            import pyarrow.csv as fast  # type: ignore[import-not-found,import-untyped,unused-ignore]
        except ImportError:
            pass
        else:
            return _read_csv_fast(path, fast)
    with open_text(path) as file:
        text = file.read()
    first = text.partition("\n")[0]
    delimiter = "\t" if "\t" in first and (path.removesuffix(".gz").endswith(".tsv") or "," not in first) else ","
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    rows = [row for row in rows if row]
    if not rows:
        raise input_error(name, None, "the file is empty. The first line of a table names its columns")
    header = rows[0]
    if len({*header}) < len(header):
        raise input_error(name, 1, "two columns have the same name. Rename one")
    for number, row in enumerate(rows[1:], 2):
        if len(row) != len(header):
            finding = f"has {len(row)} values, and the first line names {len(header)} columns"
            raise input_error(name, number, f"{finding}. Was the file cut off?")
    columns: dict[str, Column] = {}
    for label, values in zip(header, zip(*rows[1:], strict=True) if rows[1:] else [()] * len(header), strict=True):
        try:
            columns[label] = np.array(values, dtype=np.float64) if "" not in values else _as_objects(values)
        except ValueError:
            columns[label] = _as_objects(values)
    return Table(columns, name, 2)


def _as_objects(values: Sequence[Any]) -> Column:
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found


def _read_csv_fast(path: str, fast: Any) -> Table:
    pyarrow = _pyarrow("CSV")
    with Path(path).open("rb") as file:
        first = file.readline().decode("utf-8", "replace")
    delimiter = "\t" if "\t" in first and (path.endswith(".tsv") or "," not in first) else ","
    try:
        table = fast.read_csv(
            path,
            parse_options=fast.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            convert_options=fast.ConvertOptions(null_values=["", "NA", "N/A", "nan", "NaN", "null", "None"]),
        )
    except (pyarrow.ArrowInvalid, OSError) as error:
        raise input_error(path_name(path), None, f"not a table ({' '.join(str(error).split())}). Mend it") from None
    if len({*table.column_names}) < len(table.column_names):
        raise input_error(path_name(path), 1, "two columns have the same name. Rename one")
    return _from_arrow(table, path_name(path), 2)


def _read_jsonl(path: str) -> Table:
    """One object per line, or an array of objects."""
    name = path_name(path)
    columns: dict[str, list[Any]] = {}
    count = 0
    with open_text(path) as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except ValueError as error:
                raise input_error(name, number, f"not JSON ({error}). Write one object per line") from None
            if not isinstance(row, dict):
                raise input_error(name, number, "not an object. Write one object per line: a row of the table")
            for label, value in row.items():
                columns.setdefault(label, [None] * count).append(value)
            count += 1
            for values in columns.values():
                if len(values) < count:
                    values.append(None)
    return Table({label: _array(values) for label, values in columns.items()}, name, 1)


def _read_arrow_file(path: str) -> Table:
    pyarrow = _pyarrow(Path(path).suffix)
    try:
        if path.endswith(".parquet"):
            import pyarrow.parquet as parquet  # type: ignore[import-not-found,import-untyped,unused-ignore]

            table = parquet.read_table(path)
        else:
            import pyarrow.feather as feather  # type: ignore[import-not-found,import-untyped,unused-ignore]

            table = feather.read_table(path)
    except (pyarrow.ArrowInvalid, OSError) as error:
        finding = f"cannot be read ({' '.join(str(error).split())})"
        raise input_error(path_name(path), None, f"{finding}. Is it whole, and what its name says?") from None
    return _from_arrow(table, path_name(path), 1)
