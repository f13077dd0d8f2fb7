"""Files and folders that appear complete or not at all, whatever happens meanwhile.

Unfinished output is a hidden file or folder next to its place, and is locked: what a killed process left behind
is not, and the next process that writes to the same folder removes it.
"""

from __future__ import annotations

import ctypes
import os
import re
import tempfile
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from hopefear.errors import InputError, input_error
from hopefear.util import leftovers
from hopefear.util.leftovers import PART as PART, LeftOver, sweep as sweep

PathLike = str | os.PathLike[str]


@contextmanager
def atomic_write(path: PathLike, mode: str = "w") -> Iterator[IO[Any]]:
    """A file to write (``"w"``: UTF-8 text, ``"wb"``: bytes) that takes the place of ``path`` when the block ends well.

    Until then it is a hidden file next to ``path``; after an error it is gone and ``path`` is as it was.
    """
    encoding, newline = (None, None) if "b" in mode else ("utf-8", "\n")
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(21, "Is a directory", str(path))
    if path.exists() and not path.is_file():  # /dev/stdout, a pipe: nothing to replace
        with path.open(mode, encoding=encoding, newline=newline) as file:
            yield file
        return
    with atomic_file(path) as aside, aside.open(mode, encoding=encoding, newline=newline) as file:
        yield file


@contextmanager
def atomic_file(path: PathLike) -> Iterator[Path]:
    """The name of a file to fill, which takes the place of ``path`` as :func:`atomic_write` says."""
    with _aside(path, _new_file) as (path, aside, _):
        yield aside
        aside.chmod(path.stat().st_mode & 0o7777 if path.exists() else 0o666 & ~umask())
        sync(aside)
        aside.replace(path)
        sync(path.parent)


@contextmanager
def atomic_folder(path: PathLike, ours: Callable[[Path], Collection[str]] = lambda folder: ()) -> Iterator[Path]:
    """A folder to fill that takes the place of ``path`` when the block ends well.

    Until then it is in a hidden folder next to ``path``; after an error it is gone and ``path`` is as it was. Of a
    folder that was there only the entries that ``ours`` names are removed; others are found in the new one.
    """
    with _aside(path, tempfile.mkdtemp) as (path, aside, left):
        new = aside / "new"
        new.mkdir()
        yield new
        for entry in [*new.iterdir(), new]:
            sync(entry)
        if path.exists():
            _exchange(path, aside, left, set(ours(path)))
        else:
            new.rename(path)
        sync(path.parent)


@contextmanager
def scratch_folder(path: PathLike) -> Iterator[Path]:
    """A hidden folder next to ``path`` for what is needed while it is made; gone afterwards, also after a kill."""
    with _aside(path, tempfile.mkdtemp) as (_, aside, _):
        yield aside


def _exchange(path: Path, aside: Path, left: LeftOver, ours: set[str]) -> None:
    """The folder ``aside/new`` and the one at ``path`` change places, in one step where the system can."""
    names = {entry.name for entry in (aside / "new").iterdir()}
    if taken := sorted(entry.name for entry in path.iterdir() if entry.name in names - ours):
        raise input_error(path, None, f"holds {taken[0]}, not made by hopefear. Move it, or choose another --out")
    # From here on, any later sweep completes the replacement: names of this list are removed, others stay at `path`.
    (aside / leftovers.LIST).write_bytes(b"".join(os.fsencode(name) + b"\0" for name in sorted(ours | names)))
    (aside / "new").rename(aside / "old")
    if not _swapped(aside / "old", path):
        path.rename(aside / "displaced")
        (aside / "old").rename(path)
    left.remove()


def _swapped(first: Path, other: Path) -> bool:
    """Whether two folders could change places in one step: renameat2 with RENAME_EXCHANGE, of Linux."""
    try:
        exchange = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError):
        return False
    here = -100  # AT_FDCWD
    return int(exchange(here, os.fsencode(first), here, os.fsencode(other), 2)) == 0


@contextmanager
def _aside(given: PathLike, make: Callable[..., str]) -> Iterator[tuple[Path, Path, LeftOver]]:
    """The path that a name leads to, and a file or folder next to it, locked while it is written, gone afterwards."""
    path = Path(os.path.realpath(given))  # a link stays a link
    with _named(path, os.fspath(given)):
        sweep(path.parent)
        try:
            parent = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        except OSError as error:
            raise type(error)(error.errno, error.strerror, os.fspath(given)) from None
        try:
            aside, left = _made(path, parent, make)
            try:
                yield path, aside, left
            finally:
                with suppress(OSError):
                    left.remove()
                os.close(left.lock)
        finally:
            os.close(parent)


def _made(path: Path, parent: int, make: Callable[..., str]) -> tuple[Path, LeftOver]:
    while True:
        aside = Path(make(dir=path.parent, prefix=f".{path.name}.", suffix=PART))
        with suppress(FileNotFoundError, BlockingIOError):  # another process cleaned up first: try again
            left = leftovers.locked(parent, aside.name)
            try:
                if left.is_folder:
                    left.sign()
            except BaseException:
                left.remove()
                os.close(left.lock)
                raise
            return aside, left


def _new_file(dir: Path, prefix: str, suffix: str) -> str:
    descriptor, name = tempfile.mkstemp(dir=dir, prefix=prefix, suffix=suffix)
    os.close(descriptor)
    return str(name)


@contextmanager
def _named(path: Path, given: str) -> Iterator[None]:
    """Errors about what is hidden name the path that the user gave."""
    hidden = re.compile(rf"{re.escape(str(path.parent / f'.{path.name}.'))}[a-z0-9_]{{8}}{re.escape(PART)}(/new)?")
    try:
        yield
    except InputError as error:
        if PART not in str(error):
            raise
        raise type(error)(hidden.sub(lambda _: given, str(error))) from None
    except OSError as error:
        if error.errno is None or (error.filename is not None and PART not in str(error.filename)):
            raise
        name = hidden.sub(lambda _: given, str(error.filename or given))
        raise type(error)(error.errno, error.strerror, name) from None


def sync(path: Path) -> None:
    """Return when a file or the entries of a folder are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def umask() -> int:
    """The umask of this process."""
    with suppress(OSError, ValueError, StopIteration):  # reading it leaves it alone, unlike os.umask
        lines = Path("/proc/self/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("Umask:")).split()[1], 8)
    return 0o022
