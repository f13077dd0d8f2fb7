"""Markdown: paragraphs, headings, list items, quotes and cells of tables.

Code, front matter, link targets, definitions of links, formulas and comments stay; blocks of HTML are read as HTML.
"""

from __future__ import annotations

import re

from hopefear.documents.document import UNBROKEN, Hole, TextDocument, plain_text
from hopefear.documents.encoding import decode
from hopefear.documents.html_pages import html_holes
from hopefear.documents.markdown_inline import inline_segment
from hopefear.documents.segment import Segment
from hopefear.documents.wrapping import Line, lines_of, width, wrap

_FENCE = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(`{3,}|~{3,})([^\n\r]*)")
_PREFIX = re.compile(
    r"""(?:[ \t]{0,3}>[ \t]?)*[ \t]*
    (?:(?:[-*+]|\d{1,9}[.)]|:(?=[ \t])|\[\^[^\]\s]+\]:)[ \t]+(?:\[[ xX]\][ \t]+)?)*
    (?:>[ \t]?)*""",
    re.VERBOSE,
)
_MARKER = re.compile(r"[ \t>]*(?:[-*+]|\d{1,9}[.)]|\[\^[^\]\s]+\]:)[ \t]+\S")
_TERM = re.compile(r"[ \t]{0,3}:[ \t]+\S")  # of a list of definitions, below what it defines
_QUOTE = re.compile(r"(?:[ \t]{0,3}>[ \t]?)*[ \t]*")
_HEADING = re.compile(r"(#{1,6}[ \t]+)(.*?)([ \t]*(?:\{[^{}]*\})?(?:[ \t]+#+)?[ \t]*)$")
_RULE = re.compile(r"[ \t>]*(?:=+|-{2,}|(?:[-*_][ \t]*){3,})[ \t]*$")
_DEFINITION = re.compile(r"[ \t>]{0,4}\[(?!\^)([^\]\n]+)\]:[ \t]*\S")
_DELIMITERS = re.compile(r"[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_OTHER = re.compile(r"[ \t]*(?:!!!|\?\?\?|:::|\{%.*%\}[ \t]*$|\[TOC\]|\[\[_TOC_\]\]|\{:)")
_HTML = re.compile(
    r"""[ ]{0,3}(?:<!--|<[?!]|</?(?:address|article|aside|blockquote|body|center|dd|details|dialog|div|dl|dt|fieldset
    |figcaption|figure|footer|form|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|meta|nav|ol|optgroup|option|p
    |pre|script|section|style|summary|svg|table|tbody|td|textarea|tfoot|th|thead|title|tr|ul|video)(?:[\s/>]|$))""",
    re.VERBOSE | re.IGNORECASE,
)
_LONG_HTML = re.compile(r"[ ]{0,3}<(pre|script|style|textarea|svg|!--)", re.IGNORECASE)
_CELL = re.compile(r"(?:\\.|`[^`\n]*`|[^|\\\n`]|`)*")
_HARD_BREAK = re.compile(f"((?:[ {UNBROKEN}]{{2,}}|\\\\)\n)")


def read_markdown(data: bytes, name: str, encoding: str | None = None) -> TextDocument:
    """A page of Markdown (CommonMark, with tables, footnotes and front matter)."""
    text, coding = decode(data, name, encoding)
    reader = _Reader(text)
    reader.read()
    return TextDocument(name, text, coding, reader.holes)


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._lines = list(lines_of(text))
        self._labels = {m[1].strip().lower() for m in map(_DEFINITION.match, map(self._row, self._lines)) if m}
        self.holes: list[Hole] = []

    def _row(self, line: Line) -> str:
        return self._text[line.start : line.stop]

    def read(self) -> None:
        i = self._front_matter()
        in_list = after_blank = False
        while i < len(self._lines):
            row = self._row(self._lines[i])
            if not row.strip(" \t>"):
                after_blank, i = True, i + 1
                continue
            marker = bool(_MARKER.match(row))
            if after_blank and not marker and row[:1] not in (" ", "\t"):
                in_list = False
            in_list = in_list or marker
            code = (after_blank or i == 0) and not in_list and re.match(r" {4}| {0,3}\t", row)
            i = i + 1 if code else self._block(i, row)
            after_blank = bool(code) and after_blank

    def _front_matter(self) -> int:
        first = self._row(self._lines[0]).rstrip() if self._lines else ""
        if first in ("---", "+++"):
            for i, line in enumerate(self._lines[1:], 1):
                if self._row(line).rstrip() in (first, "..." if first == "---" else first):
                    return i + 1
        return 0

    def _block(self, i: int, row: str) -> int:
        """What starts at a line; the number of the line after it."""
        fence = _FENCE.match(row)
        if fence and "`" not in fence[2]:
            return self._until(i + 1, re.compile(rf"[ \t>]*{fence[1][0]}{{{len(fence[1])},}}[ \t]*$"))
        if row.strip().startswith("$$"):
            return i + 1 if row.strip()[2:].endswith("$$") else self._until(i + 1, re.compile(r".*\$\$[ \t]*$"))
        if _HTML.match(row):
            return self._html(i, row)
        if _RULE.match(row) or _DEFINITION.match(row) or _OTHER.match(row):
            return i + 1
        if "|" in row and i + 1 < len(self._lines) and self._is_delimiters(i + 1):
            return self._table(i)
        prefix = _PREFIX.match(row)
        start = prefix.end() if prefix else 0
        if not row[start:].strip():  # the mark of a list or a quote, and nothing else
            return i + 1
        heading = _HEADING.match(row, start)
        if heading:
            left, right = self._lines[i].start + heading.start(2), self._lines[i].start + heading.end(2)
            self._simple(left, right)
            return i + 1
        return self._paragraph(i, start)

    def _until(self, i: int, end: re.Pattern[str]) -> int:
        while i < len(self._lines) and not end.match(self._row(self._lines[i])):
            i += 1
        return i + 1

    def _html(self, i: int, row: str) -> int:
        """A block of HTML: to a blank line, or to the end of a comment, a script and the like."""
        long = _LONG_HTML.match(row)
        stop = i + 1
        if long:
            end = "-->" if long[1] == "!--" else f"</{long[1].lower()}>"
            while stop < len(self._lines) and end not in self._row(self._lines[stop - 1]).lower():
                stop += 1
        else:
            while stop < len(self._lines) and self._row(self._lines[stop]).strip():
                stop += 1
        self.holes += html_holes(self._text, self._lines[i].start, self._lines[stop - 1].next)
        return stop

    def _is_delimiters(self, i: int) -> bool:
        row = self._row(self._lines[i])
        return bool(_DELIMITERS.match(row)) and "|" in row

    def _table(self, i: int) -> int:
        head = i
        while i < len(self._lines) and "|" in (row := self._row(self._lines[i])):
            if i != head + 1:
                quote = _QUOTE.match(row)
                position = quote.end() if quote else 0
                while position <= len(row) and (cell := _CELL.match(row, position)):
                    self._simple(self._lines[i].start + cell.start(), self._lines[i].start + cell.end(), cell=True)
                    position = cell.end() + 1
            i += 1
        return i

    def _simple(self, start: int, stop: int, cell: bool = False) -> None:
        """Text in one line."""
        raw = self._text[start:stop]
        start, stop = start + len(raw) - len(raw.lstrip()), start + len(raw.rstrip())
        segment, spelling = inline_segment(self._text[start:stop], self._labels)
        if cell:
            spelling = {**spelling, "|": "\\|"}
        if start < stop and segment.has_words:
            table = str.maketrans(spelling)
            self.holes.append(
                Hole(start, stop, segment, lambda new: plain_text(new, lambda words: words.translate(table)))
            )

    def _paragraph(self, i: int, start: int) -> int:
        """Lines up to a blank one, or to one that starts something else."""
        first = self._lines[i]
        rows, prefix = [self._row(first)[start:]], ""
        last = i
        while last + 1 < len(self._lines):
            row = self._row(self._lines[last + 1])
            quote = _QUOTE.match(row)
            inside = quote.end() if quote else 0
            if not row[inside:].strip() or self._starts_block(row, inside):
                break
            if last == i:
                prefix = row[:inside]
            last += 1
            rows.append(row[inside:])
        begin = first.start + start
        words = [row.rstrip() if k == len(rows) - 1 else row for k, row in enumerate(rows)]
        text = "\n".join(words)
        stop = self._lines[last].start + len(self._row(self._lines[last]).rstrip())
        segment, spelling = inline_segment(text, self._labels)
        if segment.has_words:
            columns = max(width(self._row(self._lines[k]).rstrip()) for k in range(i, last + 1)) if last > i else 0
            end = self._text[first.stop : first.next]
            layout = _Layout(columns, start, prefix, end or "\n", spelling)
            self.holes.append(Hole(begin, stop, segment, layout.render))
        return last + 1

    def _starts_block(self, row: str, inside: int) -> bool:
        if row.startswith("$$", inside) or _HEADING.match(row, inside):
            return True
        return any(start.match(row) for start in (_MARKER, _TERM, _FENCE, _RULE, _HTML, _OTHER))


class _Layout:
    """How a paragraph is written: broken into lines of the same width, with the marks of its quote or list."""

    def __init__(self, columns: int, first: int, prefix: str, end: str, spelling: dict[str, str]) -> None:
        self._columns, self._first, self._prefix, self._end = columns, first, prefix, end
        self._table = str.maketrans(spelling)

    def render(self, new: Segment) -> str:
        words = plain_text(new, lambda text: text.translate(self._table), UNBROKEN)
        pieces = _HARD_BREAK.split(words)
        result = ""
        for k, piece in enumerate(pieces):
            if k % 2:
                result = result.rstrip(" ") + piece.removesuffix("\n") + self._end + self._prefix
            else:
                result += self._broken(piece.strip() if k else piece.rstrip(), k == 0)
        return result.replace(UNBROKEN, " ")

    def _broken(self, text: str, at_start: bool) -> str:
        if not self._columns:
            return re.sub(r"\s*\n\s*", " ", text)
        taken = self._first - width(self._prefix) if at_start else 0
        lines: list[str] = []
        for line in wrap(text, max(1, self._columns - width(self._prefix)), taken):
            if lines and re.match(r"(?:[-*+>=|:#]|\d+[.)]|```|~~~)", line):  # it would start a block
                lines[-1] += " " + line
            else:
                lines.append(line)
        return (self._end + self._prefix).join(lines)
