"""Message catalogues of gettext (.po): ``msgstr`` is filled from ``msgid``, the forms of a plural from both.

Filled are entries without a translation and those marked fuzzy, which lose the mark; with ``everything``, all. Each
line of a message is a text of its own.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from hopefear.documents.document import plain_text
from hopefear.documents.encoding import Coding, decode
from hopefear.documents.segment import Segment
from hopefear.documents.wrapping import Line, lines_of, width
from hopefear.errors import input_error

_KEYWORD = re.compile(r'[ \t]*(msgctxt|msgid_plural|msgid|msgstr(?:\[\d+\])?)[ \t]*("(?:[^"\\]|\\.)*+")[ \t]*$')
_MORE = re.compile(r'[ \t]*("(?:[^"\\]|\\.)*+")[ \t]*$')
_CHARSET = re.compile(r"Content-Type:[^\"\n]*?charset=([\w.:-]+)", re.IGNORECASE)
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|[0-7]{1,3}|.)", re.DOTALL)
_PLAIN = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_WIDTH = 79


@dataclass(slots=True)
class _Field:
    """``msgid`` and the like: its text, and where its lines stand."""

    text: str
    start: int
    stop: int


@dataclass(slots=True)
class _Entry:
    fields: dict[str, _Field] = field(default_factory=dict)
    flags: list[Line] = field(default_factory=list)


@dataclass(slots=True)
class _Target:
    """A ``msgstr`` to fill: where it stands, the lines that go into it, and which of them are segments."""

    keyword: str
    place: _Field
    lines: list[str]
    segments: list[tuple[int, int]]  # (line, segment)
    flags: list[Line]


def read_po(data: bytes, name: str, encoding: str | None = None, everything: bool = False) -> PoDocument:
    """A catalogue."""

    def declared(head: str) -> str | None:
        match = _CHARSET.search(head)
        return match[1] if match and match[1].upper() != "CHARSET" else None

    text, coding = decode(data, name, encoding, declared)
    return PoDocument(name, text, coding, _entries(text, name), everything)


def _entries(text: str, name: str) -> list[_Entry]:
    entries = [_Entry()]
    current: _Field | None = None
    for number, line in enumerate(lines_of(text), 1):
        row = text[line.start : line.stop]
        bare = row.strip()
        if not bare or bare.startswith("#"):
            current = None
            if not bare and not entries[-1].fields:
                entries[-1].flags.clear()
            if bare.startswith("#,"):
                if "msgid" in entries[-1].fields:
                    entries.append(_Entry())
                entries[-1].flags.append(line)
            continue
        match = _KEYWORD.match(row)
        if match:
            keyword = match[1]
            if keyword in entries[-1].fields or (keyword == "msgctxt" and "msgid" in entries[-1].fields):
                entries.append(_Entry())
            current = _Field(_unescaped(match[2]), line.start, line.stop)
            entries[-1].fields[keyword] = current
        elif current is not None and (more := _MORE.match(row)):
            current.text += _unescaped(more[1])
            current.stop = line.stop
        else:
            raise input_error(name, number, 'is neither a comment nor msgid "..." nor a continuing "...". Correct it')
    return entries


def _unescaped(quoted: str) -> str:
    def character(match: re.Match[str]) -> str:
        code = match[1]
        if code[0] == "x" and len(code) > 1:
            return chr(int(code[1:], 16))
        return chr(int(code, 8)) if code[0] in "01234567" else _PLAIN.get(code, code)

    return _ESCAPE.sub(character, quoted[1:-1])


def _escaped(text: str) -> str:
    text = text.replace("\\", "\\\\").replace('"', '\\"')
    return text.replace("\t", "\\t").replace("\r", "\\r").replace("\n", "\\n")


class PoDocument:
    """A catalogue, with the messages to translate."""

    def __init__(self, name: str, text: str, coding: Coding, entries: list[_Entry], everything: bool) -> None:
        self._name, self._text, self._coding = name, text, coding
        self._end = "\r\n" if "\r\n" in text else "\n"
        self._segments: list[Segment] = []
        self._starts: list[int] = []
        self._targets: list[_Target] = []
        self._unwritten: list[tuple[int, str]] = []
        self._lines: list[int] = []
        for entry in entries:
            self._add(entry, everything)

    def _add(self, entry: _Entry, everything: bool) -> None:
        source = entry.fields.get("msgid")
        if source is None or not source.text:
            return
        plural = entry.fields.get("msgid_plural", source)
        fuzzy = any("fuzzy" in _flags(self._text, line) for line in entry.flags)
        forms = [keyword for keyword in entry.fields if keyword.startswith("msgstr")]
        for keyword in forms:
            place = entry.fields[keyword]
            if place.text and not fuzzy and not everything:
                continue
            text = source.text if keyword == "msgstr" or (keyword == "msgstr[0]" and len(forms) > 1) else plural.text
            lines = text.split("\n")
            target = _Target(keyword, place, lines, [], entry.flags if fuzzy else [])
            for k, line in enumerate(lines):
                segment = Segment.of(line.strip())
                if segment.has_words:
                    target.segments.append((k, len(self._segments)))
                    self._segments.append(segment)
                    self._starts.append(source.start)
            if target.segments:
                self._targets.append(target)

    @property
    def segments(self) -> list[Segment]:
        """The lines of messages that have no translation yet."""
        return self._segments

    @property
    def unwritten(self) -> list[tuple[int, str]]:
        """Segments that the encoding could not take."""
        return self._unwritten

    def place(self, index: int) -> str:
        """File and line of the ``msgid`` of a segment."""
        if not self._lines:
            self._lines = [line.start for line in lines_of(self._text)]
        return f"{self._name}:{bisect_right(self._lines, self._starts[index])}"

    def write(self, translated: Sequence[Segment | None]) -> bytes:
        """The catalogue with these messages. A message of which a line is None stays as it is."""
        if len(translated) != len(self._segments):
            raise ValueError(f"{len(translated)} translations for {len(self._segments)} segments")
        self._unwritten = []
        edits: dict[tuple[int, int], str] = {}
        for target in self._targets:
            lines = list(target.lines)
            new = [(k, i, translated[i]) for k, i in target.segments]
            if any(segment is None for _, _, segment in new):
                continue
            for k, _, segment in new:
                assert segment is not None
                bare = lines[k].strip()
                start = lines[k].index(bare)
                lines[k] = lines[k][:start] + plain_text(segment).replace("\n", " ") + lines[k][start + len(bare) :]
            text = "\n".join(lines)
            try:
                text.encode(self._coding.name)
            except UnicodeEncodeError as error:
                reason = f"{self._coding.name} has no {error.object[error.start]!r}. Convert the file to UTF-8"
                self._unwritten += [(i, reason) for _, i, _ in new]
                continue
            edits[target.place.start, target.place.stop] = self._written(target.keyword, text, target.place)
            for line in target.flags:
                edits[line.start, line.next] = _without_fuzzy(self._text, line)
        pieces, position = [], 0
        for (start, stop), written in sorted(edits.items()):
            pieces += [self._text[position:start], written]
            position = stop
        return self._coding.encode("".join([*pieces, self._text[position:]]))

    def _written(self, keyword: str, text: str, place: _Field) -> str:
        """As gettext writes it: in one line if that is enough, else a line for each line and of at most 79 columns."""
        if text == place.text:
            return self._text[place.start : place.stop]
        simple = f'{keyword} "{_escaped(text)}"'
        if "\n" not in text[:-1] and width(simple) <= _WIDTH:
            return simple
        rows = [f'{keyword} ""']
        for line in re.findall("[^\n]*\n|[^\n]+", text):
            row = ""
            for word in re.findall(r"\S*\s*", _escaped(line)):
                if row and width(row + word) > _WIDTH - 2:
                    rows.append(f'"{row}"')
                    row = ""
                row += word
            rows.append(f'"{row}"')
        return self._end.join(rows)


def _flags(text: str, line: Line) -> list[str]:
    return [flag.strip() for flag in text[line.start : line.stop].strip()[2:].split(",")]


def _without_fuzzy(text: str, line: Line) -> str:
    flags = [flag for flag in _flags(text, line) if flag != "fuzzy"]
    return f"#, {', '.join(flags)}{text[line.stop : line.next]}" if flags else ""
