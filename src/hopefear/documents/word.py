"""Word (.docx): paragraphs of the text, headers, footers, footnotes and endnotes, also in boxes and tables.

A paragraph is a segment. What has another format than most of it, a link, an insertion is a pair of tags; a picture, a
tab, a line break, the mark of a footnote is a tag. Deleted text, fields and formulas stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from hopefear.documents.document import TextDocument
from hopefear.documents.encoding import decode
from hopefear.documents.markup import attributes, check_xml, tokens
from hopefear.documents.packages import Package
from hopefear.documents.paragraphs import paragraph_holes
from hopefear.documents.segment import Segment
from hopefear.errors import input_error

_MAIN = re.compile(r"(?:wordprocessingml|ms-word)\.(?:document|template)(?:\.macroEnabled)?\.main\+xml$")
_PARTS = re.compile(r"wordprocessingml\.(?:header|footer|footnotes|endnotes)\+xml$")
_ENCODING = re.compile(r"<\?xml[^>]+encoding\s*=\s*[\"']([\w.:-]+)")
_TYPES = "[Content_Types].xml"


def read_docx(data: bytes, name: str) -> WordDocument:
    """A document of Word, or of what saves as Word does."""
    package = Package(data, name)
    members = _members(package, name)
    parts = []
    for member in members:
        text, coding = decode(package.read(member), f"{name}: {member}", None, _declared)
        check_xml(text, f"{name}: {member}")
        parts.append((member, TextDocument(f"{name}: {member}", text, coding, paragraph_holes(text), references=True)))
    return WordDocument(name, package, parts)


def _declared(head: str) -> str | None:
    match = _ENCODING.search(head)
    return match[1] if match else None


def _members(package: Package, name: str) -> list[str]:
    """The members that have text, the main one first."""
    if _TYPES not in package.names:
        raise input_error(name, None, "is a zip file, but not a Word document. Save it as .docx")
    text, _ = decode(package.read(_TYPES), f"{name}: {_TYPES}", None, _declared)
    check_xml(text, f"{name}: {_TYPES}")
    main: list[str] = []
    more: list[str] = []
    for token in tokens(text, xml=True):
        if token.kind in ("open", "empty") and token.name.rpartition(":")[2] == "Override":
            given = {a.name: a.value for a in attributes(text, token)}
            member, kind = given.get("PartName", "").lstrip("/"), given.get("ContentType", "")
            if member in package.names:
                main += [member] if _MAIN.search(kind) else []
                more += [member] if _PARTS.search(kind) else []
    if not main:
        raise input_error(name, None, "is a zip file, but not a Word document. Save it as .docx")
    return [*main, *sorted(more)]


class WordDocument:
    """A package whose parts are documents."""

    def __init__(self, name: str, package: Package, parts: Sequence[tuple[str, TextDocument]]) -> None:
        self._name, self._package, self._parts = name, package, parts
        self._unwritten: list[tuple[int, str]] = []

    @property
    def segments(self) -> list[Segment]:
        """The paragraphs of all parts."""
        return [segment for _, part in self._parts for segment in part.segments]

    @property
    def unwritten(self) -> list[tuple[int, str]]:
        """Nothing: the parts can take any character."""
        return self._unwritten

    def place(self, index: int) -> str:
        """File, part and number of the paragraph that has text."""
        for member, part in self._parts:
            if index < len(part.segments):
                return f"{self._name}: {member}, paragraph {index + 1} with text"
            index -= len(part.segments)
        raise IndexError(index)

    def write(self, translated: Sequence[Segment | None]) -> bytes:
        """The document with these paragraphs."""
        if len(translated) != len(self.segments):
            raise ValueError(f"{len(translated)} translations for {len(self.segments)} segments")
        changed: dict[str, bytes] = {}
        start = 0
        for member, part in self._parts:
            stop = start + len(part.segments)
            old, new = part.write([None] * (stop - start)), part.write(translated[start:stop])
            if new != old:
                changed[member] = new
            start = stop
        return self._package.rewritten(changed)
