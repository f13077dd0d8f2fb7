"""Packed data: gzip, xz and zstd, in pieces of bounded size, and no more of it than a file of its size should have."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from hopefear.errors import InputError, input_error
from hopefear.util.messages import printable

CHUNK = 1 << 20
LARGE = 1 << 30  # bytes; a packed file that has more must not be more than so many times as large as it was
RATIO, RATIO_VARIABLE = 200.0, "HOPEFEAR_UNPACK_RATIO"


def _gzip() -> Callable[[], Any]:
    import zlib

    return lambda: zlib.decompressobj(wbits=31)


def _xz() -> Callable[[], Any]:
    import lzma

    return lambda: lzma.LZMADecompressor(memlimit=_XZ_MEMORY)


def _zstd() -> Callable[[], Any]:
    import zstandard

    return lambda: zstandard.ZstdDecompressor().decompressobj()


_PACKERS: dict[str, tuple[bytes, Callable[[], Callable[[], Any]]]] = {
    "gzip": (b"\x1f\x8b", _gzip),
    "xz": (b"\xfd7zXZ\x00", _xz),
    "zstd": (b"\x28\xb5\x2f\xfd", _zstd),
}
_XZ_MEMORY = 512 << 20  # xz -9 needs 65 MB; a header can ask for 4 GB
_LARGEST = 4 << 20  # of an unpacked piece
_ZSTD_PIECES = (1 << 8, 1 << 12)  # zstandard cannot bound what comes out, so bound what goes in


class Source(Protocol):
    """A source of packed bytes."""

    def read(self, size: int, /) -> bytes: ...


def packing(start: bytes) -> str:
    """How a file that begins with these bytes is packed: gzip, xz, zstd, or nothing."""
    return next((name for name, (magic, _) in _PACKERS.items() if start.startswith(magic)), "")


class _Ratio:
    """How much comes out of a packed file for what goes in: 5 to 50 times as much of text, 1000 of bombs."""

    def __init__(self, path: str) -> None:
        self.path, self.before, self.after = path, 0, 0
        self.most = unpack_ratio()

    def packed(self, data: bytes | memoryview) -> None:
        self.before += len(data)

    def unpacked(self, data: bytes) -> bytes:
        self.after += len(data)
        if self.most and self.after > LARGE and self.after > self.most * self.before:
            raise _too_much(self.path, self.most)
        return data


def unpack_ratio() -> float:
    """The largest ratio of unpacked to packed size of a large file; 0: no limit. An environment variable sets it."""
    value = os.environ.get(RATIO_VARIABLE)
    try:
        ratio = RATIO if value is None else float(value)
    except ValueError:
        ratio = -1.0
    if not 0 <= ratio < float("inf"):
        raise InputError(f"{RATIO_VARIABLE} is {printable(str(value))!r}. Give a number from 0 up (0: no limit)")
    return ratio


def check_size(path: str | os.PathLike[str], size: int) -> None:
    """Raise an InputError for a packed file that holds far more, ``size`` bytes, than its own size.

    Of a zip file, the size of a member is what its header says, and no more of it is unpacked.
    """
    ratio = unpack_ratio()
    if ratio and size > LARGE and size > ratio * os.stat(path).st_size:  # noqa: PTH116
        raise _too_much(printable(os.fspath(path)), ratio)


def _too_much(path: str, ratio: float) -> InputError:
    """The one line for a packed file that has more in it than it should."""
    finding = f"unpacked it has more than {LARGE >> 30} GB and {ratio:g} times its size. Is it the right file?"
    return input_error(path, None, f"{finding} If so, set {RATIO_VARIABLE} to a larger number (0: no limit)")


def unpacked(path: str, file: Source, data: bytes | memoryview, name: str) -> Iterator[bytes]:
    """The content of a packed file, of which ``data`` has been read already; ``path`` is its name in messages."""
    import lzma
    import zlib

    import zstandard

    new = _PACKERS[name][1]()
    unpacker = new()
    piece = _ZSTD_PIECES[0]
    check = _Ratio(path)
    check.packed(data)
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
                yield check.unpacked(out)
            else:
                yield check.unpacked(unpacker.decompress(data, _LARGEST))
                if unpacker.eof:
                    data = unpacker.unused_data
                elif name == "gzip":
                    data = unpacker.unconsumed_tail
                else:
                    while not unpacker.needs_input and not unpacker.eof:
                        yield check.unpacked(unpacker.decompress(b"", _LARGEST))
                    data = unpacker.unused_data if unpacker.eof else b""
            if not data:
                data = file.read(CHUNK)
                check.packed(data)
    except (zlib.error, lzma.LZMAError, zstandard.ZstdError) as error:
        finding = f"the {name} data is damaged ({error}). Copy or make the file again"
        raise input_error(path, None, " ".join(finding.split())) from None
    if not unpacker.eof:
        raise input_error(path, None, f"the {name} data ends too soon. Was the file cut off? Copy it again")
