"""Tables: the cells of a column of a .csv or .tsv file. Quotes, other columns and line ends stay.

Without a column named, it is the one that has text, if there is only one such.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from hopefear.documents.document import Hole, TextDocument, plain_text
from hopefear.documents.encoding import LINE_END, decode, line_of
from hopefear.documents.segment import Segment
from hopefear.documents.wrapping import lines_of
from hopefear.errors import input_error
from hopefear.util.messages import printable

_QUOTED = re.compile(r'"(?:[^"]|"")*+"')
_SEPARATORS = ",;\t|"
_PHRASE = re.compile(r"[^\W\d_]\s+[^\W\d_]")  # words with a blank between

Cell = tuple[int, int]  # where it starts and stops, with its quotes


def read_csv(
    data: bytes, name: str, encoding: str | None = None, column: str | int | Sequence[str | int] | None = None
) -> TextDocument:
    """A table with commas, semicolons, tabs or bars between its cells, whichever its first line has most of."""
    return _read(data, name, encoding, column, None)


def read_tsv(
    data: bytes, name: str, encoding: str | None = None, column: str | int | Sequence[str | int] | None = None
) -> TextDocument:
    """A table with tabs between its cells."""
    return _read(data, name, encoding, column, "\t")


def _read(
    data: bytes, name: str, encoding: str | None, column: str | int | Sequence[str | int] | None, separator: str | None
) -> TextDocument:
    text, coding = decode(data, name, encoding)
    if separator is None:
        head = LINE_END.split(re.sub(_QUOTED, "", text[: 1 << 16]).lstrip("\r\n"), maxsplit=1)[0]
        separator = max(_SEPARATORS, key=lambda c: (head.count(c), -_SEPARATORS.index(c)))
    rows = list(_rows(text, name, separator))
    if not rows:
        return TextDocument(name, text, coding, [])
    values = [[_value(text, cell) for cell in row] for row in rows]
    wanted, has_header = _only_text(values, name) if column is None else _columns(column, values[0], name)
    holes = [
        hole for row in rows[has_header:] for k in wanted if k < len(row) for hole in _cell(text, row[k], separator)
    ]
    return TextDocument(name, text, coding, holes)


def _only_text(rows: Sequence[Sequence[str]], name: str) -> tuple[list[int], bool]:
    """The only column with text, and whether the first line is names of columns, which have no blanks."""
    texts = sorted({k for row in rows for k, cell in enumerate(row) if _PHRASE.search(cell)})
    if len(texts) == 1:
        return texts, all(cell.replace("_", "a").isalpha() for cell in rows[0])
    if max(map(len, rows)) == 1:
        return [0], False
    known = printable(", ".join(rows[0])[:200])
    raise input_error(name, None, f"which column should be translated? Choose one with --column: {known}")


def _columns(column: str | int | Sequence[str | int], header: list[str], name: str) -> tuple[list[int], bool]:
    """The columns to translate, counted from 0, and whether the first line is their names."""
    known = printable(", ".join(header)[:200])
    wanted: list[int] = []
    named = False
    for each in [column] if isinstance(column, str | int) else column:
        if str(each) in header:
            wanted.append(header.index(str(each)))
            named = True
        elif str(each).isdecimal() and 1 <= int(each) <= len(header):
            wanted.append(int(each) - 1)
        else:
            raise input_error(name, 1, f"has no column {each}. Give one of these, or its number: {known}")
    return wanted, named


def _rows(text: str, name: str, separator: str) -> Iterator[list[Cell]]:
    """The cells of each line."""
    plain = re.compile(rf"[^{re.escape(separator)}\r\n]*")
    position = 0
    row: list[Cell] = []
    while position < len(text):
        cell = _QUOTED.match(text, position) if text[position] == '"' else None
        if cell and text[cell.end() : cell.end() + 1] not in ("", "\r", "\n", separator):
            cell = None
        if cell is None and text[position] == '"' and separator != "\t":
            finding = "a quoted cell does not end with its quote. Double the quotes inside it"
            raise input_error(name, line_of(text, position), finding)
        cell = cell or plain.match(text, position)
        assert cell is not None
        row.append(cell.span())
        position = cell.end()
        if text[position : position + 1] == separator:
            position += 1
            if position == len(text):
                row.append((position, position))
        else:
            end = LINE_END.match(text, position)
            position = end.end() if end else len(text)
            if row != [(row[0][0], row[0][0])]:  # not for an empty line
                yield row
            row = []
    if row:
        yield row


def _value(text: str, cell: Cell) -> str:
    raw = text[cell[0] : cell[1]]
    return raw[1:-1].replace('""', '"') if _QUOTED.fullmatch(raw) else raw


def _cell(text: str, cell: Cell, separator: str) -> Iterator[Hole]:
    """Each line of a cell is a text of its own."""
    quoted = bool(_QUOTED.fullmatch(text, *cell))
    start, stop = (cell[0] + 1, cell[1] - 1) if quoted else cell
    for line in lines_of(text, start, stop):
        raw = text[line.start : line.stop]
        left = line.start + len(raw) - len(raw.lstrip())
        right = max(left, line.start + len(raw.rstrip()))
        segment = Segment.of(text[left:right].replace('""', '"') if quoted else text[left:right])
        if not segment.has_words:
            continue
        if quoted:
            yield Hole(left, right, segment, lambda new: _one_line(new).replace('"', '""'))
        else:
            before, after = text[start:left], text[right:stop]
            yield Hole(
                start,
                stop,
                segment,
                lambda new, b=before, a=after: _quoted(b + _one_line(new) + a, separator),  # type: ignore[misc]
            )


def _one_line(segment: Segment) -> str:
    return re.sub(r"\s*[\r\n]+\s*", " ", plain_text(segment))


def _quoted(words: str, separator: str) -> str:
    if separator == "\t":
        return words.replace("\t", " ")
    if separator in words or words.startswith('"'):
        words = '"' + words.replace('"', '""') + '"'
    return words
