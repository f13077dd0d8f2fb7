"""A document: its bytes, and the places in it where text stands that is to be translated.

Nothing is taken apart and put together again: a writer copies the text of the file and replaces the places whose
translation differs. So a translation that changes nothing gives the same bytes.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from hopefear.documents.encoding import LINE_END, Coding
from hopefear.documents.segment import Part, Segment, Tag

Render = Callable[[Segment], str]


class Document(Protocol):
    """What every format gives: segments, and the bytes of the same file with other segments."""

    @property
    def segments(self) -> list[Segment]:
        """What is to be translated, in the order of the file."""
        ...

    def place(self, index: int) -> str:
        """Where a segment stands, as a message says it: ``page.html:12``."""
        ...

    def write(self, translated: Sequence[Segment | None]) -> bytes:
        """The file with these segments; None leaves a place as it is."""
        ...

    @property
    def unwritten(self) -> list[tuple[int, str]]:
        """After :meth:`write`: segments that the encoding could not take, and why. They are as they were."""
        ...


@dataclass(eq=False)
class Hole:
    """A place in the text of a file, and how a segment is written there.

    ``inner`` are places inside a tag of the segment (its attributes), each with the tag, and where the stretch of the
    file starts and stops that the tag has of it. A hole with ``always`` is written also when the translation is the
    same: the target of a file that has both languages.
    """

    start: int
    stop: int
    segment: Segment
    render: Render
    inner: list[tuple[Tag, int, int, Hole]] = field(default_factory=list)
    always: bool = False

    def all(self) -> Iterator[Hole]:
        """This hole and those inside it."""
        yield self
        for *_, hole in self.inner:
            yield from hole.all()


class TextDocument:
    """A document that is one text with holes."""

    def __init__(self, name: str, text: str, coding: Coding, holes: Sequence[Hole], references: bool = False) -> None:
        self._name, self._text, self._coding = name, text, coding
        self._top = sorted(holes, key=lambda hole: (hole.start, hole.stop))
        self._holes = [hole for top in self._top for hole in top.all()]
        self._errors = "xmlcharrefreplace" if references else "strict"
        self._lines: list[int] = []
        self._unwritten: list[tuple[int, str]] = []

    @property
    def segments(self) -> list[Segment]:
        """What is to be translated."""
        return [hole.segment for hole in self._holes]

    @property
    def unwritten(self) -> list[tuple[int, str]]:
        """Segments that the encoding could not take."""
        return self._unwritten

    def place(self, index: int) -> str:
        """File and line of a segment."""
        if not self._lines:
            self._lines = [0, *(match.end() for match in LINE_END.finditer(self._text))]
        return f"{self._name}:{bisect_right(self._lines, self._holes[index].start)}"

    def write(self, translated: Sequence[Segment | None]) -> bytes:
        """The file with these segments."""
        return self._coding.encode(self.rewritten(translated), self._errors)

    def rewritten(self, translated: Sequence[Segment | None]) -> str:
        """The text of the file with these segments."""
        if len(translated) != len(self._holes):
            raise ValueError(f"{len(translated)} translations for {len(self._holes)} segments")
        new = dict(zip(map(id, self._holes), translated, strict=True))
        numbers = {id(hole): i for i, hole in enumerate(self._holes)}
        self._unwritten = []
        edits: list[tuple[int, int, str]] = []
        for hole in self._top:
            edits += self._edits(hole, new, numbers)
        return _edited(self._text, 0, len(self._text), edits)

    def _edits(self, hole: Hole, new: dict[int, Segment | None], numbers: dict[int, int]) -> list[tuple[int, int, str]]:
        """What a hole and those inside it replace."""
        inside: list[tuple[int, int, str]] = []
        tags: dict[Tag, str] = {}
        for tag, start, stop, inner in hole.inner:
            edits = self._edits(inner, new, numbers)
            inside += edits
            if edits:
                known = [edit for edit in inside if start <= edit[0] < stop]
                tags[tag] = tag.text.replace(self._text[start:stop], _edited(self._text, start, stop, known), 1)
        segment = new[id(hole)]
        if segment is None or (not hole.always and segment.loose() == hole.segment.loose()):
            return inside
        parts: list[Part] = [
            Tag(tags[part], part.kind, part.id) if isinstance(part, Tag) and part in tags else part
            for part in segment.joined().parts
        ]
        written = hole.render(Segment(tuple(parts)))
        try:
            written.encode(self._coding.name, self._errors)
        except UnicodeEncodeError as error:
            reason = f"{self._coding.name} has no {error.object[error.start]!r}. Convert the file to UTF-8"
            self._unwritten.append((numbers[id(hole)], reason))
            return inside
        return [(hole.start, hole.stop, written)]


def _edited(text: str, start: int, stop: int, edits: list[tuple[int, int, str]]) -> str:
    """A stretch of text with replacements."""
    pieces: list[str] = []
    for left, right, new in sorted(edits):
        pieces += [text[start:left], new]
        start = right
    pieces.append(text[start:stop])
    return "".join(pieces)


def plain_text(segment: Segment, escape: Callable[[str], str] = str, blank: str = " ") -> str:
    """A segment as text: words escaped, tags and raw markup as they are; ``blank`` replaces blanks inside those.

    With a ``blank`` that no text has, lines can be broken without breaking a tag or a protected span.
    """
    pieces: list[str] = []
    for part in segment.parts:
        if isinstance(part, str):
            pieces.append(escape(part))
        else:
            raw = isinstance(part, Tag) or part.kind == "markup"
            pieces.append((part.text if raw else escape(part.text)).replace(" ", blank))
    return "".join(pieces)


#: Stands for a blank at which no line may be broken, while lines are broken.
UNBROKEN = "\ue000"
