"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

__all__ = ["atomic_write"]


@contextmanager
def atomic_write(path: str | os.PathLike[str], mode: str = "w") -> Iterator[IO[Any]]:
    """A file to write (``"w"``: UTF-8 text, ``"wb"``: bytes) that takes the place of ``path`` when the block ends well.

    Until then it is a hidden file beside ``path``; after an error it is gone and ``path`` is as it was.
    """
    encoding, newline = (None, None) if "b" in mode else ("utf-8", "\n")
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(21, "Is a directory", str(path))
    if path.exists() and not path.is_file():  # /dev/stdout, a pipe: nothing to replace
        with path.open(mode, encoding=encoding, newline=newline) as file:
            yield file
        return
    path = Path(os.path.realpath(path))  # a link stays a link
    try:
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(path)) from None
    try:
        with os.fdopen(descriptor, mode, encoding=encoding, newline=newline) as file:
            yield file
            file.flush()
            os.fchmod(file.fileno(), path.stat().st_mode & 0o7777 if path.exists() else 0o666 & ~_umask())
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise


def _umask() -> int:
    with suppress(OSError, ValueError, StopIteration):  # reading it leaves it alone, unlike os.umask
        lines = Path("/proc/self/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("Umask:")).split()[1], 8)
    return 0o022
