"""Files of tables, in and out: CSV, TSV, JSON lines with or without pyarrow; Parquet and Arrow (Feather) with it."""

from __future__ import annotations

import csv
import io
import itertools
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import numpy as np

from hopefear.errors import InputError, input_error
from hopefear.formats.table import Column, Table, as_objects
from hopefear.util.files import PathLike, open_bytes, open_text, os_error, output, path_name

PACKED = (".gz", ".xz", ".zst")
KINDS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}
MISSING_NUMBERS = ["", *(["NA", "N/A", "n/a", "na", "NaN", "nan", "NAN", "NULL", "Null", "null", "None", "none"])]
ROWS = 20_000  # that Python's own reader takes at a time


def is_path(source: Any) -> bool:
    return isinstance(source, str | os.PathLike)


def pyarrow_for(what: str) -> Any:
    """pyarrow, or an error that says why it is needed."""
    found = _pyarrow()
    if found is None:
        raise InputError(f"{what} needs pyarrow. Install it: pip install 'hopefear[tables]'")
    return found


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError:
        return None
    return pyarrow


def kind_of(path: PathLike) -> str:
    """csv, jsonl, parquet or arrow, by the name of a file; standard input is CSV."""
    plain = os.fspath(path)
    if plain == "-":
        return "csv"
    for ending in PACKED:
        plain = plain.removesuffix(ending)
    kind = KINDS.get(Path(plain).suffix.lower())
    if kind is None:
        known = ".csv, .tsv, .jsonl, .parquet, .arrow"
        raise input_error(path_name(path), None, f"the name of a table ends in one of {known}. Rename it")
    return kind


def read_file(path: PathLike, words: Sequence[str] = ()) -> Table:
    """The table in a file; the columns ``words`` are text even where they look like numbers."""
    kind = kind_of(path)
    if kind in ("parquet", "arrow"):
        return _read_arrow_file(path, kind)
    return _read_csv(path, words) if kind == "csv" else _read_jsonl(path)


class _ArrowColumns(Mapping[str, Column]):
    """The columns of an Arrow table, which become arrays when they are asked for."""

    def __init__(self, table: Any) -> None:
        self.table = table

    def __getitem__(self, name: str) -> Column:
        types, column = pyarrow_for("This table").types, self.table.column(name)
        if types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if types.is_decimal(column.type) or (column.null_count and types.is_integer(column.type)):
            column = column.cast("float64", safe=False)
        if types.is_boolean(column.type):
            column = column.cast("float64") if column.null_count else column.cast("int8")
        found: Column = column.to_numpy()
        if found.dtype == np.float16:
            found = found.astype(np.float64)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self.table.column_names)

    def __len__(self) -> int:
        return int(self.table.num_columns)

    def __contains__(self, name: object) -> bool:
        return name in self.table.column_names


def from_arrow(table: Any, name: str, line_of: Callable[[int], int] | None = None) -> Table:
    """A table over an Arrow table."""
    _distinct(table.column_names, name)
    return Table(_ArrowColumns(table), name, line_of, table)


def _distinct(names: Sequence[str], name: str) -> None:
    twice = next((one for one in names if names.count(one) > 1), None)
    if twice is not None:
        raise input_error(name, None, f"two columns are called {twice!r}. Rename one")


# CSV -----------------------------------------------------------------------------------------------------------------


def _read_csv(path: PathLike, words: Sequence[str]) -> Table:
    """With pyarrow if it is there; else, and to find the place of a fault, by Python's own reader."""
    packed = os.fspath(path) == "-" or os.fspath(path).endswith(PACKED)
    data = open_bytes(path).read() if packed else None

    def opened() -> IO[str]:
        if data is None:
            return open_text(path)
        return io.TextIOWrapper(io.BytesIO(data), encoding="utf-8-sig", newline="\n")

    with opened() as file:
        first = file.readline()
    delimiter = _delimiter(path, first)

    def line_of(row: int) -> int:
        with opened() as file:
            return next(itertools.islice(_records(file, delimiter, path_name(path)), row + 1, None))[0]

    with suppress(csv.Error):  # of the first line; Python's reader will say where
        header = next(csv.reader([first], delimiter=delimiter), [])
        table = _arrow_csv(path, data, delimiter, header, words) if _pyarrow() is not None else None
        if table is not None:
            return from_arrow(table, path_name(path), line_of)
    with opened() as file:
        return Table(
            _python_csv(_records(file, delimiter, path_name(path)), path_name(path), words), path_name(path), line_of
        )


def _delimiter(path: PathLike, first: str) -> str:
    tabs = os.fspath(path).partition(".tsv")[1] or ("\t" in first and "," not in first)
    return "\t" if tabs else ","


def _arrow_csv(path: PathLike, data: bytes | None, delimiter: str, header: Sequence[str], words: Sequence[str]) -> Any:
    """The file by pyarrow, or None if it does not understand it."""
    pyarrow: Any = _pyarrow()
    import pyarrow.csv as fast

    quotes = _quotes(path, data)
    if quotes % 2:
        return None

    def read(types: Mapping[str, Any]) -> Any:
        source = os.fspath(path) if data is None else pyarrow.BufferReader(data)
        return fast.read_csv(
            source,
            parse_options=fast.ParseOptions(delimiter=delimiter, newlines_in_values=quotes > 0),
            convert_options=fast.ConvertOptions(null_values=MISSING_NUMBERS, column_types=types),
        )

    try:
        return read(dict.fromkeys(words, pyarrow.string()))
    except (pyarrow.ArrowInvalid, OSError):
        pass
    try:  # types are guessed from the first block: a later one may say otherwise
        table = read(dict.fromkeys(header, pyarrow.string()))
    except (pyarrow.ArrowInvalid, OSError):
        return None
    for number, name in enumerate(table.column_names):
        if name not in words:
            table = table.set_column(number, name, _guessed(table.column(number), pyarrow))
    return table


def _guessed(column: Any, pyarrow: Any) -> Any:
    import pyarrow.compute as compute

    gone = compute.is_in(column, value_set=pyarrow.array(MISSING_NUMBERS))
    try:
        return compute.if_else(gone, None, column).cast("float64")
    except pyarrow.ArrowInvalid:
        return column


def _quotes(path: PathLike, data: bytes | None) -> int:
    """How many there are: none, and no value has a line break; odd, and one is open at the end."""
    if data is not None:
        return data.count(b'"')
    with Path(path).open("rb") as file:
        return sum(piece.count(b'"') for piece in iter(lambda: file.read(1 << 22), b""))


def _records(file: IO[str], delimiter: str, name: str) -> Iterator[tuple[int, list[str]]]:
    """The line where each row begins, and the row; the header is the first. Empty lines are passed over."""
    reader = csv.reader(file, delimiter=delimiter, strict=True)
    begin, width = 1, None
    try:
        for row in reader:
            if row:
                if width is not None and len(row) != width:
                    finding = f"has {len(row)} values, and the first line names {width} columns"
                    raise input_error(name, begin, f"{finding}. Was the file cut off?")
                width = width or len(row)
                yield begin, row
            begin = reader.line_num + 1
    except csv.Error as error:
        raise input_error(name, begin, f"not CSV ({error}). Mend the quotes") from None
    except UnicodeDecodeError:
        finding = "the text is not UTF-8. Convert the file: iconv -f ISO-8859-1 -t UTF-8"
        raise input_error(name, None, finding) from None


def _python_csv(records: Iterator[tuple[int, list[str]]], name: str, words: Sequence[str]) -> dict[str, Column]:
    _, header = next(records, (0, []))
    if not header:
        raise input_error(name, None, "the file is empty. The first line of a table names its columns")
    _distinct(header, name)
    pieces: list[list[Column]] = [[] for _ in header]
    while block := list(itertools.islice(records, ROWS)):
        for label, values, found in zip(header, zip(*(row for _, row in block), strict=True), pieces, strict=True):
            found.append(as_objects(values) if label in words else _guess(values))
    columns: dict[str, Column] = {}
    for label, found in zip(header, pieces, strict=True):
        columns[label] = np.concatenate(found) if found else as_objects([])
    return columns


def _guess(values: Sequence[str]) -> Column:
    if any("_" in value for value in values):  # Python reads 1_000 as a number
        return as_objects(values)
    try:
        whole = np.array(values, dtype=np.float64)
        return whole if not any(value[:1] == "0" and value[1:2].isdigit() for value in values) else as_objects(values)
    except ValueError:
        return as_objects(values)


# JSON lines ----------------------------------------------------------------------------------------------------------


def _read_jsonl(path: PathLike) -> Table:
    name = path_name(path)

    def line_of(row: int) -> int:
        return next(itertools.islice(_objects(path), row, None))[0]

    pyarrow = _pyarrow()
    if pyarrow is not None and os.fspath(path) != "-":
        import pyarrow.json as fast

        try:
            with open_bytes(path) as file:
                options = fast.ReadOptions(block_size=1 << 24)
                return from_arrow(fast.read_json(file, options), name, line_of)
        except (pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError):
            pass
    columns: dict[str, list[Any]] = {}
    for count, (_, row) in enumerate(_objects(path)):
        for label, value in row.items():
            columns.setdefault(label, [None] * count).append(value)
        for values in columns.values():
            if len(values) <= count:
                values.append(None)
    return Table({label: _typed(values) for label, values in columns.items()}, name, line_of)


def _objects(path: PathLike) -> Iterator[tuple[int, dict[str, Any]]]:
    name = path_name(path)
    with open_text(path) as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise input_error(name, number, f"not JSON ({error}). Write one object per line") from None
            if not isinstance(row, dict):
                raise input_error(name, number, "not an object. Write one object per line: a row of the table")
            yield number, row


def _typed(values: list[Any]) -> Column:
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return np.array(values, dtype=np.float64)
    found = np.empty(len(values), dtype=object)
    for number, value in enumerate(values):
        found[number] = value
    return found


# Parquet and Arrow ---------------------------------------------------------------------------------------------------


def _read_arrow_file(path: PathLike, kind: str) -> Table:
    pyarrow = pyarrow_for(f"{path_name(path)}: a file of {kind.capitalize()}")
    if not Path(path).is_file():
        raise os_error(path, FileNotFoundError(2, "No such file"))
    try:
        if kind == "parquet":
            import pyarrow.parquet as parquet

            return from_arrow(parquet.read_table(os.fspath(path)), path_name(path))
        with pyarrow.memory_map(os.fspath(path)) as file:
            start = file.read(6)
        with pyarrow.memory_map(os.fspath(path)) as file:
            opened = pyarrow.ipc.open_file(file) if start == b"ARROW1" else pyarrow.ipc.open_stream(file)
            return from_arrow(opened.read_all(), path_name(path))
    except (pyarrow.ArrowException, OSError) as error:
        finding = f"cannot be read ({' '.join(str(error).split())[:200]})"
        raise input_error(path_name(path), None, f"{finding}. Is it whole, and what its name says?") from None


# Back again ----------------------------------------------------------------------------------------------------------


def write_ranked(path: PathLike, table: Table, out: PathLike, score: Sequence[Any], rank: Sequence[Any]) -> None:
    """The table of a file with two columns more, ``score`` and ``rank``: a value per row, or a list where it is wide.

    What is there already stays as it is written. None is a row that was left out.
    """
    kind = kind_of(path)
    for name in ("score", "rank"):
        if name in table.columns:
            raise input_error(path_name(path), None, f"has a column {name!r} already. Rename it")
    if os.fspath(out) != "-" and kind_of(out) != kind:
        finding = f"a table in {kind} is written in {kind}. Change the ending of the name"
        raise input_error(path_name(out), None, finding)
    if kind in ("parquet", "arrow"):
        _write_arrow(table, out, kind, score, rank)
        return
    if os.fspath(path) == "-":
        raise InputError("a table from standard input cannot be read twice. Keep it in a file")
    with output(out) as file:
        (_write_csv if kind == "csv" else _write_jsonl)(path, file, score, rank)


def _write_csv(path: PathLike, file: IO[str], score: Sequence[Any], rank: Sequence[Any]) -> None:
    with open_text(path) as source:
        first = source.readline()
    delimiter = _delimiter(path, first)
    writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
    with open_text(path) as source:
        records = _records(source, delimiter, path_name(path))
        writer.writerow([*next(records)[1], "score", "rank"])
        for (_, row), value, place in zip(records, score, rank, strict=True):
            writer.writerow([*row, "" if value is None else repr(value), "" if place is None else place])


def _write_jsonl(path: PathLike, file: IO[str], score: Sequence[Any], rank: Sequence[Any]) -> None:
    with open_text(path) as source:
        rows = (line for line in source if line.strip())
        for line, value, place in zip(rows, score, rank, strict=True):
            body = line.rstrip()[:-1].rstrip()
            comma = "" if body.endswith("{") else ", "
            file.write(f'{body}{comma}"score": {json.dumps(value)}, "rank": {json.dumps(place)}}}\n')


def _write_arrow(table: Table, out: PathLike, kind: str, score: Sequence[Any], rank: Sequence[Any]) -> None:
    if os.fspath(out) == "-":
        raise InputError(f"a table in {kind} is not text. Give --out FILE")
    pyarrow = pyarrow_for("This table")
    found = table.source.append_column("score", pyarrow.array(score)).append_column("rank", pyarrow.array(rank))
    with output(out, "wb") as file:
        if kind == "parquet":
            import pyarrow.parquet as parquet

            parquet.write_table(found, file)
        else:
            with pyarrow.ipc.new_file(file, found.schema) as writer:
                writer.write_table(found)
