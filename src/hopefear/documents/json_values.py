"""JSON: the strings that are values. Keys, numbers, layout and the way characters are escaped stay."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from hopefear.documents.document import Hole, TextDocument, plain_text
from hopefear.documents.encoding import decode
from hopefear.documents.segment import Segment
from hopefear.errors import input_error

_TOKEN = re.compile(r'"((?:[^"\\]|\\.)*+)"|([{}\[\],:])')
_LINE = re.compile(r"\\[nr]|\\u000[aAdD]|(?P<words>(?:\\[^nru]|\\u(?!000[aAdD])|[^\\])+)")
_EDGE = re.compile(r"(?:[ \u00a0]|\\t)*+")


def read_json(data: bytes, name: str, encoding: str | None = None, fields: Sequence[str] = ()) -> TextDocument:
    """A JSON file. ``fields`` are patterns of the values to translate, as in ``*.title``; without any, all strings.

    The path of a value has the keys and places that lead to it, with dots between: ``items.0.title``.
    """
    text, coding = decode(data, name, encoding)
    try:
        json.loads(text, parse_int=str, parse_float=str)
    except json.JSONDecodeError as error:
        finding = f"is not valid JSON: {error.msg}, column {error.colno}. Correct it"
        raise input_error(name, error.lineno, finding) from None
    except RecursionError:
        raise input_error(name, None, "is nested too deeply. Make it flatter") from None
    ascii_only = not coding.is_unicode or (text.isascii() and "\\u" in text)
    holes: list[Hole] = []
    seen = False
    for path, start, stop in _values(text):
        if not fields or any(fnmatchcase(path, field) for field in fields):
            seen = True
            holes += _lines(text, start, stop, ascii_only)
    if fields and not seen:
        raise input_error(name, None, f"has no value {' or '.join(fields)}. Write fields such as items.*.title")
    return TextDocument(name, text, coding, holes)


def _values(text: str) -> Iterator[tuple[str, int, int]]:
    """The strings that are values: path, and where their characters start and stop."""
    stack: list[str | int] = []  # the key or place in each open object or array
    kinds: list[str] = []
    key_next = False
    for match in _TOKEN.finditer(text):
        sign = match[2]
        if sign is None:
            if key_next:
                stack[-1] = json.loads(match[0])
            else:
                yield ".".join(map(str, stack)), match.start(1), match.end(1)
        elif sign in "{[":
            kinds.append(sign)
            stack.append("" if sign == "{" else 0)
            key_next = sign == "{"
        elif sign in "}]":
            kinds.pop()
            stack.pop()
            key_next = False
        elif sign == ":":
            key_next = False
        elif kinds and kinds[-1] == "[":
            stack[-1] = int(stack[-1]) + 1
        else:
            key_next = True


def _lines(text: str, start: int, stop: int, ascii_only: bool) -> Iterator[Hole]:
    """Each line of a value is a text of its own."""
    for match in _LINE.finditer(text, start, stop):
        if match["words"] is None:
            continue
        edge = _EDGE.match(text, match.start(), match.end())
        left, right = edge.end() if edge else match.start(), match.end()
        while right > left and (
            text[right - 1] == " " or (text.endswith("\\t", left, right) and not _escaped(text, right))
        ):
            right -= 1 if text[right - 1] == " " else 2
        raw = text[left:right]
        words = json.loads(f'"{raw}"')
        if any("\ud800" <= c <= "\udfff" for c in words):  # half a character: it has no bytes in UTF-8
            continue
        segment = Segment.of(words)
        if segment.has_words:
            slashes = "\\/" in raw
            yield Hole(left, right, segment, lambda new, slashes=slashes: _written(new, ascii_only, slashes))  # type: ignore[misc]


def _escaped(text: str, right: int) -> bool:
    """Whether the backslash before the last character is itself escaped."""
    count = 0
    while text[right - 2 - count] == "\\":
        count += 1
    return count % 2 == 0


def _written(segment: Segment, ascii_only: bool, slashes: bool) -> str:
    words = json.dumps(plain_text(segment), ensure_ascii=ascii_only)[1:-1]
    return words.replace("/", "\\/") if slashes else words
