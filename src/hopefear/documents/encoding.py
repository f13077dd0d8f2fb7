"""Bytes to text and back, byte for byte."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from dataclasses import dataclass

from hopefear.errors import input_error

LARGEST = 256 << 20  # bytes of a document, which is read as a whole
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_NO_CHARSETS = frozenset(
    ["unicode-escape", "raw-unicode-escape", "idna", "punycode", "undefined", "utf-7", "mbcs", "oem"]
)
LINE_END = re.compile("\r\n|\n|\r")


@dataclass(frozen=True)
class Coding:
    """How a file encodes its text, and the mark at its start."""

    name: str
    mark: bytes = b""

    @property
    def is_unicode(self) -> bool:
        """Whether it has all characters."""
        return self.name.startswith("utf")

    def encode(self, text: str, errors: str = "strict") -> bytes:
        """The bytes of a text."""
        return self.mark + text.encode(self.name, errors)


def decode(
    data: bytes, name: str, encoding: str | None = None, declared: Callable[[str], str | None] = lambda head: None
) -> tuple[str, Coding]:
    """The text of a file and its coding: what its mark says, else ``encoding``, else what it declares, else UTF-8.

    ``declared`` finds the encoding in the beginning of the file.
    """
    if len(data) > LARGEST:
        finding = f"has {len(data) >> 20} MB; a document may have {LARGEST >> 20}. Split it"
        raise input_error(name, None, finding)
    for mark, unicode in _BOMS:
        if data.startswith(mark):
            return _decoded(data[len(mark) :], name, Coding(unicode, mark)), Coding(unicode, mark)
    label = encoding or declared(data[:4096].decode("latin-1")) or "utf-8"
    coding = Coding(_charset(label, name))
    if coding.name in ("iso8859-1", "ascii", "cp1252"):  # as browsers have it
        try:
            text = data.decode("ascii" if coding.name == "ascii" else "cp1252")
            coding = coding if coding.name == "ascii" else Coding("cp1252")
        except UnicodeDecodeError:
            coding = Coding("latin-1" if coding.name != "ascii" else "utf-8")
            text = _decoded(data, name, coding)
        _refuse_nul(text, name)
        return text, coding
    return _decoded(data, name, coding), coding


def _charset(label: str, name: str) -> str:
    try:
        info = codecs.lookup(label.strip().replace("_", "-") if label.strip() else "utf-8")
        known = info._is_text_encoding and info.name.replace("_", "-") not in _NO_CHARSETS
    except (LookupError, ValueError):
        known = False
    if not known:
        finding = f"declares the encoding {label[:40]!r}, which is unknown. Convert the file to UTF-8"
        raise input_error(name, None, finding)
    return info.name


def _decoded(data: bytes, name: str, coding: Coding) -> str:
    try:
        text = data.decode(coding.name)
    except UnicodeDecodeError as error:
        line = line_of(data[: error.start].decode(coding.name, "replace"), None)
        finding = f"byte {error.start + 1} of the file is not {coding.name.upper()}"
        raise input_error(name, line, f"{finding}. Give its encoding: --encoding latin-1") from None
    _refuse_nul(text, name)
    if text.encode(coding.name) != data:
        raise input_error(name, None, f"is not valid {coding.name.upper()}. Convert it: iconv -t UTF-8")
    return text


def _refuse_nul(text: str, name: str) -> None:
    nul = text.find("\0")
    if nul >= 0:
        finding = "has a NUL character, which no text has. Is this another kind of file?"
        raise input_error(name, line_of(text, nul), finding)


def line_of(text: str, position: int | None) -> int:
    """The number of the line of a position (None: the end), from 1."""
    before = text if position is None else text[:position]
    return 1 + sum(1 for _ in LINE_END.finditer(before))
