"""Plain text: each line is a text of its own, unless the file is broken into lines of equal width."""

from __future__ import annotations

import re
from itertools import groupby

from hopefear.documents.document import UNBROKEN, Hole, TextDocument, plain_text
from hopefear.documents.encoding import decode
from hopefear.documents.segment import Segment
from hopefear.documents.wrapping import WIDEST, Line, is_wrapped, lines_of, width, wrap

_NARROWEST = 40


def read_text(data: bytes, name: str, encoding: str | None = None) -> TextDocument:
    """A text file. Lines that no blank line parts and that were broken at a width are one paragraph."""
    text, coding = decode(data, name, encoding)
    lines = list(lines_of(text))
    columns = max((width(text[line.start : line.stop]) for line in lines), default=0)
    holes: list[Hole] = []
    for blank, group in groupby(lines, lambda line: not text[line.start : line.stop].strip()):
        if blank:
            continue
        block = list(group)
        row = [text[line.start : line.stop] for line in block]
        if _NARROWEST <= columns <= WIDEST and is_wrapped(row, columns):
            holes += _paragraph(text, block, columns)
        else:
            holes += [hole for line in block for cell in _cells(text, line) for hole in _paragraph(text, [cell], 0)]
    return TextDocument(name, text, coding, holes)


def _cells(text: str, line: Line) -> list[Line]:
    """The parts of a line between its tabs."""
    starts = [line.start, *(line.start + match.end() for match in re.finditer("\t+", text[line.start : line.stop]))]
    return [Line(start, stop, stop) for start, stop in zip(starts, [*starts[1:], line.stop], strict=True)]


def _paragraph(text: str, block: list[Line], columns: int) -> list[Hole]:
    raw = text[block[0].start : block[-1].stop]
    start = block[0].start + len(raw) - len(raw.lstrip())
    stop = block[0].start + len(raw.rstrip())
    segment = Segment.of(" ".join(text[line.start : line.stop].strip() for line in block))
    if not segment.has_words:
        return []
    end = text[block[0].stop : block[0].next]
    second = text[block[1].start : block[1].stop] if len(block) > 1 else ""
    indent = second[: len(second) - len(second.lstrip())]

    def render(new: Segment) -> str:
        if not columns:
            return plain_text(new)
        words = wrap(plain_text(new, blank=UNBROKEN), columns - width(indent), start - block[0].start - width(indent))
        return (end + indent).join(words).replace(UNBROKEN, " ")

    return [Hole(start, stop, segment, render)]
