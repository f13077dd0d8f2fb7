"""XLIFF 1.2 and 2.x: targets are filled from sources; inline elements are tags.

Filled are units without a target, with an empty one, or one whose state says that it is to be translated; with
``everything``, all. What is marked ``translate="no"`` stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from hopefear.documents.document import Hole, TextDocument, plain_text
from hopefear.documents.encoding import decode
from hopefear.documents.markup import Token, attributes, check_xml, escape, spellings, tokens, unescape_xml
from hopefear.documents.segment import Keep, Part, Segment, Tag, TagKind, join_strings, pair_tags
from hopefear.errors import input_error

_ENCODING = re.compile(r"<\?xml[^>]+encoding\s*=\s*[\"']([\w.:-]+)")
_UNITS = frozenset(["trans-unit", "segment"])
_ASIDE = frozenset(["alt-trans", "matches", "ignorable", "originalData", "note", "notes", "glossary"])
_WHOLE = frozenset(["ph", "it", "bpt", "ept", "cp", "sub"])  # code of another format, or nothing at all
_OPENING = frozenset(["bx", "bpt", "sc", "sm"])
_CLOSING = frozenset(["ex", "ept", "ec", "em"])
_FAMILY = {"bx": "x", "ex": "x", "bpt": "pt", "ept": "pt", "sc": "c", "ec": "c", "sm": "m", "em": "m"}
_TO_DO = frozenset(["new", "needs-translation", "initial"])
_STATE = re.compile(r"""(\sstate\s*=\s*["'])(?:new|needs-translation)(["'])""")


def read_xliff(data: bytes, name: str, encoding: str | None = None, everything: bool = False) -> TextDocument:
    """An XLIFF file."""

    def declared(head: str) -> str | None:
        match = _ENCODING.search(head)
        return match[1] if match else None

    text, coding = decode(data, name, encoding, declared)
    check_xml(text, name, doctype=True)
    row = list(tokens(text, xml=True))
    root = next((_local(token.name) for token in row if token.kind in ("open", "empty")), "")
    if root != "xliff":
        raise input_error(
            name, 1, f"is XML, but not XLIFF: its first element is {root or 'missing'}. Give an XLIFF file"
        )
    holes = [hole for unit in _units(text, row) for hole in unit.holes(text, row, everything)]
    return TextDocument(name, text, coding, holes, references=True)


def _local(name: str) -> str:
    return name.rpartition(":")[2]


@dataclass(slots=True)
class _Element:
    """An element, by the numbers of its first and last token."""

    name: str
    first: int
    last: int = -1


@dataclass(slots=True)
class _Unit:
    """A unit with its source and target."""

    state: str
    source: _Element | None = None
    segmented: _Element | None = None
    target: _Element | None = None
    parts: list[_Element] = field(default_factory=list)

    def holes(self, text: str, row: list[Token], everything: bool) -> Iterator[Hole]:
        source = self.segmented or self.source
        if source is None or source.last < 0 or source.last == source.first:
            return
        target = self.target
        if target is not None and not everything:
            has_text = any(
                token.kind == "cdata" or (token.kind == "text" and text[token.start : token.stop].strip())
                for token in row[target.first + 1 : target.last]
            )
            given = {_local(a.name): a.value for a in attributes(text, row[target.first])}
            if has_text and given.get("state", "") not in _TO_DO:
                return
        parts = _parts(text, row, source.first + 1, source.last)
        raw = text[row[source.first].stop : row[source.last].start]
        lead, trail, segment = _stripped(Segment(tuple(join_strings(parts))))
        if not segment.has_words:
            return
        spelling = spellings(raw)
        opening, start, stop = self._target_tag(text, row, source)
        closing = f"</{row[target.first if target else source.first].name}>"
        if target is None:
            closing = f"</{_prefix(row[source.first].name)}target>"

        def render(new: Segment) -> str:
            return opening + lead + plain_text(new, lambda words: escape(words, spelling)) + trail + closing

        yield Hole(start, stop, segment, render, always=True)

    def _target_tag(self, text: str, row: list[Token], source: _Element) -> tuple[str, int, int]:
        """The opening tag of the target, and the place of the whole target in the file."""
        if self.target is not None:
            tag = row[self.target.first]
            opening = _STATE.sub(r"\1translated\2", re.sub(r"\s*/>$", ">", text[tag.start : tag.stop]))
            return opening, tag.start, row[max(self.target.last, self.target.first)].stop
        place = row[source.last].stop
        start = row[source.first].start
        line = text.rfind("\n", 0, start) + 1
        indent = text[line:start]
        before = ""
        if not indent.strip():
            before = ("\r\n" if text[line - 2 : line] == "\r\n" else "\n") + indent if line else ""
        return f"{before}<{_prefix(row[source.first].name)}target>", place, place


def _prefix(name: str) -> str:
    return name[: name.rfind(":") + 1]


def _stripped(segment: Segment) -> tuple[str, str, Segment]:
    """White space before and after a segment, and the segment without."""
    parts = list(segment.parts)
    lead = trail = ""
    if parts and isinstance(parts[0], str):
        bare = parts[0].lstrip()
        lead, parts[0] = parts[0][: len(parts[0]) - len(bare)], bare
    if parts and isinstance(parts[-1], str):
        bare = parts[-1].rstrip()
        trail, parts[-1] = parts[-1][len(bare) :], bare
    return lead, trail, Segment(tuple(join_strings(parts)))


def _units(text: str, row: list[Token]) -> Iterator[_Unit]:
    """The units of a file that are to be translated."""
    stack: list[tuple[str, bool]] = []  # name, and whether what it holds is translated
    unit: _Unit | None = None
    element: _Element | None = None
    aside = 0
    for i, token in enumerate(row):
        name = _local(token.name)
        if token.kind in ("open", "empty"):
            given = {_local(a.name): a.value for a in attributes(text, token)}
            wanted = given.get("translate", "yes" if not stack or stack[-1][1] else "no") != "no"
            if name in _ASIDE:
                aside += token.kind == "open"
            elif not aside and name in _UNITS and element is None:
                unit = _Unit(given.get("state", "")) if wanted else None
            elif not aside and unit is not None and element is None and name in ("source", "target", "seg-source"):
                found = _Element(name, i, i if token.kind == "empty" else -1)
                setattr(unit, {"seg-source": "segmented"}.get(name, name), found)
                element = found if token.kind == "open" else None
            if token.kind == "open":
                stack.append((name, wanted))
        elif token.kind == "close":
            stack.pop()
            if name in _ASIDE:
                aside -= 1
            elif element is not None and name == element.name and not aside:
                element.last, element = i, None
            elif name in _UNITS and unit is not None and not aside and element is None:
                yield unit
                unit = None


def _parts(text: str, row: list[Token], i: int, stop: int) -> list[Part]:
    """The content of a source: words, spans and tags."""
    parts: list[Part] = []
    names: dict[int, str] = {}

    def tag(start: int, end: int, kind: TagKind, name: str) -> None:
        names[len(parts)] = name
        parts.append(Tag(text[start:end], kind, len(parts)))

    while i < stop:
        token = row[i]
        name = _local(token.name)
        raw = text[token.start : token.stop]
        if token.kind == "text":
            parts.append(unescape_xml(raw))
        elif token.kind == "cdata":
            parts.append(raw[9:-3])
        elif token.kind == "close":
            tag(token.start, token.stop, "close", name)
        elif token.kind == "other":
            tag(token.start, token.stop, "empty", "")
        else:
            given = {_local(a.name): a.value for a in attributes(text, token)}
            protected = given.get("translate") == "no" or given.get("mtype") == "protected"
            last = _end(row, i) if token.kind == "open" and (name in _WHOLE or protected) else i
            if protected:
                parts.append(Keep(text[token.start : row[last].stop], "markup"))
            else:
                key = given.get("rid") or given.get("startRef") or given.get("id") or ""
                kind: TagKind = "open" if name in _OPENING else "close" if name in _CLOSING else "empty"
                if token.kind == "open" and name not in _WHOLE:
                    tag(token.start, token.stop, "open", name)
                else:
                    tag(token.start, row[last].stop, kind, f"{_FAMILY.get(name, name)} {key}")
            i = last
        i += 1
    return pair_tags(parts, lambda each: names[each.id])


def _end(row: list[Token], i: int) -> int:
    """The token that closes the element which one opens."""
    depth = 0
    for k in range(i, len(row)):
        depth += (row[k].kind == "open") - (row[k].kind == "close")
        if depth == 0:
            return k
    raise AssertionError("the XML was found well-formed")
