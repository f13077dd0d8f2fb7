"""Texts taken apart into sentences and put together again: running text with its line ends, and fragments of HTML."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from hopefear.documents.html_pages import read_html
from hopefear.documents.segment import Part, Segment, whole_words
from hopefear.documents.sentences import split_segment
from hopefear.translator.sentence import Made, Sentence

_WIDE_END = re.compile("[\u3002\uff01\uff1f\uff61][\u300d\u300f\u201d\u2019\uff09]*$")
_CELLS = re.compile(r"(\s*\t\s*)")


@dataclass(slots=True)
class Slot:
    """A sentence of a segment with the white space behind it. Without words it has nothing to translate."""

    source: Segment
    space: str
    sentence: Sentence | None
    followed: bool = False  #: by another one of its segment

    def space_behind(self, text: str) -> str:
        """The white space behind its translation. Chinese has none there, and a language with blanks needs one."""
        wide = self.followed and not self.space and _ends_wide(self.source.text) and not _ends_wide(text)
        return " " if wide else self.space

    def translated(self, made: Made) -> Sequence[Part]:
        """The parts of a translation; those of the source if it says the same."""
        same = bool(self.source.tags) and made.text == whole_words(self.source).text
        return self.source.parts if same else made.parts

    @property
    def length(self) -> int:
        """Characters of the source."""
        return len(self.source.text) + len(self.space)


def _ends_wide(text: str) -> bool:
    """Whether a text ends as a sentence of Chinese or Japanese does."""
    return _WIDE_END.search(text) is not None


@dataclass(frozen=True, slots=True)
class Reader:
    """How a translator reads: its language, what it protects, and what it makes of a sentence."""

    language: str
    protect: Callable[[Segment], Segment]
    read: Callable[[Segment], Sentence | None]

    def slots(self, segment: Segment) -> list[Slot]:
        """The sentences of a segment."""
        pieces = split_segment(segment, self.language, self.protect)
        return [Slot(part, space, self.read(part), n < len(pieces)) for n, (part, space) in enumerate(pieces, 1)]


def rendered(slots: Sequence[Slot], made: Sequence[Made]) -> Segment:
    """A segment again; ``made`` has the translations of those slots that have a sentence."""
    translations = iter(made)
    parts: list[Part] = []
    for slot in slots:
        own = slot.translated(next(translations)) if slot.sentence is not None else slot.source.parts
        parts += own
        parts.append(slot.space_behind(Segment(tuple(own)).text))
    return Segment(tuple(parts)).joined()


@dataclass
class Draft:
    """A text as slots, in rows (its lines, or the segments of a page)."""

    rows: list[list[Slot]]

    @property
    def sentences(self) -> list[Sentence]:
        """All that is to be translated."""
        return [slot.sentence for row in self.rows for slot in row if slot.sentence is not None]

    def row_texts(self, made: Sequence[Made]) -> list[Segment]:
        """The rows with these translations."""
        rows, at = [], 0
        for row in self.rows:
            count = sum(slot.sentence is not None for slot in row)
            rows.append(rendered(row, made[at : at + count]))
            at += count
        return rows

    def text(self, made: Sequence[Made]) -> str:
        """The text with these translations."""
        raise NotImplementedError

    def alignment(self, made: Sequence[Made]) -> list[tuple[int, int, int, int]]:
        """Spans of the source and the translation that belong together, in characters; none where markup is between."""
        return []


@dataclass
class TextDraft(Draft):
    """Running text, whose line ends stay."""

    ends: list[str] = field(default_factory=list)  #: behind each row

    @classmethod
    def of(cls, text: str, reader: Reader) -> TextDraft:
        """A text. What stands between ends of lines and tabs is a row; ``<b>`` and the like in it are tags."""
        rows, ends = [], []
        for line in text.splitlines(keepends=True):
            bare = line.rstrip("\r\n\v\f\x1c\x1d\x1e\x85\u2028\u2029")
            cells = _CELLS.split(bare) if "\t" in bare else [bare]
            for cell, end in zip(cells[::2], [*cells[1::2], line[len(bare) :]], strict=True):
                rows.append(reader.slots(Segment.of(cell)))
                ends.append(end)
        return cls(rows, ends)

    def text(self, made: Sequence[Made]) -> str:
        return "".join(row.text + end for row, end in zip(self.row_texts(made), self.ends, strict=True))

    def alignment(self, made: Sequence[Made]) -> list[tuple[int, int, int, int]]:
        translations = iter(made)
        spans = []
        begin = start = 0
        for row, end in zip(self.rows, self.ends, strict=True):
            for slot in row:
                shown = slot.source.text
                if slot.sentence is not None:
                    own = next(translations)
                    spans += [(a + begin, b + begin, c + start, d + start) for a, b, c, d in own.alignment]
                    shown = own.text
                begin += slot.length
                start += len(shown) + len(slot.space_behind(shown))
            begin += len(end)
            start += len(end)
        return spans


class HtmlDraft(Draft):
    """A piece of HTML."""

    def __init__(self, text: str, reader: Reader) -> None:
        self._page = read_html(text.encode("utf-8", "replace"), "text", "utf-8")
        super().__init__([reader.slots(segment) for segment in self._page.segments])

    def text(self, made: Sequence[Made]) -> str:
        segments = self._page.segments
        new = [
            row if source.fault_of(row) is None else None
            for source, row in zip(segments, self.row_texts(made), strict=True)
        ]
        return self._page.write(new).decode()
