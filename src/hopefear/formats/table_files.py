"""Files of tables, in and out: CSV and TSV by the core, JSON lines with or without pyarrow, Parquet and Arrow by it."""

from __future__ import annotations

import csv
import io
import itertools
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from hopefear._core import CsvColumns
from hopefear.errors import InputError, input_error
from hopefear.formats.arrow_tables import check_names, from_arrow, import_pyarrow, pyarrow_for
from hopefear.formats.json_rows import is_array, objects
from hopefear.formats.nested import columns_of, list_key, rows_of
from hopefear.formats.records import dataset_table, is_dataset
from hopefear.formats.table import Table
from hopefear.formats.table_columns import Column, as_objects, column_of
from hopefear.util.files import (
    PACKED,
    PathLike,
    iter_bytes,
    open_bytes,
    open_text,
    os_error,
    output,
    path_name,
    printable,
)
from hopefear.util.processes import give_back_memory
from hopefear.util.unpacking import check_size

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
JSON_BLOCK = 1 << 22  # bytes that pyarrow takes at a time


def is_path(source: Any) -> bool:
    """Whether a table is given by its path."""
    return isinstance(source, str | os.PathLike)


@contextmanager
def _from_the_system(pyarrow: Any) -> Iterator[None]:
    """Memory that goes back to the system when a table is done with: pyarrow's own allocator keeps it."""
    before = pyarrow.default_memory_pool()
    pyarrow.set_memory_pool(pyarrow.system_memory_pool())
    try:
        yield
    finally:
        pyarrow.set_memory_pool(before)
        give_back_memory()


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
    if is_dataset(path):
        return from_arrow(dataset_table(path), path_name(path))
    kind = kind_of(path)
    if kind in ("parquet", "arrow"):
        return _read_arrow_file(path, kind)
    return _read_csv(path, words) if kind == "csv" else _read_jsonl(path)


# CSV -----------------------------------------------------------------------------------------------------------------


def _read_csv(path: PathLike, words: Sequence[str]) -> Table:
    """By the core; a file that it rejects by Python's own reader, which reports the place of the fault."""
    name = path_name(path)
    content = open_bytes(path).read() if os.fspath(path) == "-" else None  # it cannot be read again

    def pieces() -> Iterator[bytes]:
        return iter_bytes(path) if content is None else iter([content])

    def opened() -> IO[str]:
        return open_text(path) if content is None else io.TextIOWrapper(io.BytesIO(content), "utf-8-sig", newline="\n")

    with opened() as file:
        delimiter = _delimiter(path, file.readline())

    def line_of(row: int) -> int:
        with opened() as file:
            return next(itertools.islice(_records(file, delimiter, name), row + 1, None))[0]

    with opened() as file:
        header = next(_records(file, delimiter, name), (0, []))[1]
    if not header:
        raise input_error(name, None, "the file is empty. The first line of a table names its columns")
    check_names(header, name)
    columns = _core_csv(pieces, delimiter, header, words)
    if columns is None:
        with opened() as file:
            columns = _python_csv(_records(file, delimiter, name), words)
    return Table(columns, name, line_of)


def _core_csv(
    pieces: Callable[[], Iterator[bytes]], delimiter: str, header: Sequence[str], words: Sequence[str]
) -> dict[str, Column] | None:
    """The columns, or None if the file is not well formed."""
    text = [name in words for name in header]
    while True:
        parser = CsvColumns(delimiter, text)
        for piece in pieces():
            parser.feed(piece)
        if not parser.finish():
            return None
        if not parser.late:
            break
        for j in parser.late:
            text[j] = True
    try:
        return {
            name: as_objects(parser.texts(j)) if parser.is_text(j) else parser.numbers(j)
            for j, name in enumerate(header)
        }
    except UnicodeDecodeError:
        return None


def _delimiter(path: PathLike, first: str) -> str:
    tabs = os.fspath(path).partition(".tsv")[1] or ("\t" in first and "," not in first)
    if not tabs and ";" in first and "," not in first:
        raise input_error(path_name(path), 1, "the columns are separated by ';'. Save the table with commas or tabs")
    return "\t" if tabs else ","


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
        raise input_error(name, begin, f"not CSV ({printable(str(error))}). Fix the quotes") from None
    except UnicodeDecodeError:
        finding = "the text is not UTF-8. Convert the file: iconv -f ISO-8859-1 -t UTF-8"
        raise input_error(name, None, finding) from None


def _python_csv(records: Iterator[tuple[int, list[str]]], words: Sequence[str]) -> dict[str, Column]:
    _, header = next(records)
    columns = zip(*(row for _, row in records), strict=True)
    columns_by_name = {name: as_objects(values) for name, values in zip(header, columns, strict=False)}
    table = Table({name: columns_by_name.get(name, as_objects([])) for name in header})
    numbers = [name for name in header if name not in words and table.rows and table.is_numeric(name)]
    return {name: _numbers(column) if name in numbers else column for name, column in table.columns.items()}


def _numbers(column: Column) -> Column:
    """Numbers, if all of them are."""
    try:
        return column.astype(np.float64)
    except ValueError:
        return column


# JSON lines ----------------------------------------------------------------------------------------------------------


def _read_jsonl(path: PathLike) -> Table:
    name = path_name(path)

    def line_of(row: int) -> int:
        return next(itertools.islice(objects(path), row, None))[0]

    if os.fspath(path) != "-" and list_key(next(iter(objects(path)), (0, {}))[1]) is not None:
        cells = columns_of(rows_of((row for _, row in objects(path)), name))
        return Table({label: column_of(values) for label, values in cells.items()}, name)
    if import_pyarrow() is not None and os.fspath(path) != "-" and (table := _arrow_jsonl(path)) is not None:
        return from_arrow(table, name, line_of)
    columns: dict[str, list[Any]] = {}
    for count, (_, row) in enumerate(objects(path)):
        for label, value in row.items():
            columns.setdefault(label, [None] * count).append(value)
        for values in columns.values():
            if len(values) <= count:
                values.append(None)
    return Table({label: column_of(values) for label, values in columns.items()}, name, line_of)


def _arrow_jsonl(path: PathLike) -> Any:
    """The file by pyarrow, or None if it does not understand it; block by block, so that memory stays small.

    pyarrow also takes several objects on a line, or one on several. Where lines are not rows, it is not asked.
    """
    pyarrow: Any = import_pyarrow()
    import pyarrow.json as fast

    tables, rest, lines = [], b"", 0
    options = fast.ReadOptions(block_size=2 * JSON_BLOCK)
    with _from_the_system(pyarrow), open_bytes(path) as file:
        try:
            while block := file.read(JSON_BLOCK):
                complete, end, tail = block.rpartition(b"\n")
                if end:
                    tables.append(fast.read_json(pyarrow.BufferReader(rest + complete + end), options))
                    lines += _full_lines(rest + complete, tables[-1].num_rows)
                    rest = b""
                rest += tail
            if rest.strip() or not tables:
                tables.append(fast.read_json(pyarrow.BufferReader(rest), options))
                lines += _full_lines(rest, tables[-1].num_rows)
            table = pyarrow.concat_tables(tables, promote_options="permissive")
            _ = table.column_names  # are they UTF-8?
            return table if lines == table.num_rows else None
        except (pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError, pyarrow.ArrowTypeError, UnicodeDecodeError):
            return None


def _full_lines(text: bytes, expected: int) -> int:
    """How many lines are not empty; counted one by one only if their number is not the expected one."""
    lines = text.count(b"\n") + 1
    return lines if lines == expected else sum(not line.isspace() and line != b"" for line in text.split(b"\n"))


# Parquet and Arrow ---------------------------------------------------------------------------------------------------


def _read_arrow_file(path: PathLike, kind: str) -> Table:
    pyarrow = pyarrow_for(f"{path_name(path)}: a file of {kind.capitalize()}")
    if not Path(path).is_file():
        raise os_error(path, FileNotFoundError(2, "No such file"))
    try:
        if kind == "parquet":
            return from_arrow(_read_parquet(path), path_name(path))
        with pyarrow.memory_map(os.fspath(path)) as file:
            start = file.read(6)
        with pyarrow.memory_map(os.fspath(path)) as file:
            opened = pyarrow.ipc.open_file(file) if start == b"ARROW1" else pyarrow.ipc.open_stream(file)
            return from_arrow(_batches(path, opened), path_name(path))
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        finding = f"cannot be read ({printable(' '.join(str(error).split()))[:200]})"
        raise input_error(path_name(path), None, f"{finding}. Is it complete, and of the kind its name says?") from None


def _batches(path: PathLike, opened: Any) -> Any:
    """The table in an open file of Arrow, whose pieces may be packed."""
    pyarrow: Any = import_pyarrow()
    count = getattr(opened, "num_record_batches", None)
    batches, size = [], 0
    for batch in opened if count is None else map(opened.get_batch, range(count)):
        size += batch.nbytes
        check_size(path, size)
        batches.append(batch)
    return pyarrow.Table.from_batches(batches, opened.schema)


def _read_parquet(path: PathLike) -> Any:
    """Column by column: all at once would hold the packed file in memory in addition to what is in it."""
    pyarrow: Any = import_pyarrow()
    import pyarrow.parquet as parquet

    with _from_the_system(pyarrow), parquet.ParquetFile(os.fspath(path), pre_buffer=False) as file:
        about = file.metadata
        packed = sum(about.row_group(k).total_byte_size for k in range(about.num_row_groups))
        check_size(path, max(packed, 8 * about.num_rows * about.num_columns))  # a value that repeats takes no space
        names = list(dict.fromkeys(file.schema_arrow.names))
        if len(names) < len(file.schema_arrow.names):
            return file.read()  # two columns of one name, which is refused later
        columns = [file.read(columns=[name]).column(0) for name in names]
        return pyarrow.table(columns, names=names)


# Back again ----------------------------------------------------------------------------------------------------------


def write_ranked(path: PathLike, table: Table, out: PathLike, score: Sequence[Any], rank: Sequence[Any]) -> None:
    """The table of a file with two columns more, ``score`` and ``rank``: a value per row, or a list where it is wide.

    Columns that exist already stay as they are written. None is a row that was left out.
    """
    kind = kind_of(out if is_dataset(path) else path)
    for name in ("score", "rank"):
        if name in table.columns:
            raise input_error(path_name(path), None, f"already has a column {name!r}. Rename it")
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
        for (_, row), value, position in zip(records, score, rank, strict=True):
            writer.writerow([*row, "" if value is None else repr(value), "" if position is None else position])


def _write_jsonl(path: PathLike, file: IO[str], score: Sequence[Any], rank: Sequence[Any]) -> None:
    if is_array(path):
        rows = [row for _, row in objects(path)]
        scored = [{**row, "score": score[k], "rank": rank[k]} for k, row in enumerate(rows)]
        file.write(json.dumps(scored, ensure_ascii=False) + "\n")
        return
    with open_text(path) as source:
        lines = (line for line in source if line.strip())
        for line, value, position in zip(lines, score, rank, strict=True):
            body = line.rstrip()[:-1].rstrip()
            comma = "" if body.endswith("{") else ", "
            file.write(f'{body}{comma}"score": {json.dumps(value)}, "rank": {json.dumps(position)}}}\n')


def _write_arrow(table: Table, out: PathLike, kind: str, score: Sequence[Any], rank: Sequence[Any]) -> None:
    if os.fspath(out) == "-":
        raise InputError(f"a table in {kind} is not text. Give --out FILE")
    pyarrow = pyarrow_for("This table")
    scored = table.source.append_column("score", pyarrow.array(score)).append_column("rank", pyarrow.array(rank))
    with output(out, "wb") as file:
        if kind == "parquet":
            import pyarrow.parquet as parquet

            parquet.write_table(scored, file)
        else:
            with pyarrow.ipc.new_file(file, scored.schema) as writer:
                writer.write_table(scored)
