"""XML as a stream: no entity is resolved, nothing outside is read, and a fault is one line with its place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar
from xml.parsers import expat

from hopefear.corpus.entries import LONGEST_SEGMENT, Entry
from hopefear.corpus.pair import Pair
from hopefear.errors import InputError, input_error
from hopefear.util.files import printable

_DEEPEST = 200
_FED = 1 << 16  # bytes that the parser gets at a time


class XmlReader:
    """Hears elements and text, and lays finished pairs into ``ready``. Names come without their prefix."""

    CODES: ClassVar[frozenset[str]] = frozenset()  #: elements of native code: their text is left out
    BREAKS: ClassVar[frozenset[str]] = frozenset()  #: elements that stand where a blank, or a line break, was

    def __init__(self, entry: Entry) -> None:
        self.name = entry.name
        self.ready: list[Pair] = []
        self.line = 0
        self._text: list[str] | None = None  # of the segment that is being read
        self._length = 0
        self._codes = 0  # how many elements of native code are open

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """An element begins."""

    def end(self, name: str) -> None:
        """An element ended."""

    def open_segment(self) -> None:
        self._text, self._length, self._codes = [], 0, 0

    def close_segment(self) -> str:
        """The text of the segment without native codes, on one line."""
        text = " ".join("".join(self._text or ()).split())
        self._text = None
        return text

    @property
    def in_segment(self) -> bool:
        return self._text is not None

    def inline(self, name: str, step: int) -> None:
        """An element inside a segment begins (1) or ended (-1)."""
        self._codes += step * (name in self.CODES)
        if name in self.BREAKS and self._text is not None:
            self._text.append(" ")

    def text(self, data: str) -> None:
        if self._text is None or self._codes:
            return
        self._text.append(data)
        self._length += len(data)
        if self._length > LONGEST_SEGMENT:
            finding = f"a segment has more than {LONGEST_SEGMENT / 1e6:.0f} MB. Split it into sentences"
            raise input_error(self.name, self.line, finding)

    def finish(self) -> None:
        """The file is over: the place to say what it did not have."""


def read_xml(entry: Entry, reader: XmlReader) -> Iterator[Pair]:
    """The pairs that a reader makes of a file."""
    parser = _parser(reader)
    last, fed = b"", 0
    for piece in entry.pieces:
        for begin in range(0, len(piece), _FED):
            _feed(parser, reader, last, False)
            fed += len(last)
            if fed - parser.CurrentByteIndex > LONGEST_SEGMENT:  # it waits for the end of a tag or a comment
                finding = f"a tag or a comment has more than {LONGEST_SEGMENT / 1e6:.0f} MB. Was the file damaged?"
                raise input_error(reader.name, parser.CurrentLineNumber, f"{finding} Export it again")
            last = piece[begin : begin + _FED]
            yield from reader.ready
            reader.ready.clear()
    _feed(parser, reader, last, True)
    yield from reader.ready
    reader.finish()


def _parser(reader: XmlReader) -> Any:
    parser = expat.ParserCreate()
    parser.buffer_text = True
    depth = 0

    def start(name: str, attributes: Mapping[str, str]) -> None:
        nonlocal depth
        depth += 1
        reader.line = parser.CurrentLineNumber
        if depth > _DEEPEST:
            raise input_error(
                reader.name, reader.line, f"more than {_DEEPEST} elements inside each other. Not a corpus"
            )
        reader.start(name.rpartition(":")[2], attributes)

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1
        reader.end(name.rpartition(":")[2])

    def refuse(name: str, *_: object) -> None:
        line, entity = parser.CurrentLineNumber, printable(str(name))[:40]
        finding = f"the file defines or uses the entity {entity!r}, which could read other files or grow without end"
        raise input_error(reader.name, line, f"{finding}. Write the characters themselves")

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = reader.text
    parser.EntityDeclHandler = parser.SkippedEntityHandler = refuse
    return parser


def _feed(parser: Any, reader: XmlReader, data: bytes, last: bool) -> None:
    try:
        parser.Parse(data, last)
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        finding = f"the XML is damaged ({reason}). Was the file cut off? Export it again, or repair the line"
        raise input_error(reader.name, error.lineno, finding) from None
    except (LookupError, ValueError) as error:  # an encoding that Python does not know, or cannot give to the parser
        if isinstance(error, InputError):
            raise
        raise input_error(reader.name, 1, "the encoding of the XML is not known. Convert it to UTF-8") from None
