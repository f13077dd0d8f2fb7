"""Text that is broken into lines: where a paragraph is, and how a translation is broken again."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from hopefear.documents.encoding import LINE_END

WIDEST = 100  # columns of a file that is broken into lines; longer lines are paragraphs


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a text: where it starts, where its words end, and where the next one starts."""

    start: int
    stop: int
    next: int


def lines_of(text: str, start: int = 0, stop: int | None = None) -> Iterator[Line]:
    """The lines of a text, or of a stretch of it; they end at LF, CR or CR LF only."""
    stop = len(text) if stop is None else stop
    for match in LINE_END.finditer(text, start, stop):
        yield Line(start, match.start(), match.end())
        start = match.end()
    if start < stop:
        yield Line(start, stop, stop)


def width(text: str) -> int:
    """Columns of a text: wide characters take two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.category(c) in ("Mn", "Me", "Cf") else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def is_wrapped(lines: Sequence[str], columns: int) -> bool:
    """Whether lines are one paragraph that was broken: no line has room for the first word of the next one."""
    return len(lines) > 1 and all(
        width(line.rstrip()) + 1 + width((following.split() or [""])[0]) > columns
        for line, following in pairwise(lines)
    )


def wrap(text: str, columns: int, first: int = 0) -> list[str]:
    """Text broken at blanks into lines of so many columns; the first line has ``first`` fewer."""
    result: list[str] = []
    line, taken = "", first
    for word in re.split(r"[ \t\r\n]+", text):
        size = width(word)
        if line and taken + 1 + size > columns:
            result.append(line)
            line, taken = word, size
        else:
            line = f"{line} {word}" if line else word
            taken += size + (1 if taken > first else 0)
    return [*result, line]


def in_lines(text: str, count: int) -> list[str]:
    """Text broken at blanks into at most so many lines whose longest is as short as can be."""
    words = text.split()
    if count < 2 or len(words) < 2:
        return [" ".join(words)]
    low, high = max(map(width, words)), width(" ".join(words))
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if len(wrap(" ".join(words), middle)) <= count else (middle + 1, high)
    return wrap(" ".join(words), low)
