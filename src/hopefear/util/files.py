"""Files: read plain or packed, as their first bytes tell; written packed if their name says so."""

from __future__ import annotations

import errno
import io
import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
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
from hopefear.util.messages import printable as printable
from hopefear.util.remote import Far, is_remote as is_remote, steady_input as steady_input
from hopefear.util.unpacking import CHUNK as CHUNK, LARGE, packing, unpacked

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

PathsLike = PathLike | Sequence[PathLike]

PACKED = (".gz", ".xz", ".zst")

_UTF16 = (b"\xff\xfe", b"\xfe\xff")
LONGEST = 64 << 20  # bytes of a line; what has more is no text
DOCUMENT = 256 << 20  # bytes of a line that may be a whole document, as in JSON
UNLIMITED = 0  # of what has no lines


def path_list(paths: PathsLike) -> list[PathLike]:
    """One path or several as a list."""
    return [paths] if isinstance(paths, str | os.PathLike) else list(paths)


def path_name(path: PathLike) -> str:
    """A path as messages show it: one line, always printable."""
    name = "standard input" if os.fspath(path) == "-" else os.fspath(path)
    return printable(name.encode("utf-8", "backslashreplace").decode())


#: No more may be written.
NO_ROOM = {
    errno.ENOSPC: "the disk is full. Make room and try again",
    errno.EDQUOT: "the disk quota is used up. Make room and try again",
    errno.EFBIG: "is larger than a file may be here. Look at ulimit -f, or name a file on another disk",
}
_CURES = {
    errno.ENOENT: "no such file or folder. Check the path",
    errno.EISDIR: "is a folder. Give a file in it",
    errno.EACCES: "may not be read or written. Check its permissions",
    **NO_ROOM,
}


def os_error(path: PathLike, error: OSError) -> InputError:
    """The one line for an operating-system error on a file that the user named."""
    return input_error(
        path_name(path), None, _CURES.get(error.errno or 0, f"{error.strerror or error}. Check the path")
    )


def iter_bytes(path: PathLike, longest: int | None = None, utf16: bool = False) -> Iterator[bytes]:
    """The bytes of a file (``-``: standard input), unpacked, in pieces of bounded size.

    A reader of text keeps the beginning of a line until its end has come. So a line of more than ``longest`` bytes
    (64 MB by default) is an error; say ``UNLIMITED`` for what has no lines, or is not kept. UTF-16 is an error
    unless it is welcome.
    """
    longest = LONGEST if longest is None else longest
    pieces = _pieces(path, utf16)
    return pieces if longest == UNLIMITED else within(path, pieces, longest)


def within(path: PathLike, pieces: Iterable[bytes], longest: int) -> Iterator[bytes]:
    """The pieces of a file, until a line has more bytes than that."""
    lines, length = 0, 0  # that are complete; of the one that is not
    for piece in pieces:
        end = piece.rfind(b"\n")
        length = len(piece) - 1 - end if end >= 0 else length + len(piece)
        lines += piece.count(b"\n")
        if length > longest:
            raise _too_long(path, lines + 1, longest)
        yield piece


def _pieces(path: PathLike, utf16: bool = False) -> Iterator[bytes]:
    try:
        with _open_raw(path) as file:
            data = file.read(CHUNK)
            if data.startswith(_UTF16) and not utf16:
                raise input_error(path_name(path), None, "is UTF-16. Convert it: iconv -f UTF-16 -t UTF-8")
            if packed := packing(data):
                yield from unpacked(path_name(path), file, data, packed)
                return
            while data:
                yield data
                data = file.read(CHUNK)
    except OSError as error:
        raise os_error(path, error) from None


def refuse_links(path: PathLike, cure: str) -> None:
    """Raise an InputError for a symbolic link here or below: an unpacked archive may have links."""
    folders = ((root, [*folders, *files]) for root, folders, files in os.walk(path))
    names = (os.path.join(root, name) for root, inside in folders for name in inside)  # noqa: PTH118
    if linked := next((name for name in (os.fspath(path), *names) if Path(name).is_symlink()), None):
        finding = "is a link, through which files elsewhere would be written"
        raise input_error(path_name(linked), None, f"{finding}. {cure}")


def read_whole(path: PathLike, most: int = LARGE) -> bytes:
    """All bytes of a plain file that is read as one; devices, pipes and files of more than this are errors."""
    number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # a pipe must not hold us up
    with os.fdopen(number, "rb") as file:
        if not stat.S_ISREG(os.fstat(number).st_mode):
            raise input_error(path_name(path), None, "is not a plain file. Replace it with one")
        data = file.read(most + 1)
    if len(data) > most:
        raise input_error(path_name(path), None, f"has more than {most >> 20} MB. Is it the right file?")
    return data


@contextmanager
def _open_raw(path: PathLike) -> Iterator[BinaryIO | Far]:
    if os.fspath(path) == "-":
        if sys.stdin is None:
            raise InputError("standard input is closed. Give it a file: < FILE")
        yield sys.stdin.buffer
        return
    if is_remote(path):
        far = Far(os.fspath(path), path_name(path))
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


def is_plain(path: PathLike) -> bool:
    """Whether a path is an unpacked file, which can be mapped. False if it cannot be opened: a reader reports why."""
    try:
        if not Path(path).is_file():
            return False
        with Path(path).open("rb") as file:
            return not packing(file.read(6))
    except (OSError, ValueError):
        return False


def packed_in_name_only(path: PathLike) -> str:
    """The suffix of a file whose name says that it is packed, but whose content is not; else an empty string."""
    ending = Path(path).suffix
    return ending if ending in PACKED and is_plain(path) else ""


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


def open_bytes(path: PathLike, longest: int | None = None) -> BinaryIO:
    """A file to read as bytes (``-``: standard input), unpacked if it is gzip, xz or zstd. Faults are InputErrors."""
    raw = _Raw(iter_bytes(path, longest))
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
        line = self.readline()
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
    done = 0  # lines handed out
    start = b"\xef\xbb\xbf"
    for piece in iter_bytes(path) if pieces is None else pieces:
        if b"\n" not in piece:
            rest.append(piece)
            continue
        block, _, tail = piece.rpartition(b"\n")
        block = b"".join([*rest, block])
        rest = [tail]
        yield from _decoded(path, done, block.removeprefix(start))
        start = b""
        done += block.count(b"\n") + 1
    if last := b"".join(rest):
        yield from _decoded(path, done, last.removeprefix(start))


def _too_long(path: PathLike, line: int, longest: int) -> InputError:
    return input_error(path_name(path), line, f"the line has more than {longest >> 20} MB. Is this a text file?")


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

    >>> (first, *_), *_ = hf.read_references(["data/ref.0", "data/ref.1"])
    >>> first
    "elimelech , naomi 's husband , died ; and she was left , and her two sons ."
    """
    files = path_list(paths)
    if not files:
        raise InputError("references: no file was given. Give at least one")
    references = [read_lines(path) for path in files]
    if lines is None:
        lines, asked = len(references[0]), f"{path_name(files[0])} has"
    else:
        asked = "the list needs"
    for path, text in zip(files, references, strict=True):
        if len(text) != lines:
            word = "too short" if len(text) < lines else "too long"
            finding = f"the reference file is {word}: it has {len(text)} lines, {asked} {lines}"
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


@contextmanager
def files_together(paths: Mapping[str, Path], overwrite: bool) -> Iterator[dict[str, IO[Any]]]:
    """Text files by name, of one new or old folder, which all appear when the block ends well."""
    if not overwrite and (old := next((path for path in paths.values() if path.exists()), None)):
        raise InputError(f"{old}: already exists. Choose another --out, or add --overwrite")
    for path in paths.values():
        path.parent.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        yield {name: stack.enter_context(atomic_write(path)) for name, path in paths.items()}


def same_file(path: PathLike, target: PathLike) -> None:
    """Make a hard link to a file, or a copy where the file system has no hard links."""
    try:
        Path(target).hardlink_to(path)
    except OSError:
        shutil.copy2(path, target)
