"""Remote files, by the addresses of fsspec: ``s3://bucket/dev.nbest``, ``https://...``, ``memory://...``."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from hopefear.errors import input_error
from hopefear.util.messages import printable

PathLike = str | os.PathLike[str]


def is_remote(path: PathLike) -> bool:
    """Whether a path is an address of fsspec."""
    scheme, separator, _ = os.fspath(path).partition("://")
    return bool(separator) and scheme.isascii() and scheme.isalnum()


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


_known: dict[str, dict[str, Any]] | None = None  # what the store reported for each address
# The names that stores give to what identifies a version of a file.
_MARKS = {"size", "etag", "mtime", "created", "updated", "lastmodified", "generation", "versionid", "md5", "contentmd5"}
_AGAIN = "Try again, or copy the file to this machine first"


class Far:
    """A file of another store, to be read to its end. It breaks off, ends too soon or changes with one line."""

    def __init__(self, address: str, name: str) -> None:
        self._name, self._done = name, 0
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
        except Exception as error:  # each kind of store has its own exceptions
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
            finding = f"the store stopped after {self._done} bytes ({_reason(error)}). {_AGAIN}"
            raise input_error(self._name, None, finding) from None
        self._done += len(data)
        size_in_store = self._first.get("size")
        if not data and size > 0:
            self._compare(self._marks())
            if isinstance(size_in_store, int) and size_in_store != self._done:
                finding = f"the store says that it has {size_in_store} bytes, and gave {self._done}. {_AGAIN}"
                raise input_error(self._name, None, finding)
        return data

    def close(self) -> None:
        with suppress(Exception):  # nothing was written
            self._file.close()

    def _marks(self) -> dict[str, Any]:
        """What identifies the version of the file; empty if the store does not report it."""
        with suppress(Exception):
            info = self._place.fs.info(self._place.path)
            marks = {name.lower().replace("-", "").replace("_", ""): value for name, value in info.items()}
            return {name: value for name, value in marks.items() if name in _MARKS and value is not None}
        return {}

    def _compare(self, now: dict[str, Any]) -> None:
        for name, value in self._first.items():
            if now.get(name, value) != value:
                finding = f"changed while it was being read ({name} was {value} and is {now[name]}). {_AGAIN}"
                raise input_error(self._name, None, printable(finding))


def _reason(error: Exception) -> str:
    return printable(" ".join(str(error).split()) or type(error).__name__)
