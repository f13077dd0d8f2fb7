"""Files and folders that appear whole or not at all, whatever happens meanwhile.

What is being written lies in a hidden file or folder beside its place, and is locked: what a killed process left behind
is not, and the next process that writes to the same folder removes it.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from hopefear.errors import input_error

PathLike = str | os.PathLike[str]

PART = ".hopefear.part"  # ends the names of what is being written
_RANDOM = 9  # characters that tempfile puts before it, and a dot
_SWEPT: set[Path] = set()  # folders in which this process has looked for what others left behind


@contextmanager
def atomic_write(path: PathLike, mode: str = "w") -> Iterator[IO[Any]]:
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
    with atomic_file(path) as aside, aside.open(mode, encoding=encoding, newline=newline) as file:
        yield file


@contextmanager
def atomic_file(path: PathLike) -> Iterator[Path]:
    """The name of a file to fill, which takes the place of ``path`` as :func:`atomic_write` says."""
    path = Path(os.path.realpath(path))  # a link stays a link
    with _named(path), _aside(path, _new_file) as aside:
        yield aside
        aside.chmod(path.stat().st_mode & 0o7777 if path.exists() else 0o666 & ~umask())
        _sync(aside)
        aside.replace(path)
        _sync(path.parent)


@contextmanager
def atomic_folder(path: PathLike, ours: Callable[[Path], Collection[str]] = lambda folder: ()) -> Iterator[Path]:
    """A folder to fill that takes the place of ``path`` when the block ends well.

    Until then it is in a hidden folder beside ``path``; after an error it is gone and ``path`` is as it was. Of a
    folder that was there only the entries that ``ours`` names are removed; others are found in the new one.
    """
    path = Path(os.path.realpath(path))
    with _named(path), _aside(path, tempfile.mkdtemp) as aside:
        new = aside / "new"
        new.mkdir()
        yield new
        for each in [*new.iterdir(), new]:
            _sync(each)
        if path.exists():
            _exchange(path, aside, set(ours(path)))
        else:
            new.rename(path)
        _sync(path.parent)


@contextmanager
def scratch_folder(path: PathLike) -> Iterator[Path]:
    """A hidden folder beside ``path`` for what is needed while it is made; gone afterwards, also after a kill."""
    path = Path(os.path.realpath(path))
    with _named(path), _aside(path, tempfile.mkdtemp) as aside:
        yield aside


def _exchange(path: Path, aside: Path, ours: set[str]) -> None:
    """The folder ``aside/new`` and the one at ``path`` change places, in one step where the system can."""
    names = {entry.name for entry in (aside / "new").iterdir()}
    if taken := sorted(entry.name for entry in path.iterdir() if entry.name in names - ours):
        raise input_error(path, None, f"holds {taken[0]}, which is not ours. Move it, or take another --out")
    # From here on, whoever sweeps brings it to an end: names of this list are removed, others stay at `path`.
    (aside / "ours").write_text("".join(f"{name}\0" for name in sorted(ours | names)))
    (aside / "new").rename(aside / "old")
    if not _swapped(aside / "old", path):
        path.rename(aside / "displaced")
        (aside / "old").rename(path)
    _settle(aside, path)


def _settle(aside: Path, path: Path) -> None:
    """The end of an exchange, also of one that was killed: nothing of what is not ours is lost."""
    displaced, old = aside / "displaced", aside / "old"
    if displaced.exists() and not path.exists():  # killed between two renames: as it was
        displaced.rename(path)
    known = aside / "ours"  # gone if all was settled before, and only the folders themselves were left
    ours = set(known.read_text().split("\0")) if known.exists() else set()
    for folder in (displaced, old):
        for entry in folder.iterdir() if folder.exists() else ():
            if entry.name in ours:
                _delete(entry)
            elif not (path / entry.name).exists():
                entry.rename(path / entry.name)
    if not any(any(folder.iterdir()) for folder in (displaced, old) if folder.exists()):
        _delete(aside)


def _delete(entry: Path) -> None:
    if entry.is_dir() and not entry.is_symlink():
        shutil.rmtree(entry)
    else:
        entry.unlink()


def _swapped(one: Path, other: Path) -> bool:
    """Whether two folders could change places in one step: renameat2 with RENAME_EXCHANGE, of Linux."""
    try:
        exchange = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError):
        return False
    here = -100  # AT_FDCWD
    return int(exchange(here, os.fsencode(one), here, os.fsencode(other), 2)) == 0


def sweep(folder: PathLike, deep: bool = False) -> None:
    """Remove what killed processes left half-written in a folder, once per process; ``deep``: in all below it too."""
    folder = Path(os.path.realpath(folder))
    if not deep and folder in _SWEPT:
        return
    _SWEPT.add(folder)
    for left in list(folder.glob(f"{'**/' if deep else ''}.*{PART}")):
        with suppress(OSError):  # gone, locked by who is writing it, or not ours to remove
            lock = _locked(left, surely=True)
            try:
                _remove(left)
            finally:
                os.close(lock)


def _remove(aside: Path) -> None:
    if (aside / "old").exists() or (aside / "displaced").exists():
        _settle(aside, aside.with_name(aside.name[1 : -len(PART) - _RANDOM]))
    else:
        _delete(aside)


@contextmanager
def _aside(path: Path, make: Callable[..., str]) -> Iterator[Path]:
    """A file or folder beside ``path``, locked while it is written, and gone afterwards."""
    sweep(path.parent)
    lock = -1
    while lock < 0:
        aside = Path(make(dir=path.parent, prefix=f".{path.name}.", suffix=PART))
        with suppress(FileNotFoundError, BlockingIOError):  # somebody who sweeps was quicker: try again
            lock = _locked(aside)
    try:
        yield aside
    finally:
        with suppress(OSError):
            _remove(aside)
        os.close(lock)


def _new_file(dir: Path, prefix: str, suffix: str) -> str:
    descriptor, name = tempfile.mkstemp(dir=dir, prefix=prefix, suffix=suffix)
    os.close(descriptor)
    return str(name)


def _locked(path: Path, surely: bool = False) -> int:
    """An open file that is locked and still there; unless ``surely``, a file system without locks will do."""
    lock = os.open(path, os.O_RDONLY)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if surely or isinstance(error, BlockingIOError):
                raise
        path.stat()
    except OSError:
        os.close(lock)
        raise
    return lock


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Errors of the operating system about what is hidden name the path that the user knows."""
    try:
        yield
    except OSError as error:
        if error.errno is None or (error.filename is not None and PART not in str(error.filename)):
            raise
        raise type(error)(error.errno, error.strerror, str(path)) from None


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def umask() -> int:
    with suppress(OSError, ValueError, StopIteration):  # reading it leaves it alone, unlike os.umask
        lines = Path("/proc/self/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("Umask:")).split()[1], 8)
    return 0o022
