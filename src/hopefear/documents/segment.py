"""Segments: a stretch of text with protected spans and inline markup."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

TagKind = Literal["open", "close", "empty"]

#: A tag as it may stand in a line of plain text. ``a < b`` and ``<3`` are none.
MARKUP = re.compile(
    r"""<(?:/[A-Za-z][\w:.-]*\s*|[A-Za-z][\w:.-]*(?:\s+[\w:.@-]+(?:\s*=\s*(?:"[^"<>]*"|'[^'<>]*'|[^\s"'<>=`]+))?)*\s*/?)>"""
)
_NAME = re.compile(r"</?([\w:.-]+)")
_FORMAT = re.compile(
    r"</?(?:b|i|u|s|em|strong|small|big|font|mark|ins|tt)\b(?![^<>]*/>)|</?(?:\w+:)?rPr\b(?!.*vertAlign)", re.DOTALL
)
_LAST_LETTERS, _FIRST_LETTERS = re.compile(r"[^\W\d_]+$"), re.compile(r"[^\W\d_]+")
#: Elements of HTML that have no end.
VOID = frozenset(
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"]
)


@dataclass(frozen=True, slots=True)
class Keep:
    """A protected span. It comes out of a translation byte for byte, exactly once.

    A span of the kind ``markup`` is raw text of the file (a code span in HTML); any other is text like
    the rest.
    """

    text: str
    kind: str = "span"


@dataclass(frozen=True, slots=True)
class Tag:
    """Inline markup, which moves with its words. The two tags of a pair share their id; no other tag has it."""

    text: str
    kind: TagKind
    id: int


Part = str | Keep | Tag


@dataclass(frozen=True, slots=True)
class Segment:
    """Text to translate: words, protected spans and tags in their order."""

    parts: tuple[Part, ...] = ()

    @classmethod
    def of(cls, text: str) -> Segment:
        """A segment of a line of plain text, in which ``<b>`` and the like become tags."""
        return cls(tuple(markup_parts(text)))

    @property
    def plain(self) -> str:
        """The text without tags."""
        return "".join(part if isinstance(part, str) else part.text for part in self.parts if not isinstance(part, Tag))

    @property
    def text(self) -> str:
        """The text with its tags."""
        return "".join(part if isinstance(part, str) else part.text for part in self.parts)

    @property
    def tags(self) -> list[Tag]:
        """The tags, in their order."""
        return [part for part in self.parts if isinstance(part, Tag)]

    @property
    def keeps(self) -> list[Keep]:
        """The protected spans, in their order."""
        return [part for part in self.parts if isinstance(part, Keep)]

    @property
    def has_words(self) -> bool:
        """Whether anything outside protected spans has a letter."""
        return any(isinstance(part, str) and any(c.isalpha() for c in part) for part in self.parts)

    def joined(self) -> Segment:
        """The same with neighbouring strings as one and no empty ones."""
        return Segment(tuple(join_strings(self.parts)))

    def loose(self) -> Segment:
        """The same with protected spans as words again, but for those of raw markup: to compare with another."""
        return Segment(tuple(join_strings(_as_words(part) for part in self.parts)))

    def fault_of(self, translation: Segment) -> str | None:
        """What is wrong with the spans and tags of a translation of this segment, in words; None if nothing is."""
        mine, theirs = Counter(self.tags), Counter(translation.tags)
        if lost := list((mine - theirs).elements()):
            return f"lost the tag {lost[0].text}"
        if added := list((theirs - mine).elements()):
            return f"has the tag {added[0].text} once too often"
        kept = Counter(keep.text for keep in self.keeps)
        if lost_spans := list((kept - Counter(keep.text for keep in translation.keeps)).elements()):
            return f"lost the protected {lost_spans[0]}"
        more = Counter(keep.text for keep in translation.keeps)
        if doubled := [text for text, times in kept.items() if more[text] > times]:
            return f"has the protected {doubled[0]} once too often"
        if well_formed(self.tags) and not well_formed(translation.tags):
            return "has tags that cross each other"
        return None


def _as_words(part: Part) -> Part:
    return part.text if isinstance(part, Keep) and part.kind != "markup" else part


def join_strings(parts: Iterable[Part]) -> Iterator[Part]:
    """Parts with neighbouring strings as one and without empty strings."""
    text: list[str] = []
    for part in parts:
        if isinstance(part, str):
            text.append(part)
            continue
        if joined := "".join(text):
            yield joined
        text.clear()
        yield part
    if joined := "".join(text):
        yield joined


def well_formed(tags: Iterable[Tag]) -> bool:
    """Whether each closing tag closes the one that was opened last."""
    opened: list[int] = []
    for tag in tags:
        if tag.kind == "open":
            opened.append(tag.id)
        elif tag.kind == "close" and (not opened or opened.pop() != tag.id):
            return False
    return not opened


def markup_parts(text: str) -> list[Part]:
    """Text split at its tags. A tag without its partner is an empty one."""
    if "<" not in text:
        return [text] if text else []
    parts: list[Part] = []
    position = 0
    for match in MARKUP.finditer(text):
        parts.append(text[position : match.start()])
        parts.append(Tag(match[0], tag_kind(match[0]), 0))
        position = match.end()
    parts.append(text[position:])
    return list(join_strings(pair_tags(parts, tag_name)))


def whole_words(segment: Segment) -> Segment:
    """The same with words that are formatted in part (``<b>H</b>unde``) formatted as a whole.

    A word continues behind a tag with a small letter. Only formats are moved, or whatever holds a first letter alone:
    ``News<span>new</span>`` are two words.
    """
    parts = list(segment.joined().parts)
    begin = 1
    while begin < len(parts) - 1:
        stop = next((k for k in range(begin, len(parts)) if not isinstance(parts[k], Tag)), len(parts))
        if stop > begin and stop < len(parts):
            before, after = parts[begin - 1], parts[stop]
            tags = [part.text for part in parts[begin:stop] if isinstance(part, Tag)]
            if isinstance(before, str) and isinstance(after, str):
                parts[begin - 1], parts[stop] = _joined(before, tags, after)
        begin = max(stop, begin) + 1
    return Segment(tuple(join_strings(parts)))


def _joined(before: str, tags: Sequence[str], after: str) -> tuple[str, str]:
    """What stands before and behind tags, so that they part no word."""
    head, tail = _LAST_LETTERS.search(before), _FIRST_LETTERS.match(after)
    if head is None or tail is None or not after[0].islower():
        return before, after
    closing = [tag.startswith("</") for tag in tags]
    if not all(_FORMAT.match(tag) for tag in tags) and not (all(closing) and len(head[0]) == 1):
        return before, after
    if all(closing):
        return before + tail[0], after[tail.end() :]
    return (before[: head.start()], head[0] + after) if not any(closing) else (before, after)


def tag_name(tag: Tag) -> str:
    """The element of a tag, in lower case."""
    name = _NAME.match(tag.text)
    return name[1].lower() if name else tag.text


def tag_kind(text: str) -> TagKind:
    """Whether ``<b>``, ``</b>`` or ``<b/>`` opens, closes or stands alone."""
    if text.startswith("</"):
        return "close"
    name = _NAME.match(text)
    return "empty" if text.endswith("/>") or (name and name[1].lower() in VOID) else "open"


def pair_tags(parts: Iterable[Part], name: Callable[[Tag], str]) -> list[Part]:
    """Tags with ids of their own; a pair shares one. What has no partner in the right order stands alone.

    ``name`` says of a tag which element it is: a closing tag closes the last one of its name that is open.
    """
    result = list(parts)
    opened: list[tuple[int, str]] = []
    names = Counter[str]()  # of those that are open
    number = 0
    for i, part in enumerate(result):
        if not isinstance(part, Tag):
            continue
        number += 1
        result[i] = Tag(part.text, "empty", number)
        key = name(part)
        if part.kind == "open":
            opened.append((i, key))
            names[key] += 1
        elif part.kind == "close" and names[key]:
            while (last := opened.pop())[1] != key:
                names[last[1]] -= 1
            names[key] -= 1
            first = result[last[0]]
            assert isinstance(first, Tag)
            result[last[0]] = Tag(first.text, "open", first.id)
            result[i] = Tag(part.text, "close", first.id)
    return result
