"""The files of a corpus, plain, packed or in a zip: their bytes within limits, their lines, their kinds."""

from __future__ import annotations

import codecs
import inspect
import os
import re
import zipfile
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from hopefear.errors import InputError, input_error
from hopefear.util.files import (
    CHUNK,
    PACKED,
    UNLIMITED,
    PathLike,
    is_remote,
    iter_bytes,
    os_error,
    path_name,
    printable,
)

LONGEST_SEGMENT = 1 << 20  #: characters of a sentence; what has more is no sentence
UTF16 = (b"\xff\xfe", b"\xfe\xff")
_UTF16_XML = (b"<\0", b"\0<")  # without a mark
_RATIO, _HARMLESS = 200, 32 << 20  # text shrinks to a tenth; what shrinks to less than a 200th is a bomb
_MOST_MEMBERS = 10_000


@dataclass
class Entry:
    """A file, or a member of a zip: its name for messages, its first bytes, and all of them. It is read once."""

    name: str
    file: str  #: the last part of its name, which tells languages
    head: bytes
    pieces: Iterator[bytes]


def open_entry(path: PathLike) -> Entry:
    """A file, unpacked if it is gzip, xz or zstd."""
    return _entry(path_name(path), _last_part(os.fspath(path)), iter_bytes(path, UNLIMITED, utf16=True))


def _last_part(path: str) -> str:
    name = Path(path).name
    return name.removesuffix(Path(name).suffix) if Path(name).suffix in PACKED else name


def _entry(name: str, file: str, pieces: Iterator[bytes]) -> Entry:
    head = b""
    start: list[bytes] = []
    while len(head) < 4096 and (piece := next(pieces, None)) is not None:
        start.append(piece)
        head += piece[:CHUNK]
    return Entry(name, file, head[:CHUNK], _joined(start, pieces))


def _joined(start: list[bytes], pieces: Iterator[bytes]) -> Iterator[bytes]:
    yield from start
    start.clear()
    yield from pieces


def _bomb(name: str) -> InputError:
    return input_error(name, None, f"unpacks to more than {_RATIO} times its size, unlike text. Unpack it yourself")


def is_zip(path: PathLike) -> bool:
    """Whether a file is a zip, by its first bytes."""
    if is_remote(path):
        return os.fspath(path).lower().endswith(".zip")
    try:
        with Path(path).open("rb") as file:
            return file.read(4) in (b"PK\x03\x04", b"PK\x05\x06")
    except (OSError, ValueError):
        return False


def zip_entries(path: PathLike) -> list[Entry]:
    """The members of a zip that may be text; other files (READMEs, licences) are left out."""
    if is_remote(path):
        raise input_error(path_name(path), None, "is a zip in remote storage. Copy it to this machine first")
    try:
        archive = zipfile.ZipFile(path)
        members = archive.infolist()
    except OSError as error:
        raise os_error(path, error) from None
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise _damaged(path_name(path), error) from None
    names = {member.filename for member in members}
    if "[Content_Types].xml" in names:
        cure = "Save its text as TSV or TMX"
        raise input_error(path_name(path), None, f"is an office document, not a corpus. {cure}")
    if len(members) > _MOST_MEMBERS:
        raise input_error(path_name(path), None, f"has {len(members):,} files. Is this a corpus? Unpack it yourself")
    kept = [member for member in members if not member.filename.endswith("/") and not _is_note(member.filename)]
    streams: list[Generator[bytes]] = []
    return [_member(archive, member, f"{path_name(path)}/{printable(member.filename)}", streams) for member in kept]


def _is_note(name: str) -> bool:
    last = name.rpartition("/")[2]
    return bool(re.fullmatch(r"\..*|(README|LICEN[CS]E|COPYING|CHANGELOG)\b.*", last, re.IGNORECASE)) or last.endswith(
        (".ids", ".scores", ".info")
    )


def _member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, name: str, streams: list[Generator[bytes]]) -> Entry:
    if member.flag_bits & 1:
        raise input_error(name, None, "is encrypted. Unpack it first")
    streams.append(stream := _unzipped(archive, member, name, streams))
    return _entry(name, _last_part(member.filename), stream)


def _unzipped(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, name: str, streams: Sequence[Generator[bytes]]
) -> Generator[bytes]:
    import lzma
    import zlib

    most, done = _HARMLESS + _RATIO * member.compress_size, 0
    try:
        with archive.open(member) as file:
            while piece := file.read(CHUNK):
                done += len(piece)
                if done > most:
                    break
                yield piece
    except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, ValueError, NotImplementedError) as error:
        raise _damaged(name, error) from None
    except OSError as error:
        raise os_error(name, error) from None
    if done > most:
        for stream in streams:
            if inspect.getgeneratorstate(stream) != inspect.GEN_RUNNING:
                stream.close()
        archive.close()
        raise _bomb(name)


def _damaged(name: str, error: Exception) -> InputError:
    reason = printable(" ".join(str(error).split())) or type(error).__name__
    return input_error(name, None, f"the zip is damaged ({reason}). Copy or make it again")


_ROOT = re.compile(rb"<(?:[\w.-]+:)?([A-Za-z][\w.-]*)")
_MISC = re.compile(rb"<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>", re.DOTALL)


def kind_of(entry: Entry) -> str:
    """What kind of file it is, by its first bytes: an XML root (tmx, xliff, html, ...), parquet, po, jsonl, zip, text.

    ``xml`` is XML without a known root, ``binary`` anything that is no text.
    """
    head = entry.head
    for magic, kind in _MAGIC:
        if head.startswith(magic):
            return kind
    if head.startswith((*UTF16, *_UTF16_XML)):
        coding = {b"<\0": "utf-16-le", b"\0<": "utf-16-be"}.get(head[:2], "utf-16")
        text = head[: len(head) // 2 * 2].decode(coding, "replace")
        head = text.encode("utf-8", "replace")
        if not text.lstrip("\ufeff \t\r\n").startswith("<"):
            return "utf-16"
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:65536]
    if start.startswith((b"<?xml", b"<!DOCTYPE", b"<!doctype", b"<!--")) or _is_markup(start):
        root = _ROOT.match(_MISC.sub(b"", start).lstrip())
        name = root[1].decode("ascii", "replace").lower() if root else "xml"
        return name if name in _ROOTS else "xml"
    if re.search(rb"^msgid\s+\"", start, re.MULTILINE) and re.search(rb"^msgstr", start, re.MULTILINE):
        return "po"
    if re.match(rb"\{\s*\"|\{\s*$|\{\s*\}", start):
        return "jsonl"
    if re.match(rb"\[\s*\{\s*\"", start):
        return "json"
    return "binary" if b"\0" in head and not _is_utf8(head) else "text"


def _is_utf8(head: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)  # the last character may be cut
    except UnicodeDecodeError:
        return False
    return True


_MAGIC = [
    (b"PK\x03\x04", "zip"),
    (b"PAR1", "parquet"),
    (b"%PDF", "binary"),
    (b"\x89PNG", "binary"),
    (b"\xd0\xcf\x11\xe0", "binary"),
    (b"7z\xbc\xaf", "binary"),
    (b"Rar!", "binary"),
    (b"SQLite format 3\0", "binary"),
]
_ROOTS = ("tmx", "xliff", "html")


def _is_markup(start: bytes) -> bool:
    root = _ROOT.match(start)
    return root is not None and root[1].lower().decode("ascii", "replace") in _ROOTS


def text_lines(entry: Entry) -> Iterator[tuple[int, str]]:
    """The lines with their numbers; NUL bytes, other encodings and endless lines are refused with their line."""
    rest, done, beyond_ascii = b"", 0, False
    start = b"\xef\xbb\xbf"
    for piece in entry.pieces:
        block, end, rest = (rest + piece).rpartition(b"\n")
        if len(rest) > 4 * LONGEST_SEGMENT:
            raise _too_long(entry, done + 1, len(rest))
        if not end:
            continue
        lines = block.removeprefix(start).split(b"\n")
        start = b""
        for number, line in enumerate(lines, done + 1):
            yield number, _decoded(entry, number, line, beyond_ascii)
            beyond_ascii = beyond_ascii or not line.isascii()
        done += len(lines)
    if last := rest.removeprefix(start):
        yield done + 1, _decoded(entry, done + 1, last, beyond_ascii)


def _decoded(entry: Entry, number: int, line: bytes, beyond_ascii: bool) -> str:
    if b"\0" in line:
        finding = "a NUL byte, which no text has. Is this a text file, or UTF-16? iconv -f UTF-16 -t UTF-8 converts it"
        raise input_error(entry.name, number, finding)
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        finding = f"byte {error.start + 1} is not UTF-8"
        if beyond_ascii:
            finding += ", but earlier lines are: the file mixes encodings. Convert its parts one by one"
        else:
            finding += ". Convert the file: iconv -f ISO-8859-1 -t UTF-8"
        raise input_error(entry.name, number, finding) from None
    if len(text) > LONGEST_SEGMENT:
        raise _too_long(entry, number, len(line))
    return text.removesuffix("\r").replace("\r", " ") if "\r" in text else text


def _too_long(entry: Entry, number: int, size: int) -> InputError:
    finding = f"the line has {size / 1e6:.0f} MB or more. A corpus has one sentence per line: split it into sentences"
    return input_error(entry.name, number, finding)


def writable_copy(entry: Entry, file: IO[bytes]) -> None:
    """All bytes of an entry into a file, for readers that need to go back and forth."""
    file.writelines(entry.pieces)
    file.seek(0)


def refuse_markup(path: PathLike) -> None:
    """An InputError for a file that is no plain text (TMX, XLIFF, HTML, a zip, ...), with what to do instead."""
    if os.fspath(path) == "-":
        return
    entry = open_entry(path)
    kind = kind_of(entry)
    if kind in ("text", "json", "jsonl", "po", "utf-16"):  # lines of these may be meant; UTF-16 has an error of its own
        return
    names = {"tmx": "TMX", "xliff": "XLIFF", "html": "HTML", "xml": "XML", "parquet": "Parquet", "zip": "a zip"}
    finding = f"is {names.get(kind, 'a binary file')}, not plain text"
    cure = "Give a file with one sentence per line"
    if kind in ("tmx", "xliff", "parquet", "zip"):
        cure = "Give it as a corpus: hopefear create FILE --from CODE --to CODE"
    raise input_error(path_name(path), None, f"{finding}. {cure}")
