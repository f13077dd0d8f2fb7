"""Text split into sentences, which join again byte for byte.

``sentencex`` (the extra ``translator``) knows the abbreviations of some 300 languages. Without it, sentences end at
``.``, ``!``, ``?``, ``…`` and their like in other scripts before white space, except after one letter, a number or a
word that is often abbreviated, and before a small letter.
"""

from __future__ import annotations

import functools
import re
import sys
from bisect import bisect_right
from collections.abc import Callable
from itertools import accumulate

from hopefear.documents.segment import Keep, Part, Segment, Tag, join_strings

_STOPS = ".!?\u2026\u061f\u06d4\u0964\u0965\u0589"
_WIDE_STOPS = "\u3002\uff01\uff1f\uff61"  # no blank follows them
_END = re.compile(f"[{_STOPS}]+[\"'\u201d\u2019»)\\]]*(?=\\s)|[{_WIDE_STOPS}]+[\u300d\u300f\u201d\u2019\uff09]*")
_BEFORE_STOP = re.compile(
    r"(?:^|[\s(])(?:\w|\d+|Dr|Prof|Mrs?|Ms|St|Nr|No|Sra?|Dra?|Abs|Art|vs|etc|[A-Za-z]\.[A-Za-z])\.$", re.IGNORECASE
)
_LOOSE = frozenset(["number", "name", "word", "mark"])  # protected spans that look like words to a splitter


def split_sentences(text: str, language: str = "") -> list[tuple[str, str]]:
    """The sentences of a text, each with the white space after it. Joined, they are the text.

    ``language`` is a code such as ``de`` or ``pt-BR``. Paragraphs and lines do not end a sentence by themselves, but
    for an empty line.
    """
    pieces = _pieces(text, language)
    sentences: list[tuple[str, str]] = []
    for piece in pieces:
        bare = piece.rstrip()
        if not bare and sentences:
            sentences[-1] = (sentences[-1][0], sentences[-1][1] + piece)
        elif sentences and not sentences[-1][0]:
            sentences[-1] = (sentences[-1][1] + bare, piece[len(bare) :])
        elif bare or piece:
            sentences.append((bare, piece[len(bare) :]))
    return sentences


@functools.cache
def _splitter() -> Callable[[str, str], list[str]] | None:
    try:
        from sentencex import segment
    except ImportError:
        return None
    result: Callable[[str, str], list[str]] = segment
    return result


#: White space that sentencex 1.0 takes to be one byte, and then dies.
_SPACES = {code: " " for code in range(128, 0x3001) if chr(code).isspace()}


def _pieces(text: str, language: str) -> list[str]:
    splitter = _splitter()
    if splitter is None or "\0" in text:
        return simple_pieces(text)
    code = re.split("[-_]", language.lower())[0]
    try:
        pieces = splitter(code, text.translate(_SPACES))
    except (KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except BaseException:  # what Rust calls a panic is no Exception
        return simple_pieces(text)
    lengths = [len(piece) for piece in pieces]
    if sum(lengths) != len(text):
        return simple_pieces(text)
    ends = [*accumulate(lengths)]
    return [text[end - length : end] for end, length in zip(ends, lengths, strict=True)]


def simple_pieces(text: str) -> list[str]:
    """Text cut after the ends of sentences, by the rules of the module alone."""
    pieces: list[str] = []
    start = 0
    for match in _END.finditer(text):
        stop = match.end()
        while stop < len(text) and text[stop].isspace():
            stop += 1
        before = text[max(start, match.end() - 12) : match.end()]
        goes_on = text[stop : stop + 1].islower() or (match[0] == "." and _BEFORE_STOP.search(before))
        if match[0][0] == "." and goes_on:
            continue
        pieces.append(text[start:stop])
        start = stop
    return [*pieces, text[start:]] if start < len(text) else pieces


def split_segment(
    segment: Segment, language: str = "", protect: Callable[[Segment], Segment] | None = None
) -> list[tuple[Segment, str]]:
    """The sentences of a segment, each with the white space after it; joined, their parts are those of the segment.

    No protected span is cut, nor what ``protect`` finds. Between two sentences a closing tag goes with the first, any
    other with the second. A pair of tags around several sentences is carried over: one sentence opens it, a later one
    closes it.
    """
    ends = _ends(segment, language)
    if ends and protect is not None:
        ends = _ends(protect(segment), language)
    return _cut(segment, ends)


def _ends(segment: Segment, language: str) -> list[tuple[int, int]]:
    mask, spans = _masked(segment)
    ends: list[tuple[int, int]] = []  # where a sentence stops, and where the next one starts
    position = 0
    for sentence, space in split_sentences(mask, language):
        stop = position + len(sentence)
        position = stop + len(space)
        inner = bisect_right(spans, (stop, len(mask))) - 1
        inside = inner >= 0 and spans[inner][0] < stop < spans[inner][1]
        if position < len(mask) and sentence and not inside:
            ends.append((stop, position))
    return ends


def _masked(segment: Segment) -> tuple[str, list[tuple[int, int]]]:
    """The text without tags, with letters in place of what is protected, and where protected spans lie."""
    text: list[str] = []
    spans: list[tuple[int, int]] = []
    length = 0
    for part in segment.parts:
        if isinstance(part, Tag):
            continue
        words = part if isinstance(part, str) else part.text
        if isinstance(part, Keep):
            spans.append((length, length + len(words)))
            if part.kind not in _LOOSE:
                words = "X" + "x" * (len(words) - 1) if words else ""
        text.append(words)
        length += len(words)
    return "".join(text), spans


def _cut(segment: Segment, ends: list[tuple[int, int]]) -> list[tuple[Segment, str]]:
    """The segment cut at these places of its text: where a sentence stops, and where the next one starts."""
    cutter = _Cutter(ends)
    for part in segment.parts:
        if isinstance(part, Tag):
            cutter.tag(part)
        elif isinstance(part, Keep):
            cutter.text(part.text, part.kind)
        else:
            cutter.text(part, None)
    return cutter.sentences()


class _Cutter:
    """Deals out parts to sentences, in their order."""

    def __init__(self, ends: list[tuple[int, int]]) -> None:
        self._ends = iter(ends)
        self._position = 0
        self._parts: list[list[Part]] = []
        self._spaces: list[str] = []
        self._next()

    def _next(self) -> None:
        self._parts.append([])
        self._spaces.append("")
        self._stop, self._start = next(self._ends, (sys.maxsize, sys.maxsize))

    def tag(self, tag: Tag) -> None:
        """A tag: at the end of a sentence, a closing one still belongs to it, and any that stands before the blank."""
        if self._position >= self._stop:
            at_its_end = self._position == self._stop and not self._spaces[-1]
            if not (at_its_end and (tag.kind == "close" or self._start > self._stop)):
                self._next()
        self._parts[-1].append(tag)

    def text(self, text: str, kind: str | None) -> None:
        """Words, or a protected span if a kind is given."""
        offset = 0
        while offset < len(text):
            if self._position < self._stop:
                piece = text[offset : offset + self._stop - self._position]
                self._parts[-1].append(piece if kind is None else Keep(piece, kind))
            elif self._position < self._start:
                piece = text[offset : offset + self._start - self._position]
                self._spaces[-1] += piece
            else:
                self._next()
                continue
            offset += len(piece)
            self._position += len(piece)

    def sentences(self) -> list[tuple[Segment, str]]:
        """What was dealt out. White space at the very end is behind the last sentence."""
        last = self._parts[-1]
        if last and isinstance(last[-1], str):
            bare = last[-1].rstrip()
            self._spaces[-1] = last[-1][len(bare) :] + self._spaces[-1]
            last[-1] = bare
        return [(Segment(tuple(join_strings(p))), space) for p, space in zip(self._parts, self._spaces, strict=True)]
