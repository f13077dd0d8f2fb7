"""Tables with a column for each language: TSV, CSV, JSON lines and Parquet."""

from __future__ import annotations

import csv
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hopefear.corpus.entries import LONGEST_SEGMENT, Entry, text_lines, writable_copy
from hopefear.corpus.languages import is_language, primary
from hopefear.corpus.pair import Pair, one_line
from hopefear.errors import InputError, input_error
from hopefear.formats.arrow_tables import pyarrow_for
from hopefear.util.files import printable
from hopefear.util.messages import some

Columns = tuple[str, str] | None  #: names or numbers, counted from 1, that a user chose
_SIDES = (("source", "src", "source_text"), ("target", "tgt", "trg", "target_text", "translation"))
_DOCUMENTS = ("document", "document_id", "doc", "doc_id", "docid")


class _Layout:
    """Which columns of a table have the two sides, and the document if one has it."""

    def __init__(self, names: Sequence[str], languages: tuple[str, str], columns: Columns) -> None:
        lower = [name.strip().lstrip("\ufeff").strip('"').lower() for name in names]
        self.sides: tuple[int, int] | None = None
        self.named = True  # the names stand in a line of their own
        document = [lower.index(name) for name in _DOCUMENTS if name in lower]
        self.document = document[0] if document else None
        if columns is not None:
            chosen = [_column(lower, name.strip().lower()) for name in columns]
            self.sides = (chosen[0], chosen[1]) if None not in chosen else None  # type: ignore[assignment]
            self.named = not all(name.strip().isdigit() for name in columns) or _is_header(lower, languages)
            return
        found = [next((i for i, name in enumerate(lower) if primary(name) == code), None) for code in languages]
        if None in found:
            found = [next((i for i, name in enumerate(lower) if name in words), None) for words in _SIDES]
        if found[0] is not None and found[1] is not None:
            self.sides = found[0], found[1]

    @classmethod
    def of_first_line(cls, cells: Sequence[str], languages: tuple[str, str], columns: Columns) -> _Layout:
        """The layout of a table that may or may not begin with a line of names."""
        layout = cls(cells, languages, columns)
        if (
            layout.sides is None
            and columns is None
            and len(cells) == 2
            and not all(is_language(c.strip()) for c in cells)
        ):
            layout.sides, layout.named, layout.document = (0, 1), False, None
        return layout


def _is_header(lower: Sequence[str], languages: tuple[str, str]) -> bool:
    codes = [primary(name) for name in lower if is_language(name)]
    return all(language in codes for language in languages) or all(
        any(name in words for name in lower) for words in _SIDES
    )


def _column(names: Sequence[str], chosen: str) -> int | None:
    if chosen in names:
        return names.index(chosen)
    return int(chosen) - 1 if chosen.isdigit() and 0 < int(chosen) <= len(names) else None


def _no_columns(entry: Entry, names: Sequence[str], languages: tuple[str, str], columns: Columns) -> InputError:
    shown = some([printable(name)[:20] for name in names])
    if columns is not None:
        return input_error(
            entry.name, 1, f"there is no column {columns[0]} or {columns[1]}. The first line has: {shown}"
        )
    source, target = languages
    finding = f"{len(names)} columns, and none named {source} and {target} (the first line has: {shown})"
    return input_error(entry.name, 1, f"{finding}. Name them in the first line, or choose two with --columns")


def read_delimited(
    entry: Entry, languages: tuple[str, str], domain: str, columns: Columns = None, delimiter: str = "\t"
) -> Iterator[Pair]:
    """The pairs of a table of text. Tabs separate as they are; other tables have quotes as spreadsheets write them."""
    layout: _Layout | None = None
    rows = _tabbed(entry) if delimiter == "\t" else _quoted(entry, delimiter)
    for number, cells in rows:
        if not any(cells):
            continue
        if layout is None:
            layout = _Layout.of_first_line(cells, languages, columns)
            if layout.sides is None:
                raise _no_columns(entry, cells, languages, columns)
            if layout.named:
                continue
        assert layout.sides is not None
        if len(cells) <= max(layout.sides):
            finding = f"{len(cells)} columns where {max(layout.sides) + 1} are needed"
            raise input_error(entry.name, number, f"{finding}. Is there a line break inside a sentence?")
        place = layout.document
        document = cells[place] if place is not None and place < len(cells) else None
        source, target = (one_line(cells[i]) for i in layout.sides)
        yield Pair(source, target, document or None, domain, f"{entry.name}:{number}")


def _tabbed(entry: Entry) -> Iterator[tuple[int, list[str]]]:
    return ((number, line.split("\t")) for number, line in text_lines(entry))


def _quoted(entry: Entry, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    csv.field_size_limit(LONGEST_SEGMENT)
    numbers = [1]

    def lines() -> Iterator[str]:
        for number, line in text_lines(entry):
            numbers[0] = number
            yield line + "\n"

    reader = csv.reader(lines(), delimiter=delimiter, strict=True)
    begun = 1
    while True:
        try:
            cells = next(reader, None)
        except csv.Error as error:
            finding = f"not a row of a table ({error}; it begins in line {begun}). Check its quotes"
            raise input_error(entry.name, numbers[0], finding) from None
        if cells is None:
            return
        yield begun, cells
        begun = numbers[0] + 1


def delimiter_of(entry: Entry) -> str:
    """What separates the columns: a tab if the first line has one, else what a name in .csv promises; else nothing."""
    first = entry.head.split(b"\n", 1)[0]
    if b"\t" in first:
        return "\t"
    if not entry.file.lower().endswith(".csv"):
        return ""
    return ";" if first.count(b";") > first.count(b",") else ","


def read_json_lines(entry: Entry, languages: tuple[str, str], domain: str, columns: Columns = None) -> Iterator[Pair]:
    """The pairs of JSON lines: an object a line with both texts, or with ``"translation": {"de": ..., "en": ...}``."""
    for number, line in text_lines(entry):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            reason = printable(str(error).split(": line")[0])
            raise input_error(entry.name, number, f"not JSON ({reason}). Write one object per line") from None
        if not isinstance(row, dict):
            raise input_error(entry.name, number, 'not an object. Each line is one: {"de": "...", "en": "..."}')
        source, target, document = _of_object(entry, number, row, languages, columns)
        yield Pair(one_line(source), one_line(target), document, domain, f"{entry.name}:{number}")


def _of_object(
    entry: Entry, number: int, row: Mapping[str, Any], languages: tuple[str, str], columns: Columns
) -> tuple[str, str, str | None]:
    inner = row.get("translation")
    fields = inner if isinstance(inner, dict) and columns is None else row
    names = list(fields)
    layout = _Layout(names, languages, columns)
    if layout.sides is None:
        finding = _no_columns(entry, names, languages, columns)
        raise input_error(entry.name, number, str(finding).partition(": ")[2])
    values = [fields[names[i]] for i in layout.sides]
    for i, value in zip(layout.sides, values, strict=True):
        if value is not None and not isinstance(value, str):
            raise input_error(entry.name, number, f"{printable(names[i])} is not a text. Give a string")
    document = next((str(row[name]) for name in _DOCUMENTS if row.get(name) not in (None, "")), None)
    return values[0] or "", values[1] or "", document


def read_parquet(entry: Entry, languages: tuple[str, str], domain: str, columns: Columns = None) -> Iterator[Pair]:
    """The pairs of a Parquet file: two columns of text, or one of ``{"de": ..., "en": ...}``; needs pyarrow."""
    pyarrow = pyarrow_for(f"{entry.name}: Parquet")
    from pyarrow.parquet import ParquetFile

    with tempfile.TemporaryFile() as file:
        writable_copy(entry, file)
        try:
            table = ParquetFile(file)
            names = list(table.schema_arrow.names)
            wanted, sides = _parquet_columns(entry, table.schema_arrow, languages, columns)
            documents = [name for name in names if name.lower() in _DOCUMENTS][:1]
            number = 0
            for batch in table.iter_batches(batch_size=4096, columns=[*dict.fromkeys(wanted + documents)]):
                for row in batch.to_pylist():
                    number += 1
                    fields = row[wanted[0]] or {} if len(wanted) == 1 else row
                    texts = [str(fields.get(name) or "") for name in sides]
                    document = str(row[documents[0]]) if documents and row[documents[0]] is not None else None
                    yield Pair(one_line(texts[0]), one_line(texts[1]), document, domain, f"{entry.name}:{number}")
        except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
            reason = printable(" ".join(str(error).split()))[:200]
            raise input_error(entry.name, None, f"the Parquet file is damaged ({reason}). Copy it again") from None


def _parquet_columns(
    entry: Entry, schema: Any, languages: tuple[str, str], columns: Columns
) -> tuple[list[str], tuple[str, str]]:
    """Columns to read, and the names of both sides, which are in the one column or are these columns."""
    import pyarrow

    names = list(schema.names)
    if columns is None and "translation" in names and pyarrow.types.is_struct(schema.field("translation").type):
        kind = schema.field("translation").type
        inner = [kind.field(i).name for i in range(kind.num_fields)]
        layout = _Layout(inner, languages, None)
        if layout.sides is None:
            raise _no_columns(entry, inner, languages, columns)
        return ["translation"], (inner[layout.sides[0]], inner[layout.sides[1]])
    layout = _Layout(names, languages, columns)
    if layout.sides is None:
        raise _no_columns(entry, names, languages, columns)
    source, target = (names[i] for i in layout.sides)
    for name in (source, target):
        kind = schema.field(name).type
        if not (pyarrow.types.is_string(kind) or pyarrow.types.is_large_string(kind) or _is_words(pyarrow, kind)):
            raise input_error(entry.name, None, f"column {printable(name)} has {kind}, not text. Choose with --columns")
    return [source, target], (source, target)


def _is_words(pyarrow: Any, kind: Any) -> bool:
    """Text kept once per value."""
    return bool(pyarrow.types.is_dictionary(kind) and pyarrow.types.is_string(kind.value_type))
