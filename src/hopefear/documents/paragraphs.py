"""The paragraphs of a part of a Word document: runs to segments, and segments to runs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from hopefear.documents.document import Hole
from hopefear.documents.markup import Token, escape, tokens, unescape_xml
from hopefear.documents.segment import Keep, Part, Segment, Tag, TagKind, join_strings, pair_tags

_MAIN = re.compile(
    r"xmlns:([\w.-]+)\s*=\s*[\"'](?:http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    r"|http://purl.oclc.org/ooxml/wordprocessingml/main)[\"']"
)
_AROUND = frozenset(["hyperlink", "ins", "moveTo", "smartTag", "customXml", "dir", "bdo", "sdt", "sdtContent"])
_DROPPED = frozenset(["proofErr", "lastRenderedPageBreak", "pPr", "rPr"])
_CHARACTERS = {"noBreakHyphen": "\u2011", "softHyphen": "\u00ad"}
_NO_FORMAT = re.compile(r"<[\w.-]+:(?:lang|noProof|webHidden)\b[^>]*/>")  # of a run, but not seen
_FORM = re.compile(r"<[\w.-]+:(?:dropDownList|comboBox|date|checkbox|docPartObj)\b")
_FIELD = re.compile(r"<[\w.-]+:fldChar\b[^>]*fldCharType\s*=\s*[\"'](begin|separate|end)")


@dataclass(slots=True)
class _Item:
    """A stretch of a paragraph: words with their format, or markup; ``run`` is the run that it is in."""

    start: int
    stop: int
    words: str = ""
    look: str = ""  # the properties of its run
    markup: str = ""
    raw: str = ""  # words as markup
    kind: TagKind = "empty"
    name: str = ""
    run: int = -1


@dataclass(slots=True)
class _Element:
    """An element, by the numbers of its tokens."""

    name: str
    first: int
    last: int


def paragraph_holes(text: str) -> list[Hole]:
    """The paragraphs that have words, with those of boxes inside them."""
    prefix = _MAIN.search(text)
    return _Reader(text, f"{prefix[1]}:" if prefix else "w:").read()


class _Reader:
    def __init__(self, text: str, prefix: str) -> None:
        self._text, self._prefix = text, prefix
        self._tokens = list(tokens(text, xml=True))
        self._partner = _partners(self._tokens)

    def read(self) -> list[Hole]:
        holes: list[Hole] = []
        opened: list[int] = []
        for i, token in enumerate(self._tokens):
            if token.name != f"{self._prefix}p":
                continue
            if token.kind == "open":
                opened.append(i)
            elif token.kind == "close":
                first = opened.pop()
                hole = self._paragraph(first, i)
                if hole is not None:
                    holes = self._taken_in(hole, holes)
                    holes.append(hole)
        return holes

    def _taken_in(self, hole: Hole, holes: list[Hole]) -> list[Hole]:
        """Paragraphs of boxes go into the tag that holds the box; the rest is returned."""
        rest: list[Hole] = []
        for inner in holes:
            if not hole.start <= inner.start < hole.stop:
                rest.append(inner)
                continue
            slice_ = self._text[inner.start : inner.stop]
            tag = next((tag for tag in hole.segment.tags if slice_ in tag.text and inner.start >= hole.start), None)
            if tag is not None:
                hole.inner.append((tag, inner.start, inner.stop, inner))
        return rest

    def _children(self, first: int, last: int) -> Iterator[_Element]:
        """The elements directly in an element, whose tokens are given."""
        i = first + 1
        while i < last:
            token = self._tokens[i]
            if token.kind in ("open", "empty"):
                end = self._partner.get(i, i)
                yield _Element(token.name.removeprefix(self._prefix), i, end)
                i = end
            i += 1

    def _raw(self, element: _Element) -> str:
        return self._text[self._tokens[element.first].start : self._tokens[element.last].stop]

    def _items(self, first: int, last: int) -> Iterator[_Item]:
        """What stands in a paragraph, or in an element around runs."""
        todo = [iter(list(self._children(first, last)))]
        ends: list[_Item] = []
        while todo:
            child = next(todo[-1], None)
            if child is None:
                todo.pop()
                if ends:
                    yield ends.pop()
                continue
            start, stop = self._tokens[child.first].start, self._tokens[child.last].stop
            if child.name == "r":
                yield from self._run(child)
            elif child.name in _AROUND and child.first < child.last and not _FORM.search(self._head(child)):
                inner = self._inner(child)
                left, right = self._tokens[inner.first].stop, self._tokens[inner.last].start
                yield _Item(start, left, markup=self._text[start:left], kind="open", name=child.name)
                ends.append(_Item(right, stop, markup=self._text[right:stop], kind="close", name=child.name))
                todo.append(iter(list(self._children(inner.first, inner.last))))
            elif child.name not in _DROPPED:
                yield _Item(start, stop, markup=self._text[start:stop])

    def _head(self, element: _Element) -> str:
        """The properties of a control."""
        inner = next(self._children(element.first, element.last), None)
        return self._raw(inner) if inner is not None and inner.name == "sdtPr" else ""

    def _inner(self, element: _Element) -> _Element:
        """The element that holds the runs: of a control, its content."""
        if element.name == "sdt":
            for child in self._children(element.first, element.last):
                if child.name == "sdtContent" and child.last > child.first:
                    return child
        return element

    def _run(self, run: _Element) -> Iterator[_Item]:
        start, stop = self._tokens[run.first].start, self._tokens[run.last].stop
        children = list(self._children(run.first, run.last))
        look = next((self._raw(child) for child in children if child.name == "rPr"), "")
        content = [child for child in children if child.name not in _DROPPED]
        p = self._prefix
        for child in content:
            raw = self._raw(run) if len(content) == 1 else f"<{p}r>{look}{self._raw(child)}</{p}r>"
            if child.name == "t":
                words = "".join(self._words(token) for token in self._tokens[child.first + 1 : child.last])
                yield _Item(start, stop, words=words, look=look, raw=raw, run=run.first)
            elif child.name in _CHARACTERS:
                yield _Item(start, stop, words=_CHARACTERS[child.name], look=look, raw=raw, run=run.first)
            else:
                yield _Item(start, stop, markup=raw, run=run.first)

    def _words(self, token: Token) -> str:
        raw = self._text[token.start : token.stop]
        return unescape_xml(raw) if token.kind == "text" else raw[9:-3] if token.kind == "cdata" else ""

    def _paragraph(self, first: int, last: int) -> Hole | None:
        items = _trimmed(_fields(list(self._items(first, last))))
        if not any(c.isalpha() for item in items for c in item.words):
            return None
        return _Paragraph(items, self._prefix).hole()


def _partners(row: list[Token]) -> dict[int, int]:
    result: dict[int, int] = {}
    opened: list[int] = []
    for i, token in enumerate(row):
        if token.kind == "open":
            opened.append(i)
        elif token.kind == "close":
            result[opened.pop()] = i
    return result


def _fields(items: list[_Item]) -> list[_Item]:
    """Fields: from their start to their separator they are an opening tag, their end is a closing one."""
    result: list[_Item] = []
    code: _Item | None = None
    depth = 0
    for item in items:
        match = _FIELD.search(item.markup) if item.markup else None
        sign = match[1] if match else ""
        if code is None and sign != "begin":
            if sign == "end":
                item.kind, item.name = "close", "field"
            result.append(item)
            continue
        if code is None:
            code = _Item(item.start, item.stop, markup="", name="field", run=item.run)
            result.append(code)
        code.markup += item.markup or item.raw
        code.stop = item.stop
        depth += (sign == "begin") - (sign == "end")
        if sign == "separate" and depth == 1:
            code.kind, code, depth = "open", None, 0
        elif depth == 0:
            code = None
    return result


def _trimmed(items: list[_Item]) -> list[_Item]:
    """Items without markup at the edges that is not in a run with words; and without a pair around everything."""
    paired = pair_tags(
        [Tag(str(i), item.kind, 0) if item.markup else item.words for i, item in enumerate(items)],
        lambda tag: items[int(tag.text)].name,
    )
    first, last = 0, len(items) - 1
    while first < last:
        left, right = paired[first], paired[last]
        if isinstance(left, Tag) and left.kind == "empty" and not _same_run(items[first], items[first + 1]):
            first += 1
        elif isinstance(right, Tag) and right.kind == "empty" and not _same_run(items[last], items[last - 1]):
            last -= 1
        elif isinstance(left, Tag) and isinstance(right, Tag) and left.id == right.id and items[first].run < 0:
            first, last = first + 1, last - 1
        else:
            break
    return items[first : last + 1]


def _same_run(one: _Item, other: _Item) -> bool:
    return one.run >= 0 and one.run == other.run


@dataclass(slots=True)
class _Paragraph:
    """Writes a paragraph: its words in the format that most of it has, but for those between tags of another."""

    items: list[_Item]
    prefix: str
    looks: dict[int, str] = field(default_factory=dict)  # by the id of the pair of tags
    base: str = ""
    lead: str = ""
    trail: str = ""

    def hole(self) -> Hole:
        weights = Counter[str]()
        for item in self.items:
            weights[_visible(item.look)] += len(item.words.strip())
        main = max(weights, key=lambda look: weights[look])
        self.base = next(item.look for item in self.items if item.words and _visible(item.look) == main)
        parts = list(join_strings(self._parts(main)))
        if isinstance(parts[0], str):
            self.lead = parts[0][: len(parts[0]) - len(parts[0].lstrip())]
            parts[0] = parts[0].lstrip()
        if isinstance(parts[-1], str):
            self.trail = parts[-1][len(parts[-1].rstrip()) :]
            parts[-1] = parts[-1].rstrip()
        segment = Segment(tuple(join_strings(parts)))
        return Hole(self.items[0].start, self.items[-1].stop, segment, self.written)

    def _parts(self, main: str) -> list[Part]:
        """Words and tags; a change of format is a pair of tags."""
        row: list[Part] = []
        names: dict[int, str] = {}
        looks: dict[int, str] = {}
        current: int | None = None

        def tag(text: str, kind: TagKind, name: str) -> int:
            names[len(row)] = name
            row.append(Tag(text, kind, len(row)))
            return len(row) - 1

        for item in self.items:
            look = _visible(item.look)
            new = bool(item.words.strip()) and (current is None or _visible(looks[current]) != look)
            if current is not None and (new or (item.markup and item.kind != "empty")):
                tag("</rPr>", "close", f"look {current}")
                current = None
            if item.markup:
                tag(item.markup, item.kind, item.name)
                continue
            if new and look != main:
                current = len(row)
                tag(item.look or "<rPr/>", "open", f"look {current}")
                looks[current] = item.look
            row.append(item.words)
        if current is not None:
            tag("</rPr>", "close", f"look {current}")
        paired = pair_tags(row, lambda each: names[each.id])
        for place, look in looks.items():
            opened = paired[place]
            assert isinstance(opened, Tag)
            self.looks[opened.id] = look
        return paired

    def written(self, segment: Segment) -> str:
        """The runs of a translation."""
        pieces: list[str] = []
        stack = [self.base]
        words = self.lead
        for part in (*segment.parts, self.trail):
            if isinstance(part, str):
                words += part
            elif isinstance(part, Keep):
                words += part.text
            else:
                pieces.append(self._run(words, stack[-1]))
                words = ""
                if part.id not in self.looks:
                    pieces.append(part.text)
                elif part.kind == "open":
                    stack.append(self.looks[part.id])
                elif len(stack) > 1:
                    stack.pop()
        return "".join([*pieces, self._run(words, stack[-1])])

    def _run(self, words: str, look: str) -> str:
        if not words:
            return ""
        clean = re.sub("[\\t\\r\\n]+", " ", words)
        p = self.prefix
        return f'<{p}r>{look}<{p}t xml:space="preserve">{escape(clean, {})}</{p}t></{p}r>'


def _visible(look: str) -> str:
    """Properties of a run without those that do not show."""
    bare = _NO_FORMAT.sub("", look)
    return "" if re.fullmatch(r"<[\w.:-]+\s*>\s*</[\w.:-]+>|<[\w.:-]+\s*/>", bare) else bare
