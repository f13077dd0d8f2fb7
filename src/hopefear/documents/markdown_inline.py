"""What stands inside a paragraph of Markdown: emphasis, links, images, code spans, tags of HTML, escapes."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Container
from dataclasses import dataclass

from hopefear.documents.segment import MARKUP, Keep, Part, Segment, Tag, join_strings, tag_kind, tag_name

_TARGET = re.compile(
    r"""\(\s*(?:<[^<>\n]*>|(?:[^\s()\\]|\\.|\((?:[^\s()\\]|\\.)*\))*)
        (?:\s+(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\((?:[^()\\]|\\.)*\)))?\s*\)(?:\{[:.\#][^{}\n]*\})?""",
    re.VERBOSE | re.DOTALL,
)
_REFERENCE = re.compile(r"\[([^\[\]\n]*)\]")
_SPAN = re.compile(
    rf"""(?P<escape>\\[!-/:-@\[-`{{-~])
    | (?P<break>(?:[ ]{{2,}}|\\)\n)
    | (?P<keep>(?<!`)(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`)
        | <(?:[A-Za-z][A-Za-z0-9+.-]{{1,31}}:[^\s<>]*|[^\s<>@]+@[^\s<>@]+)>
        | \$(?=[^\s$])(?=[^$\n]*[\\_^{{}}])[^$\n]*[^\s\\$]\$(?!\d)
        | \{{\{{[^{{}}\n]*\}}\}} | \{{%.*?%\}}
        | https?://[^\s<>()\[\]`*]+[^\s<>()\[\]`*.,;:!?_~'"])
    | (?P<comment><!--.*?-->)
    | (?P<footnote>\[\^[^\]\s]+\])
    | (?P<markup>{MARKUP.pattern})
    | (?P<entity>&(?:\#\d+|\#[xX][0-9a-fA-F]+|[A-Za-z][A-Za-z0-9]*);)
    | (?P<open>!?\[) | (?P<close>\])
    | (?P<run>\*+|_+|~~)""",
    re.VERBOSE | re.DOTALL,
)


@dataclass(slots=True)
class _Item:
    """A part, or what becomes a tag if it has a partner, with what it can open and close."""

    text: str
    part: Part | None = None
    opens: str = ""
    closes: str = ""
    id: int = 0
    kind: str = "text"


def inline_segment(text: str, labels: Container[str]) -> tuple[Segment, dict[str, str]]:
    """A paragraph as a segment, and how it spells characters that it escapes.

    ``labels`` are those of the file's link definitions, in small letters.
    """
    spelling: dict[str, str] = {}
    items = _items(text, labels, spelling)
    _match(items)
    parts: list[Part] = []
    number = 0
    for item in items:
        if item.part is not None:
            parts.append(item.part)
        elif item.kind == "text":
            parts.append(item.text.replace("\n", " "))
        else:
            number += 1
            identity = item.id or len(items) + number
            parts.append(Tag(item.text, "open" if item.kind == "open" else "close" if item.id else "empty", identity))
    return Segment(tuple(join_strings(parts))), spelling


def _items(text: str, labels: Container[str], spelling: dict[str, str]) -> list[_Item]:
    links = _links(text, labels)
    items: list[_Item] = []
    position = 0
    for match in _SPAN.finditer(text):
        if match.start() < position:
            continue
        items.append(_Item(text[position : match.start()]))
        position = match.end()
        kind = match.lastgroup if match.lastgroup != "ticks" else "keep"
        raw = match[0]
        if kind in ("escape", "entity"):
            character = raw[1] if kind == "escape" else html.unescape(raw)
            if len(character) == 1:
                spelling[character] = raw
            items.append(_Item(character if len(character) == 1 else raw))
        elif kind == "keep":
            items.append(_Item(raw, part=Keep(raw, "markup")))
        elif kind == "run":
            items.append(_run(text, match))
        elif kind == "markup":
            items.append(_html(raw))
        elif kind in ("break", "comment", "footnote"):
            items.append(_Item(raw, kind="empty"))
        elif kind == "open" and match.end() - 1 in links:
            items.append(_Item(raw, opens=f"[{match.end() - 1}", kind="empty"))
        elif kind == "close" and match.start() in links:
            opened, close, position = links[match.start()]
            items.append(_Item(close, closes=f"[{opened}", kind="empty"))
        else:
            items.append(_Item(raw))
    items.append(_Item(text[position:]))
    return items


def _links(text: str, labels: Container[str]) -> dict[int, tuple[int, str, int]]:
    """The brackets that make links: for each its partner, what the closing one is written as, and where it ends."""
    result: dict[int, tuple[int, str, int]] = {}
    opened: list[int] = []
    position = 0
    for match in _SPAN.finditer(text):
        if match.start() < position:
            continue
        if match["open"]:
            opened.append(match.end() - 1)
        elif match["close"] and opened:
            first, close = opened.pop(), match.start()
            label = text[first + 1 : close]
            target, reference = _TARGET.match(text, close + 1), _REFERENCE.match(text, close + 1)
            if target:
                written, position = f"]{target[0]}", target.end()
            elif reference and (reference[1] or label).strip().lower() in labels:
                written, position = f"][{reference[1] or label}]", reference.end()
            elif label.strip().lower() in labels:
                written, position = f"][{label}]", close + 1
            else:
                continue
            result[first] = result[close] = (first, written, position)
    return result


def _run(text: str, match: re.Match[str]) -> _Item:
    """A run of ``*``, ``_`` or ``~~``, by CommonMark's rules of what stands at its sides."""
    run = match[0]
    before = text[match.start() - 1] if match.start() else " "
    after = text[match.end()] if match.end() < len(text) else " "
    space_before, space_after = before.isspace(), after.isspace()
    mark_before, mark_after = _is_mark(before), _is_mark(after)
    left = not space_after and (not mark_after or space_before or mark_before)
    right = not space_before and (not mark_before or space_after or mark_after)
    inside = run[0] == "_"
    opens = left and (not inside or not right or mark_before)
    closes = right and (not inside or not left or mark_after)
    return _Item(run, opens=run if opens else "", closes=run if closes else "")


def _is_mark(character: str) -> bool:
    return not character.isalnum() and not character.isspace()


def _html(raw: str) -> _Item:
    tag = Tag(raw, tag_kind(raw), 0)
    key = f"<{tag_name(tag)}"
    return _Item(raw, opens=key if tag.kind == "open" else "", closes=key if tag.kind == "close" else "", kind="empty")


def _match(items: list[_Item]) -> None:
    """Give partners the same id. What stands inside a link has its partner there too."""
    stack: list[_Item] = []
    names = Counter[str]()  # of what is open
    number = 0
    for item in items:
        partner = _partner(item, stack) if names[item.closes] else None
        if partner is not None:
            number += 1
            first = stack[partner]
            first.id = item.id = number
            first.kind, item.kind = "open", "close"
            names.subtract(each.opens for each in stack[partner:])
            del stack[partner:]
        elif item.opens:
            stack.append(item)
            names[item.opens] += 1


def _partner(item: _Item, stack: list[_Item]) -> int | None:
    for k in reversed(range(len(stack))):
        if stack[k].opens == item.closes:
            return k
        if stack[k].opens[0] == "[" and item.closes[0] != "[":
            break
    return None
