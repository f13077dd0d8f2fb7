"""HTML: the text of blocks, with inline elements as tags, and of attributes that are read.

``script``, ``style``, ``pre``, ``code``, ``svg`` and what is marked ``translate="no"`` or ``class="notranslate"`` stay.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from hopefear.documents.document import Hole, TextDocument, plain_text
from hopefear.documents.encoding import decode
from hopefear.documents.markup import Attribute, Token, attributes, escape, escape_attribute, spellings, tokens
from hopefear.documents.segment import VOID, Keep, Part, Segment, Tag, TagKind, pair_tags

_BLOCKS = frozenset(
    """address article aside audio base blockquote body button canvas caption center col colgroup datalist dd details
    dialog dir div dl dt embed fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head
    header hgroup hr html iframe input label legend li link main map menu meta meter nav noscript object ol
    optgroup option output p param picture progress search section select slot source style script summary
    table tbody td template textarea tfoot th thead title tr track ul video""".split()  # noqa: SIM905
)
_KEPT_BLOCKS = frozenset(["pre", "svg", "math", "textarea", "script", "style", "iframe", "xmp", "listing", "plaintext"])
_KEPT_INLINE = frozenset(["code", "kbd", "samp", "var", "tt"])
_READ = frozenset(["alt", "title", "placeholder", "aria-label", "aria-description", "aria-placeholder"])
_META = frozenset(["description", "keywords", "og:title", "og:description", "twitter:title", "twitter:description"])
_CHARSET = re.compile(
    r"<meta[^>]+charset\s*=\s*[\"']?\s*([\w.:-]+)|<\?xml[^>]+encoding\s*=\s*[\"']([\w.:-]+)", re.IGNORECASE
)
_SPACE = re.compile(r"(?:\s|&nbsp;|&#160;|&#xa0;)*+", re.IGNORECASE)
_TRAILING = re.compile(r"(?:\s|&nbsp;|&#160;|&#xa0;)*+$", re.IGNORECASE)


def read_html(data: bytes, name: str, encoding: str | None = None) -> TextDocument:
    """A page."""
    text, coding = decode(data, name, encoding, _declared)
    return TextDocument(name, text, coding, html_holes(text), references=True)


def _declared(head: str) -> str | None:
    match = _CHARSET.search(re.sub("<!--.*?-->", "", head, flags=re.DOTALL))
    charset = (match[1] or match[2]) if match else None
    return "utf-8" if charset and charset.lower().startswith("utf-16") else charset  # it has no mark: browsers do so


@dataclass(slots=True)
class _Item:
    """A part of a run, with its place in the file."""

    part: Part
    start: int
    stop: int


@dataclass
class _Run:
    """Text and inline markup between two blocks."""

    items: list[_Item] = field(default_factory=list)
    inner: list[tuple[int, Hole]] = field(default_factory=list)  # attributes, by where their tag starts


def html_holes(text: str, start: int = 0, stop: int | None = None) -> list[Hole]:
    """The places of a page, or of a stretch of it."""
    piece = text if start == 0 and stop is None else text[start:stop]
    reader = _Reader(piece)
    reader.read()
    for hole in reader.holes:
        _shift(hole, start)
    return reader.holes


def _shift(hole: Hole, by: int) -> None:
    hole.start += by
    hole.stop += by
    hole.inner = [(tag, start + by, stop + by, inner) for tag, start, stop, inner in hole.inner]
    for *_, inner in hole.inner:
        _shift(inner, by)


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(tokens(text))
        self._partner = _partners(self._tokens)
        self._run = _Run()
        self.holes: list[Hole] = []

    def read(self) -> None:
        i = 0
        while i < len(self._tokens):
            token = self._tokens[i]
            if token.kind in ("open", "empty"):
                i = self._tag(i)
                continue
            if token.kind == "text":
                self._add(_words(self._text[token.start : token.stop]), token.start, token.stop)
            elif token.kind == "close" and token.name not in _BLOCKS:
                self._add(Tag(self._text[token.start : token.stop], "close", 0), token.start, token.stop)
            elif token.kind in ("other", "cdata") and self._run.items:
                self._add(Tag(self._text[token.start : token.stop], "empty", 0), token.start, token.stop)
            elif token.kind == "close":
                self._flush()
            i += 1
        self._flush()

    def _add(self, part: Part, start: int, stop: int) -> None:
        self._run.items.append(_Item(part, start, stop))

    def _tag(self, i: int) -> int:
        """A tag at the start of an element, or all of an element that stays; the number of the token that follows."""
        token = self._tokens[i]
        given = {a.name.lower(): a for a in reversed(attributes(self._text, token))}
        marked = _value(given, "translate").lower() == "no" or "notranslate" in _value(given, "class").split()
        block = token.name in _BLOCKS or token.name in _KEPT_BLOCKS
        last = self._partner.get(i)
        if (marked or token.name in _KEPT_BLOCKS or token.name in _KEPT_INLINE) and (last or token.kind == "empty"):
            stop = self._tokens[last or i].stop
            if block:
                self._flush()
            else:
                self._add(Keep(self._text[token.start : stop], "markup"), token.start, stop)
            return (last or i) + 1
        if block:
            self._flush()
        else:
            self._add(Tag(self._text[token.start : token.stop], _kind(token), 0), token.start, token.stop)
        for attribute in given.values():
            if attribute.value.strip() and _is_read(token.name, attribute.name.lower(), given):
                hole = self._attribute(attribute.start, attribute.stop)
                if hole is not None and block:
                    self.holes.append(hole)
                elif hole is not None:
                    self._run.inner.append((token.start, hole))
        return i + 1

    def _attribute(self, start: int, stop: int) -> Hole | None:
        raw = self._text[start:stop]
        quote = raw[0] if raw[0] in "\"'" else ""
        bare = raw[1:-1] if quote else raw
        segment = Segment((html.unescape(bare),))
        spelling = spellings(bare)
        if not segment.has_words:
            return None
        return Hole(start, stop, segment, lambda new: escape_attribute(new.text, spelling, quote or '"'))

    def _flush(self) -> None:
        run, self._run = self._run, _Run()
        parts = pair_tags([item.part for item in run.items], lambda tag: tag.text.strip("</>").split()[0].lower())
        items = [_Item(part, item.start, item.stop) for part, item in zip(parts, run.items, strict=True)]
        items = _trimmed(items, self._text)
        segment = Segment(tuple(item.part for item in items)).joined()
        if not segment.has_words:
            self.holes += [hole for _, hole in run.inner]
            return
        start, stop = items[0].start, items[-1].stop
        spelling = spellings(self._text[start:stop])
        hole = Hole(start, stop, segment, lambda new: plain_text(new, lambda words: escape(words, spelling)))
        tags = {item.start: item.part for item in items}
        for place, attribute in run.inner:
            tag = tags.get(place)
            if isinstance(tag, Tag):
                hole.inner.append((tag, place, place + len(tag.text), attribute))
            else:
                self.holes.append(attribute)
        self.holes.append(hole)


def _partners(row: list[Token]) -> dict[int, int]:
    """For each opening tag the number of the token that closes it."""
    result: dict[int, int] = {}
    opened: dict[str, list[int]] = {}
    for i, token in enumerate(row):
        if token.kind == "open":
            opened.setdefault(token.name, []).append(i)
        elif token.kind == "close" and opened.get(token.name):
            result[opened[token.name].pop()] = i
    return result


def _value(given: Mapping[str, Attribute], name: str) -> str:
    return given[name].value if name in given else ""


def _kind(token: Token) -> TagKind:
    return "empty" if token.kind == "empty" or token.name in VOID else "open"


def _is_read(element: str, attribute: str, given: Mapping[str, Attribute]) -> bool:
    if attribute in _READ:
        return True
    if element == "meta" and attribute == "content":
        return (_value(given, "name") or _value(given, "property")).lower() in _META
    if attribute == "label":
        return element in ("option", "optgroup", "track")
    return (
        attribute == "value" and element == "input" and _value(given, "type").lower() in ("submit", "button", "reset")
    )


def _trimmed(items: list[_Item], text: str) -> list[_Item]:
    """Items without white space, tags that stand alone and pairs around everything at their edges."""
    first, last = 0, len(items) - 1
    while first <= last:
        left, right = items[first], items[last]
        if _is_loose(left.part):
            first += 1
        elif _is_loose(right.part):
            last -= 1
        elif isinstance(left.part, Tag) and isinstance(right.part, Tag) and left.part.id == right.part.id:
            first, last = first + 1, last - 1
        else:
            break
    result = items[first : last + 1]
    if result and isinstance(result[0].part, str):
        space = _SPACE.match(text, result[0].start, result[0].stop)
        start = space.end() if space else result[0].start
        result[0] = _Item(_words(text[start : result[0].stop]), start, result[0].stop)
    if result and isinstance(result[-1].part, str):
        raw = text[result[-1].start : result[-1].stop]
        stop = result[-1].start + len(_TRAILING.sub("", raw))
        result[-1] = _Item(_words(text[result[-1].start : stop]), result[-1].start, stop)
    return result


def _words(raw: str) -> str:
    return html.unescape(re.sub("[ \t\r\n\f]+", " ", raw))


def _is_loose(part: Part) -> bool:
    return not part.strip() if isinstance(part, str) else isinstance(part, Tag) and part.kind == "empty"
