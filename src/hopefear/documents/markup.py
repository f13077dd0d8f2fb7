"""HTML and XML as a row of tokens that know where they stand, and their escapes."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from hopefear.documents.segment import VOID
from hopefear.errors import input_error

TokenKind = Literal["text", "open", "close", "empty", "other", "cdata"]

_NAME = r"[A-Za-z_:][^\s/>=<\"']*+"
_TAG = re.compile(
    rf"""<(?P<name>{_NAME})(?:[\s/]++|[^\s/>=][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s"'>][^\s>]*+)?)?|=)*+>"""
)
_CLOSE = re.compile(rf"</(?P<name>{_NAME})[^>]*+>")
_ATTRIBUTE = re.compile(r"""[\s/]*+([^\s/>=]++)(?:\s*+=\s*+("[^"]*+"|'[^']*+'|[^\s"'>][^\s>]*+)?)?""")
_ENTITY = re.compile(r"&(?:#\d+|#[xX][0-9a-fA-F]+|[A-Za-z][A-Za-z0-9]*);")
RAW = frozenset(["script", "style", "textarea", "xmp", "iframe", "noembed", "noframes", "title"])  # text without tags


@dataclass(frozen=True, slots=True)
class Token:
    """A stretch of a file: text, a tag, or something else (a comment, an instruction, a declaration)."""

    kind: TokenKind
    start: int
    stop: int
    name: str = ""


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute of a tag: its value as it means, and where it stands, quotes included."""

    name: str
    value: str
    start: int
    stop: int


def tokens(text: str, xml: bool = False) -> Iterator[Token]:
    """The tokens of a file, which cover it. In HTML, names are in small letters; what is no tag is text."""
    position = start = 0
    last_tag_end = text.rfind(">")
    while (position := text.find("<", position)) >= 0:
        token = _token_at(text, position, xml) if position <= last_tag_end else None
        if token is None:
            position += 1
            continue
        if position > start:
            yield Token("text", start, position)
        yield token
        position = start = token.stop
        if not xml and token.kind == "open" and token.name in RAW:
            end = re.compile(f"</{token.name}(?![\\w-])", re.IGNORECASE).search(text, position)
            stop = end.start() if end else len(text)
            if stop > position:
                kind: TokenKind = "text" if token.name == "title" else "other"
                yield Token(kind, position, stop)
            position = start = stop
    if start < len(text):
        yield Token("text", start, len(text))


def _token_at(text: str, position: int, xml: bool) -> Token | None:
    if text.startswith("<!--", position):
        end = text.find("-->", position + 4)
        return Token("other", position, end + 3 if end >= 0 else len(text))
    if text.startswith("<![CDATA[", position):
        end = text.find("]]>", position)
        return Token("cdata", position, end + 3) if end >= 0 else None
    if text.startswith(("<!", "<?"), position):
        end = text.find("?>" if xml and text[position + 1] == "?" else ">", position)
        if xml and text.startswith("<!DOCTYPE", position):
            end = _doctype_end(text, position)
        return Token("other", position, text.find(">", end) + 1) if end >= 0 else None
    closing = text.startswith("</", position)
    match = (_CLOSE if closing else _TAG).match(text, position)
    if match is None:
        return None
    name = match["name"] if xml else match["name"].lower()
    if closing:
        return Token("close", position, match.end(), name)
    alone = text.endswith("/>", 0, match.end()) if xml else name in VOID
    return Token("empty" if alone else "open", position, match.end(), name)


def _doctype_end(text: str, position: int) -> int:
    bracket = re.compile(r"[\[>]").search(text, position)
    if bracket is None or bracket[0] == ">":
        return bracket.start() if bracket else -1
    return text.find("]", position)


def attributes(text: str, token: Token) -> list[Attribute]:
    """The attributes of a tag."""
    result: list[Attribute] = []
    position = token.start + 1 + len(token.name)
    stop = token.stop - (2 if text.endswith("/>", 0, token.stop) else 1)
    while position < stop and (match := _ATTRIBUTE.match(text, position, stop)):
        raw = match[2] or ""
        bare = raw[1:-1] if raw[:1] in "\"'" else raw
        result.append(Attribute(match[1], html.unescape(bare), match.start(2), match.end(2)))
        position = match.end()
    return result


def check_xml(text: str, name: str, doctype: bool = False) -> None:
    """Complain about XML that is not well-formed or defines entities. Nothing outside the file is ever opened."""
    from xml.parsers import expat

    parser = expat.ParserCreate("utf-8")

    def refuse(finding: str) -> None:
        raise input_error(name, parser.CurrentLineNumber, f"{finding}. Remove the declaration")

    def declaration(*_: object) -> None:
        refuse("declares an entity, which is not resolved here")

    def document_type(*_: object) -> None:
        if not doctype:
            refuse("has a DOCTYPE, which this kind of file never has")

    parser.EntityDeclHandler = declaration
    parser.StartDoctypeDeclHandler = document_type
    try:
        parser.Parse(text.encode("utf-8"), True)
    except expat.ExpatError as error:
        finding = f"is not well-formed XML: {expat.ErrorString(error.code)}, column {error.offset + 1}. Correct it"
        raise input_error(name, error.lineno, finding) from None


_XML_ENTITY = re.compile(r"&(?:(lt|gt|amp|quot|apos)|#(\d+)|#x([0-9a-fA-F]+));")
_XML_NAMED = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'"}


def unescape_xml(raw: str) -> str:
    """The text that XML means. A reference has no other reading there than its number."""
    return _XML_ENTITY.sub(lambda m: _XML_NAMED[m[1]] if m[1] else chr(int(m[2]) if m[2] else int(m[3], 16)), raw)


def spellings(raw: str) -> dict[str, str]:
    """How a stretch of text spells characters as entities."""
    result: dict[str, str] = {}
    for match in _ENTITY.finditer(raw):
        character = html.unescape(match[0])
        if len(character) == 1:
            result.setdefault(character, match[0])
    return result


def escape(text: str, spelling: dict[str, str]) -> str:
    """Text for HTML or XML, with entities where the original has them."""
    if spelling or any(c in text for c in "&<>"):
        table = str.maketrans({"&": "&amp;", "<": "&lt;", **spelling})
        text = text.translate(table).replace("]]>", "]]&gt;")
    return text


def escape_attribute(text: str, spelling: dict[str, str], quote: str = '"') -> str:
    """The value of an attribute, with its quotes."""
    escaped = escape(text, spelling)
    return quote + escaped.replace(quote, "&quot;" if quote == '"' else "&#39;") + quote
