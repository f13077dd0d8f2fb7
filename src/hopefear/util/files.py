"""Files: read plain or packed, as their first bytes tell; written packed if their name says so."""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, BinaryIO, TextIO

from hopefear.errors import InputError, input_error
from hopefear.util.atomic import (
    PathLike as PathLike,
    atomic_file as atomic_file,
    atomic_folder as atomic_folder,
    atomic_write as atomic_write,
    scratch_folder as scratch_folder,
    sweep as sweep,
    umask as umask,
)

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

PathsLike = PathLike | Sequence[PathLike]

PACKED = (".gz", ".xz", ".zst")

CHUNK = 1 << 20
LONGEST = 64 << 20  # bytes of a line; what has more is no text


def path_list(paths: PathsLike) -> list[PathLike]:
    """One path or several as a list."""
    return [paths] if isinstance(paths, str | os.PathLike) else list(paths)


def path_name(path: PathLike) -> str:
    """A path as messages show it: one line, always printable."""
    name = "standard input" if os.fspath(path) == "-" else os.fspath(path)
    return printable(name.encode("utf-8", "backslashreplace").decode())


def printable(text: str) -> str:
    """Text of others for a terminal: control characters, which could move the cursor or worse, are spelled out."""
    return text.translate(_CONTROL)


_CONTROL = {code: f"\\x{code:02x}" for code in [*range(32), *range(127, 160)]}

_CURES = {
    errno.ENOENT: "no such file or folder. Check the path",
    errno.EISDIR: "is a folder. Name a file in it",
    errno.EACCES: "may not be read or written. Check its permissions",
    errno.ENOSPC: "the disk is full. Make room and try again",
}


def os_error(path: PathLike, error: OSError) -> InputError:
    """The one line for an operating-system error on a file that the user named."""
    return input_error(
        path_name(path), None, _CURES.get(error.errno or 0, f"{error.strerror or error}. Check the path")
    )


def iter_bytes(path: PathLike) -> Iterator[bytes]:
    """The bytes of a file (``-``: standard input), unpacked, in pieces of bounded size."""
    try:
        with _open_raw(path) as file:
            data = file.read(CHUNK)
            if data.startswith(_UTF16):
                raise input_error(path_name(path), None, "is UTF-16. Convert it: iconv -f UTF-16 -t UTF-8")
            for magic, name, decompressor in _PACKERS:
                if data.startswith(magic):
                    yield from _unpack(path, file, data, name, decompressor())
                    return
            while data:
                yield data
                data = file.read(CHUNK)
    except OSError as error:
        raise os_error(path, error) from None


@contextmanager
def _open_raw(path: PathLike) -> Iterator[BinaryIO | _Far]:
    if os.fspath(path) == "-":
        if sys.stdin is None:
            raise InputError("standard input is closed. Give it a file: < FILE")
        yield sys.stdin.buffer
        return
    if is_remote(path):
        far = _Far(os.fspath(path))
        try:
            yield far
        finally:
            far.close()
        return
    try:
        file = Path(path).open("rb")  # noqa: SIM115 -- closed below
    except ValueError as error:  # a null byte in the name
        raise input_error(path_name(path), None, f"is not a path ({error})") from None
    with file:
        yield file


def is_remote(path: PathLike) -> bool:
    """Whether a path is an address of fsspec: ``s3://bucket/dev.nbest``, ``https://...``, ``memory://...``."""
    scheme, found, _ = os.fspath(path).partition("://")
    return bool(found) and scheme.isascii() and scheme.isalnum()


@contextmanager
def steady_input() -> Iterator[None]:
    """Inside, files of other stores stay as they were when they were first opened, or else there is an InputError.

    Most input is read twice: its beginning tells the format, and its checksum goes into the record.
    """
    global _known
    before, _known = _known, {} if _known is None else _known
    try:
        yield
    finally:
        _known = before


_known: dict[str, dict[str, Any]] | None = None  # what stores said of each address
# What stores call that by which a file can be told from a later one under the same address.
_MARKS = {"size", "etag", "mtime", "created", "updated", "lastmodified", "generation", "versionid", "md5", "contentmd5"}
_AGAIN = "Try again, or copy the file to this machine first"


class _Far:
    """A file of another store, to be read to its end. It breaks off, ends too soon or changes with one line."""

    def __init__(self, address: str) -> None:
        self._name, self._done = path_name(address), 0
        try:
            import fsspec  # type: ignore[import-not-found,import-untyped,unused-ignore]
        except ImportError:
            finding = "an address needs fsspec. Install it: pip install 'hopefear[fsspec]'"
            raise input_error(self._name, None, finding) from None
        try:
            self._place = fsspec.open(address, "rb")
            self._file = self._place.open()
        except FileNotFoundError:  # without the number that an operating system gives it
            raise input_error(self._name, None, "no such file. Check the address") from None
        except Exception as error:  # each kind of store has faults of its own
            raise input_error(self._name, None, f"cannot be opened ({_reason(error)}). Check the address") from None
        now = self._marks()
        self._first = now if _known is None else _known.setdefault(address, now)
        self._compare(now)

    def read(self, size: int) -> bytes:
        try:
            data: bytes = self._file.read(size)
        except MemoryError:
            raise
        except Exception as error:
            finding = f"the store broke off after {self._done} bytes ({_reason(error)}). {_AGAIN}"
            raise input_error(self._name, None, finding) from None
        self._done += len(data)
        whole = self._first.get("size")
        if not data and size > 0:
            self._compare(self._marks())
            if isinstance(whole, int) and whole != self._done:
                finding = f"the store says that it has {whole} bytes, and gave {self._done}. {_AGAIN}"
                raise input_error(self._name, None, finding)
        return data

    def close(self) -> None:
        with suppress(Exception):  # nothing was written
            self._file.close()

    def _marks(self) -> dict[str, Any]:
        """Nothing, of a store that can say nothing."""
        with suppress(Exception):
            said = self._place.fs.info(self._place.path)
            marks = {name.lower().replace("-", "").replace("_", ""): value for name, value in said.items()}
            return {name: value for name, value in marks.items() if name in _MARKS and value is not None}
        return {}

    def _compare(self, now: dict[str, Any]) -> None:
        for name, value in self._first.items():
            if now.get(name, value) != value:
                finding = f"changed while it was being read ({name} was {value} and is {now[name]}). {_AGAIN}"
                raise input_error(self._name, None, printable(finding))


def _reason(error: Exception) -> str:
    return printable(" ".join(str(error).split()) or type(error).__name__)


def _gzip() -> Callable[[], Any]:
    import zlib

    return lambda: zlib.decompressobj(wbits=31)


def _xz() -> Callable[[], Any]:
    import lzma

    return lzma.LZMADecompressor


def _zstd() -> Callable[[], Any]:
    import zstandard

    return lambda: zstandard.ZstdDecompressor().decompressobj()


_PACKERS: list[tuple[bytes, str, Callable[[], Callable[[], Any]]]] = [
    (b"\x1f\x8b", "gzip", _gzip),
    (b"\xfd7zXZ\x00", "xz", _xz),
    (b"\x28\xb5\x2f\xfd", "zstd", _zstd),
]
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_LARGEST = 4 << 20  # of an unpacked piece
_ZSTD_PIECES = (1 << 8, 1 << 12)  # zstandard cannot bound what comes out, so bound what goes in


def is_plain(path: PathLike) -> bool:
    """Whether a path is a file that can be mapped as it is. Of one that cannot be opened, a reader will say why."""
    try:
        if not Path(path).is_file():
            return False
        with Path(path).open("rb") as file:
            return not file.read(6).startswith(tuple(magic for magic, _, _ in _PACKERS))
    except (OSError, ValueError):
        return False


def packed_in_name_only(path: PathLike) -> str:
    """The ending of a name that says packed, of a file that is not; else nothing."""
    ending = Path(path).suffix
    return ending if ending in PACKED and is_plain(path) else ""


def _unpack(
    path: PathLike, file: BinaryIO | _Far, data: bytes | memoryview, name: str, new: Callable[[], Any]
) -> Iterator[bytes]:
    import lzma
    import zlib

    import zstandard

    unpacker = new()
    piece = _ZSTD_PIECES[0]
    try:
        while data:
            if unpacker.eof:  # another stream, or padding, may follow
                if data[0] == 0:
                    data = bytes(data).lstrip(b"\0")
                if data:
                    unpacker = new()
            elif name == "zstd":
                view = memoryview(data)
                out = unpacker.decompress(view[:piece])
                data = view[len(view[:piece]) - len(unpacker.unused_data) :]
                piece = min(2 * piece, _ZSTD_PIECES[1]) if len(out) < _LARGEST else _ZSTD_PIECES[0]
                yield out
            else:
                yield unpacker.decompress(data, _LARGEST)
                if unpacker.eof:
                    data = unpacker.unused_data
                elif name == "gzip":
                    data = unpacker.unconsumed_tail
                else:
                    while not unpacker.needs_input and not unpacker.eof:
                        yield unpacker.decompress(b"", _LARGEST)
                    data = unpacker.unused_data if unpacker.eof else b""
            if not data:
                data = file.read(CHUNK)
    except (zlib.error, lzma.LZMAError, zstandard.ZstdError) as error:
        finding = f"the {name} data is damaged ({error}). Copy or make the file again"
        raise input_error(path_name(path), None, " ".join(finding.split())) from None
    if not unpacker.eof:
        raise input_error(path_name(path), None, f"the {name} data ends too soon. Was the file cut off? Copy it again")


class _Raw(io.RawIOBase):
    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        while not self._rest:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._rest = memoryview(piece)
        view = memoryview(buffer).cast("B")
        size = min(len(view), len(self._rest))
        view[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size

    def close(self) -> None:
        close = getattr(self._pieces, "close", None)
        if close is not None:
            close()
        super().close()


def open_bytes(path: PathLike) -> BinaryIO:
    """A file to read as bytes (``-``: standard input), unpacked if it is gzip, xz or zstd. Faults are InputErrors."""
    raw = _Raw(iter_bytes(path))
    file = io.BufferedReader(raw, CHUNK)
    file.peek(1)  # a missing file is reported here, not at the first read
    return file


class _Text(io.TextIOWrapper):
    def __init__(self, path: PathLike) -> None:
        super().__init__(open_bytes(path), encoding="utf-8-sig", newline="\n")
        self._named = path

    def _checked(self, read: Callable[[], str]) -> str:
        try:
            return read()
        except UnicodeDecodeError:
            finding = "the text is not UTF-8. Convert the file: iconv -f ISO-8859-1 -t UTF-8"
            raise input_error(path_name(self._named), None, finding) from None

    def read(self, size: int | None = -1, /) -> str:
        return self._checked(lambda: super(_Text, self).read(size))

    def readline(self, size: int = -1, /) -> str:  # type: ignore[override]
        return self._checked(lambda: super(_Text, self).readline(size))

    def __next__(self) -> str:  # type: ignore[override]
        line = self.readline(LONGEST + 1)
        if len(line) > LONGEST:
            raise _too_long(self._named, None)
        if not line:
            raise StopIteration
        return line


def open_text(path: PathLike) -> TextIO:
    """A file to read as text: UTF-8, lines end at ``\\n`` only. :func:`iter_lines` also says which line is bad."""
    return _Text(path)


def iter_lines(path: PathLike, pieces: Iterator[bytes] | None = None) -> Iterator[str]:
    """The lines of a text file without their ends; ``pieces`` are its bytes, if it has been opened already.

    Lines end at ``\\n`` only. A ``\\r`` at the end of a line goes with it; one inside a line is a blank.
    """
    rest: list[bytes] = []  # of a line whose end has not come yet
    length = 0  # of the rest
    done = 0  # lines handed out
    start = b"\xef\xbb\xbf"
    for piece in iter_bytes(path) if pieces is None else pieces:
        if b"\n" not in piece:
            rest.append(piece)
            length += len(piece)
            if length > LONGEST:
                raise _too_long(path, done + 1)
            continue
        block, _, tail = piece.rpartition(b"\n")
        block = b"".join([*rest, block])
        rest, length = [tail], len(tail)
        yield from _decoded(path, done, block.removeprefix(start))
        start = b""
        done += block.count(b"\n") + 1
    if last := b"".join(rest):
        yield from _decoded(path, done, last.removeprefix(start))


def _too_long(path: PathLike, line: int | None) -> InputError:
    return input_error(path_name(path), line, f"the line has more than {LONGEST >> 20} MB. Is this a text file?")


def _decoded(path: PathLike, done: int, block: bytes) -> list[str]:
    try:
        text = block.decode("utf-8")
    except UnicodeDecodeError as error:
        line = done + 1 + block.count(b"\n", 0, error.start)
        byte = error.start - block.rfind(b"\n", 0, error.start)
        finding = f"byte {byte} is not UTF-8. Convert the file: iconv -f ISO-8859-1 -t UTF-8"
        if ending := packed_in_name_only(path):
            finding = f"neither text nor what a name in {ending} says. Copy the file or make it again"
        raise input_error(path_name(path), line, finding) from None
    if "\r" in text:
        return [line.removesuffix("\r").replace("\r", " ") for line in text.split("\n")]
    return text.split("\n")


def read_lines(path: PathLike) -> list[str]:
    """All lines of a text file, see :func:`iter_lines`."""
    return list(iter_lines(path))


def read_references(paths: PathsLike, lines: int | None = None) -> list[list[str]]:
    """The lines of each reference file; all have the same number of them, which is ``lines`` if that is given.

    An empty line is a missing reference. A line that is empty in every file is an error.
    """
    files = path_list(paths)
    if not files:
        raise InputError("references: no file was named. Name at least one")
    references = [read_lines(path) for path in files]
    if lines is None:
        lines, asked = len(references[0]), f"{path_name(files[0])} has"
    else:
        asked = "the list needs"
    for path, found in zip(files, references, strict=True):
        if len(found) != lines:
            word = "too short" if len(found) < lines else "too long"
            finding = f"the reference file is {word}: it has {len(found)} lines, {asked} {lines}"
            raise input_error(path_name(path), None, f"{finding}. Use the references of this list")
    for number, versions in enumerate(zip(*references, strict=True), 1):
        if not any(version and not version.isspace() for version in versions):
            finding = "no file has a reference for this sentence. Give one, or leave the sentence out everywhere"
            raise input_error(path_name(files[0]), number, finding)
    return references


@contextmanager
def output(path: PathLike, mode: str = "w") -> Iterator[IO[Any]]:
    """Like :func:`atomic_write`, but packed if the name ends in .gz, .xz or .zst; ``-`` is standard output.

    What the operating system has against the file is an InputError.
    """
    if os.fspath(path) == "-":
        sys.stdout.flush()
        yield sys.stdout.buffer if "b" in mode else sys.stdout
        sys.stdout.flush()
        return
    try:
        suffix = Path(path).suffix
        if suffix not in PACKED:
            with atomic_write(path, mode) as file:
                yield file
            return
        with atomic_write(path, "wb") as file, _packer(file, suffix) as packed:
            if "b" in mode:
                yield packed
                return
            text = io.TextIOWrapper(packed, encoding="utf-8", newline="\n", write_through=True)
            yield text
            text.flush()
            text.detach()
    except OSError as error:
        raise os_error(path, error) from None


def _packer(file: IO[bytes], suffix: str) -> Any:
    if suffix == ".gz":  # no name and no time inside: the same bytes for the same content
        import gzip

        return gzip.GzipFile(filename="", mode="wb", fileobj=file, compresslevel=6, mtime=0)
    if suffix == ".xz":
        import lzma

        return lzma.LZMAFile(file, "wb", preset=3)
    import zstandard

    return zstandard.ZstdCompressor(level=3).stream_writer(file, closefd=False)
